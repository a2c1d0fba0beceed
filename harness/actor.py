"""An agent as a script moves it, its calls, and what stops them; the same on both engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .answers import event_to_json, message_to_json
from .contract import Answer, Endpoint, Lease, Message, Received


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A person, as the scenario knows them.

    Args:
        name: The scenario's own name, unique in a race; all spellings are this one person.
        spellings: Addresses that are this person, at least one.
    """

    name: str
    spellings: tuple[str, ...]

    @property
    def address(self) -> str:
        """The first spelling."""
        return self.spellings[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that has not begun.

    Args:
        actor: Who makes it.
        f: The mailbox method.
        contact: The scenario's name for the person.
        args: Arguments as JSON.
    """

    actor: Actor
    f: str
    contact: str
    args: Mapping[str, Any]

    def start(self) -> Pending:
        """Begin it and return at once."""
        return self.actor.start(self)


class Pending(Protocol):
    """A call under way."""

    def answer(self) -> Answer:
        """Wait for it, bounded by the engine's deadline, and return what the agent saw."""
        ...

    def is_done(self) -> bool:
        """Whether the answer is there."""
        ...


class Stop(Protocol):
    """A pause or a hold that is aimed at a point."""

    def wait(self) -> None:
        """Wait until the agent stands at the point and is stopped.

        Raises:
            NotReached: The call ended, or the deadline passed, without coming by the point.
        """
        ...

    def resume(self) -> None:
        """Let the agent go on."""
        ...


class Engaged(Protocol):
    """An agent that acts by a playbook while the script goes on."""

    def is_done(self) -> bool:
        """Whether its playbook has ended, or the agent died; hears what it has to say meanwhile."""
        ...

    def wait(self) -> None:
        """Wait for its end, bounded by the engine's deadline."""
        ...


class Actor(ABC):
    """An agent as a script moves it: each call waits for its answer; `later` only makes a `Call`."""

    id: str

    @abstractmethod
    def start(self, call: Call) -> Pending:
        """Begin a call."""

    @abstractmethod
    def pause_at(self, point: str) -> Stop:
        """At its next `point`, stop the whole agent (a real SIGSTOP with processes)."""

    @abstractmethod
    def hold_at(self, point: str) -> Stop:
        """At its next `point`, keep the caller there; the agent itself runs on."""

    @abstractmethod
    def kill_at(self, point: str) -> Stop:
        """At its next `point`, crash the agent (a real SIGKILL); `resume` does nothing."""

    @abstractmethod
    def kill(self) -> None:
        """Crash it now; what it had in memory is gone."""

    @abstractmethod
    def restart(self) -> None:
        """Start it again after a crash, as its next incarnation."""

    @abstractmethod
    def lose_next_reply(self) -> None:
        """Its next call is executed, the answer is dropped."""

    @abstractmethod
    def slow_next_reply(self, seconds: float) -> None:
        """Its next call is executed, the answer is held back."""

    @abstractmethod
    def skew(self, offset_s: float) -> float:
        """Put its clock ahead (negative: behind) and return the skew measured in it, in seconds.

        A skew that did not take makes the race unknown. Calling it again steps the clock.
        """

    @property
    def later(self) -> Calls:
        """Calls that are made but not begun."""
        return Calls(self)

    def acquire(self, contact: Contact, spelling: int = 0) -> Answer:
        """Claim the contact under one of its spellings."""
        return self.later.acquire(contact, spelling).start().answer()

    def renew(self, contact: Contact, lease: Lease, spelling: int = 0) -> Answer:
        """Extend a lease."""
        return self.later.renew(contact, lease, spelling).start().answer()

    def release(self, contact: Contact, lease: Lease, spelling: int = 0) -> Answer:
        """Free a lease."""
        return self.later.release(contact, lease, spelling).start().answer()

    def send(self, contact: Contact, message: Message) -> Answer:
        """Send a message, or send it again."""
        return self.later.send(contact, message).start().answer()

    def reply(self, contact: Contact, message: Message, to: str) -> Answer:
        """Send a message as the answer to the message of this id."""
        return self.later.reply(contact, message, to).start().answer()

    def forward(self, contact: Contact, message: Message, what: str) -> Answer:
        """Send a message that passes the message of this id on."""
        return self.later.forward(contact, message, what).start().answer()

    def receive(self, contact: Contact, event: Received) -> Answer:
        """Hand over what the contact wrote."""
        return self.later.receive(contact, event).start().answer()

    def lookup(self, contact: Contact, message: Message) -> Answer:
        """Ask what became of a message."""
        return self.later.lookup(contact, message).start().answer()

    def cancel(self, contact: Contact, message: Message) -> Answer:
        """Take a message back, sent or not."""
        return self.later.cancel(contact, message).start().answer()

    def suppress(self, contact: Contact, reason: str = "opt-out", spelling: int = 0) -> Answer:
        """Put the contact on the suppression list."""
        return self.later.suppress(contact, reason, spelling).start().answer()

    def unsuppress(self, contact: Contact, person: str, spelling: int = 0) -> Answer:
        """A person takes the contact off the list."""
        return self.later.unsuppress(contact, person, spelling).start().answer()

    def override(self, contact: Contact, person: str, reason: str, spelling: int = 0) -> Answer:
        """A person lets the next send skip the cooldown."""
        return self.later.override(contact, person, reason, spelling).start().answer()

    def note_contact(self, contact: Contact, channel: str, spelling: int = 0) -> Answer:
        """Tell of a contact by another channel."""
        return self.later.note_contact(contact, channel, spelling).start().answer()

    def clean_up(self) -> Answer:
        """Remove old rows."""
        return self.later.clean_up().start().answer()


EVERYONE = "everyone"
"""What a history calls the contact of a call that is about no person."""


class Calls:
    """Makes an actor's calls without beginning them.

    Args:
        actor: Whose calls.
    """

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def _call(self, f: str, contact: Contact, **args: Any) -> Call:
        return Call(actor=self._actor, f=f, contact=contact.name, args=args)

    def acquire(self, contact: Contact, spelling: int = 0) -> Call:
        """Claim the contact."""
        return self._call("acquire", contact, address=contact.spellings[spelling])

    def renew(self, contact: Contact, lease: Lease, spelling: int = 0) -> Call:
        """Extend a lease."""
        address = contact.spellings[spelling]
        return self._call("renew", contact, address=address, token=lease.token)

    def release(self, contact: Contact, lease: Lease, spelling: int = 0) -> Call:
        """Free a lease."""
        address = contact.spellings[spelling]
        return self._call("release", contact, address=address, token=lease.token)

    def send(self, contact: Contact, message: Message) -> Call:
        """Send a message."""
        return self._call("send", contact, message=message_to_json(message))

    def reply(self, contact: Contact, message: Message, to: str) -> Call:
        """Answer the message of this id (spec: K8)."""
        return self.send(contact, replace(message, endpoint=Endpoint.REPLY, refers_to=to))

    def forward(self, contact: Contact, message: Message, what: str) -> Call:
        """Pass the message of this id on (spec: K8)."""
        return self.send(contact, replace(message, endpoint=Endpoint.FORWARD, refers_to=what))

    def receive(self, contact: Contact, event: Received) -> Call:
        """Hand over what the contact wrote (spec: O4)."""
        return self._call("receive", contact, event=event_to_json(event))

    def lookup(self, contact: Contact, message: Message) -> Call:
        """Ask what became of a message."""
        return self._call("lookup", contact, key=message.key)

    def cancel(self, contact: Contact, message: Message) -> Call:
        """Take a message back, sent or not (spec: X17)."""
        return self._call("cancel", contact, key=message.key)

    def suppress(self, contact: Contact, reason: str = "opt-out", spelling: int = 0) -> Call:
        """Put the contact on the list."""
        return self._call("suppress", contact, address=contact.spellings[spelling], reason=reason)

    def unsuppress(self, contact: Contact, person: str, spelling: int = 0) -> Call:
        """Take the contact off the list."""
        return self._call("unsuppress", contact, address=contact.spellings[spelling], person=person)

    def override(self, contact: Contact, person: str, reason: str, spelling: int = 0) -> Call:
        """Let the next send skip the cooldown."""
        address = contact.spellings[spelling]
        return self._call("override", contact, address=address, person=person, reason=reason)

    def note_contact(self, contact: Contact, channel: str, spelling: int = 0) -> Call:
        """Tell of a contact by another channel (spec: C5)."""
        address = contact.spellings[spelling]
        return self._call("note_contact", contact, address=address, channel=channel)

    def clean_up(self) -> Call:
        """Remove old rows (spec: K5, L4)."""
        return Call(actor=self._actor, f="clean_up", contact=EVERYONE, args={})


class NotReached(Exception):  # noqa: N818
    """An aimed fault never struck: its window was not entered."""
