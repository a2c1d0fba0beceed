"""What an agent under test speaks to: the contract's mailbox, recorded call by call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from ..contract import (
    INTENT_HEADER,
    Answer,
    Found,
    Lease,
    Message,
    NoReply,
    Noted,
    Refused,
    Released,
    Sent,
)
from ..scenario import Contact, Seat
from .task import AgentTask, Assignment

CALLS_MAX = 300
"""Calls of one run after which an agent is cut off: far above what any task needs."""
GRACE_CALLS = 20
"""Calls an agent may still make when it was told to stop: enough to give back what it holds."""

_Answer = TypeVar("_Answer", bound=Answer)


class OutcomeUnknown(TimeoutError):  # noqa: N818 - it is what happened
    """No answer came: the call may have happened or not.

    A lost reply, a timeout or a mailbox that broke down; what is right next stands in spec R.
    """


class CutOff(BaseException):
    """An agent that goes on without end is taken out of its run; no agent should catch this."""


class StopSignal(Protocol):
    """Tells an agent when to stop, and is how it waits."""

    def is_set(self) -> bool:
        """Whether the agent is to give back what it holds and return."""
        ...

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until the agent is to stop; returns `is_set`.

        Time passes by the engine's clock: in the simulator it is virtual, so use this and never
        ``time.sleep``.
        """
        ...


class AgentMailbox(Protocol):
    """The contract's mailbox, as an agent under test sees it (see `leaserace.harness.Mailbox`).

    Each method gives the contract's answer or a `Refused`, whose ``code.meaning`` says what to do
    next. A method raises `OutcomeUnknown` where no answer came.
    """

    def acquire(self, address: str) -> Lease | Refused:
        """Claim the contact (spec: L3)."""
        ...

    def renew(self, address: str, token: int) -> Lease | Refused:
        """Extend the agent's own live lease (spec: L6)."""
        ...

    def release(self, address: str, token: int) -> Released | Refused:
        """Free the agent's own lease (spec: L7)."""
        ...

    def send(self, message: Message) -> Sent | Refused:
        """Send one message (spec: S)."""
        ...

    def lookup(self, key: str) -> Found | Refused:
        """Ask what became of the send under this key."""
        ...

    def suppress(self, address: str, reason: str) -> Noted | Refused:
        """Put the contact on the shared list (spec: C1)."""
        ...

    def unsuppress(self, address: str, person: str) -> Noted | Refused:
        """A person takes the contact off the list."""
        ...

    def override(self, address: str, person: str, reason: str) -> Noted | Refused:
        """A person lets the next send skip the cooldown (spec: C4)."""
        ...


class SeatStop:
    """The stop signal of an agent in a seat.

    Args:
        seat: Where it sits.
    """

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def is_set(self) -> bool:
        """Whether the time is up."""
        return not self._seat.running()

    def wait(self, seconds: float) -> bool:
        """Wait by the engine's time."""
        if seconds > 0 and self._seat.running():
            self._seat.wait_s(seconds)
        return self.is_set()


class RecordedMailbox:
    """An `AgentMailbox` over a seat: each call is recorded by the agent's kit.

    Calls are made one after the other, whatever thread they come from: an agent has one connection.

    Args:
        seat: The agent's seat.
        task: What it is to do; a message without an intent gets the one of its recipient.
        contacts: The persons of the race; an address of none of them is told as it is.
    """

    def __init__(self, seat: Seat, task: AgentTask, contacts: Iterable[Contact] = ()) -> None:
        self._seat = seat
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self._names = {_plain(form): each.name for each in contacts for form in each.spellings}
        self._wanted = task.messages
        self._contact_of_key: dict[str, str] = {}
        self._last = ""
        self.calls = 0
        self._calls_left = GRACE_CALLS

    def acquire(self, address: str) -> Lease | Refused:
        """Claim the contact."""
        answer: Lease | Refused = self._on(address, "acquire", address=address)
        return answer

    def renew(self, address: str, token: int) -> Lease | Refused:
        """Extend the agent's own live lease."""
        answer: Lease | Refused = self._on(address, "renew", address=address, token=token)
        return answer

    def release(self, address: str, token: int) -> Released | Refused:
        """Free the agent's own lease."""
        answer: Released | Refused = self._on(address, "release", address=address, token=token)
        return answer

    def send(self, message: Message) -> Sent | Refused:
        """Send one message."""
        message = self._with_intent(message)
        if message.key is not None:
            self._contact_of_key[message.key] = self._contact(message.to)
        answer: Sent | Refused = self._on(message.to, "send", message=message)
        return answer

    def lookup(self, key: str) -> Found | Refused:
        """Ask what became of the send under this key."""
        answer: Found | Refused = self._call(
            "lookup", self._contact_of_key.get(key, self._last), key=key
        )
        return answer

    def suppress(self, address: str, reason: str) -> Noted | Refused:
        """Put the contact on the shared list."""
        answer: Noted | Refused = self._on(address, "suppress", address=address, reason=reason)
        return answer

    def unsuppress(self, address: str, person: str) -> Noted | Refused:
        """A person takes the contact off the list."""
        answer: Noted | Refused = self._on(address, "unsuppress", address=address, person=person)
        return answer

    def override(self, address: str, person: str, reason: str) -> Noted | Refused:
        """A person lets the next send skip the cooldown."""
        answer: Noted | Refused = self._on(
            address, "override", address=address, person=person, reason=reason
        )
        return answer

    def _with_intent(self, message: Message) -> Message:
        """What arrives is counted by its intent, also where an agent does not care for it."""
        if message.intent or INTENT_HEADER in message.headers:
            return message
        meant = [each for each in self._wanted if _plain(each.to) == _plain(message.to)]
        if len(meant) > 1:
            meant = [each for each in meant if _is_meant(message, each)]
        return replace(message, intent=meant[0].intent) if len(meant) == 1 else message

    def _contact(self, address: str) -> str:
        self._last = self._names.get(_plain(address), _plain(address))
        return self._last

    def _on(self, spelled: str, f: str, /, **args: Any) -> Any:
        return self._call(f, self._contact(spelled), **args)

    def _call(self, f: str, contact: str, /, **args: Any) -> Any:
        if self._seat.one_thread and threading.get_ident() != self._thread:
            message = "the simulator has one thread: judge an agent with threads by leaserace gate"
            raise RuntimeError(message)
        with self._lock:
            self._count()
            answer = self._seat.call(f, contact, **args)
        if isinstance(answer, NoReply):
            raise OutcomeUnknown(f"{f}: {answer.why}")
        return answer

    def _count(self) -> None:
        """Cut an agent off that goes on without end."""
        self.calls += 1
        if not self._seat.running():
            self._calls_left -= 1
        if self.calls > CALLS_MAX:
            raise CutOff(f"it made more than {CALLS_MAX} calls")
        if self._calls_left < 0:
            raise CutOff(f"it went on for {GRACE_CALLS} calls after it was told to stop")


def answer_of(call: Callable[[], _Answer]) -> _Answer | NoReply:
    """The answer of a call of an `AgentMailbox`, with `NoReply` for what it raised."""
    try:
        return call()
    except OutcomeUnknown as error:
        return NoReply(why=str(error))


def _is_meant(message: Message, wanted: Assignment) -> bool:
    """Whether a message without an intent is this one of several to the same person."""
    return message.subject == wanted.subject or wanted.draft in message.body


def _plain(address: str) -> str:
    return address.strip().casefold()
