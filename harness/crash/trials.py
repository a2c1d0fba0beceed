"""Calls whose caller is killed, beside sends: what was answered must still be so (spec: L3-L7, C1, X17).

The caller is started again, and the mailbox is asked: a grant that was told stands or is over by time,
a lease that was told to be free is free, an opt-out binds, a cancelled send is never made. Where no
answer came either may be so, and the restarted caller does again what was not done.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from ..contract import (
    Answer,
    Capability,
    Cleaned,
    Code,
    Found,
    Lease,
    Message,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
)
from ..scenario import Actor, Call, Contact, Race

HAS_LEFT = 0.5
"""Share of the cancellations that come too late."""
STEP_S = 0.1
PATIENCE = 8.0
"""How many times the lengths in force an answer is waited for that says "not now"."""
_NOT_NOW = frozenset({Code.STORE_BUSY, Code.SEND_IN_PROGRESS, Code.SEND_STATUS_UNKNOWN})
LEASE_OVER = (Code.LEASE_EXPIRED, Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN)


class Fate(StrEnum):
    """What became of a call whose caller was killed."""

    HELD = "answered, and it holds"
    DONE = "no answer, and it was done"
    AGAIN = "no answer, done again"
    """It was not done, or that can't be told; the restarted caller did it."""
    LOST = "not what was answered"
    """What was answered, or was so before, does not hold."""


@dataclass(kw_only=True)
class Trial(ABC):
    """One call, its caller's death, and what is so afterwards.

    Args:
        race: The race.
        agent: The caller.
        other: Another agent.
    """

    f: ClassVar[str]
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.LEASE})

    race: Race
    agent: Actor
    other: Actor
    contact: Contact = field(init=False)
    lease: Lease | None = field(init=False, default=None)
    moment: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.contact = self.race.contact()

    @abstractmethod
    def call(self) -> Call | None:
        """The call, after what it needs has been done undisturbed; None if that could not be done."""

    @abstractmethod
    def judge(self, told: Answer | None) -> Fate:
        """Ask the mailbox what is so.

        Args:
            told: What the caller was answered before it died, or None.
        """

    # What the trials share.

    def claim(self) -> Lease | None:
        """The lease of a fresh contact."""
        answer = self.ask(self.agent.later.acquire(self.contact))
        if self.expect(f"{self.agent.id}'s claim of a fresh contact", answer, Lease):
            assert isinstance(answer, Lease)
            self.lease = answer
        return self.lease

    def message(self) -> Message:
        """A new message to the contact, under the lease if there is one."""
        return self.race.message(self.contact, lease=self.lease)

    def send(self, message: Message) -> Answer:
        """Send it, or again; whether one is unknown is looked up before the next try (spec: R)."""
        look = Capability.LOOKUP in self.race.capabilities
        return self.ask(
            self.agent.later.send(self.contact, message),
            self.agent.later.lookup(self.contact, message) if look else None,
        )

    def ask(self, call: Call, before_again: Call | None = None) -> Answer:
        """Make a call; an answer that says "not now" is waited out (spec: R)."""
        lengths = self.race.settings
        patience_s = PATIENCE * (lengths.transport_timeout_s + lengths.store_deadline_s)
        deadline = time.monotonic() + patience_s
        while True:
            answer = call.start().answer()
            not_now = isinstance(answer, Refused) and answer.code in _NOT_NOW
            if not not_now or time.monotonic() > deadline:
                return answer
            time.sleep(STEP_S)
            if before_again is not None:
                before_again.start().answer()

    def expect(self, what: str, answer: Answer, *wanted: Code | type) -> bool:
        """Compare an answer with what may be."""
        return self.race.expect(f"{what}{self._where()}", answer, *wanted)

    def require(self, what: str, *, wanted: object, observed: object) -> bool:
        """Compare a fact with what must be."""
        return self.race.require(f"{what}{self._where()}", wanted=wanted, observed=observed)

    def _where(self) -> str:
        return f", {self.agent.id} killed at {self.moment}" if self.moment else ""

    def arrived(self, wanted: int) -> bool:
        """Compare how many messages reached the person."""
        observed = self.race.deliveries(self.contact)
        return self.require("messages that arrived", wanted=wanted, observed=observed)


class Acquire(Trial):
    """A grant that was told stands; nobody else is granted meanwhile (spec: L3, X4, X9)."""

    f = "acquire"

    def call(self) -> Call:
        return self.agent.later.acquire(self.contact)

    def judge(self, told: Answer | None) -> Fate:
        if isinstance(told, Lease):
            return Fate.HELD if stands(self, told) else Fate.LOST
        rival = self.ask(self.other.later.acquire(self.contact))
        what = f"{self.other.id}'s claim where nobody was told of a grant"
        if told is not None or not self.expect(what, rival, Lease, Code.CONTACT_OWNED):
            return Fate.LOST
        return Fate.AGAIN if isinstance(rival, Lease) else Fate.DONE


class Renew(Trial):
    """The lease stands, to the end that was told last (spec: L6)."""

    f = "renew"

    def call(self) -> Call | None:
        lease = self.claim()
        return None if lease is None else self.agent.later.renew(self.contact, lease)

    def judge(self, told: Answer | None) -> Fate:
        before = self.lease
        assert before is not None
        if isinstance(told, Refused):  # rules judge whether the lease had ended by then
            return Fate.HELD if self.expect("a renewal", told, *LEASE_OVER) else Fate.LOST
        last = told if isinstance(told, Lease) else before
        rival = self.ask(self.other.later.acquire(self.contact))
        if not stands(self, last, rival):
            return Fate.LOST
        if told is not None:
            return Fate.HELD
        until_ms = rival.expires_at_ms if isinstance(rival, Refused) else None
        return Fate.DONE if (until_ms or 0) > before.expires_at_ms else Fate.AGAIN


class Release(Trial):
    """A lease that was told to be free is free; else it is whole, and can be freed (spec: L7)."""

    f = "release"

    def call(self) -> Call | None:
        lease = self.claim()
        return None if lease is None else self.agent.later.release(self.contact, lease)

    def judge(self, told: Answer | None) -> Fate:
        assert self.lease is not None
        rival = self.ask(self.other.later.acquire(self.contact))
        if told is not None:
            fine = self.expect("a release", told, Released, *LEASE_OVER)
            return Fate.HELD if fine and follows(self, rival, "the release") else Fate.LOST
        if not (isinstance(rival, Refused) and rival.code is Code.CONTACT_OWNED):
            return Fate.DONE if follows(self, rival, "the release") else Fate.LOST
        again = self.ask(self.agent.later.release(self.contact, self.lease))
        fine = self.expect("the release, made again", again, Released, Code.LEASE_EXPIRED)
        rival = self.ask(self.other.later.acquire(self.contact))
        return Fate.AGAIN if follows(self, rival, "the release") and fine else Fate.LOST


class Suppress(Trial):
    """An opt-out that was told binds, whatever the lease (spec: C1, C3, S4)."""

    f = "suppress"
    needs = frozenset({Capability.SUPPRESS, Capability.SEND})

    def call(self) -> Call | None:
        if Capability.LEASE in self.race.capabilities and self.claim() is None:
            return None
        return self.agent.later.suppress(self.contact)

    def judge(self, told: Answer | None) -> Fate:
        if told is not None:
            fine = self.expect("an opt-out", told, Noted)
            return Fate.HELD if fine and self._binds(0) else Fate.LOST
        first = self.send(self.message())
        if isinstance(first, Refused) and first.code is Code.SUPPRESSED:
            return Fate.DONE if self.arrived(0) else Fate.LOST
        self.expect("a send where no opt-out was told of", first, Sent, *LEASE_OVER)
        again = self.ask(self.agent.later.suppress(self.contact))
        fine = self.expect("the opt-out, told again", again, Noted)
        binds = self._binds(1 if isinstance(first, Sent) else 0)
        return Fate.AGAIN if fine and binds else Fate.LOST

    def _binds(self, arrived: int) -> bool:
        answer = self.send(self.message())
        fine = self.expect("a send after the opt-out", answer, Code.SUPPRESSED)
        return self.arrived(arrived) and fine


class Cancel(Trial):
    """What was told to be cancelled never leaves; what had left is told as it is (spec: X17)."""

    f = "cancel"
    needs = frozenset({Capability.CANCEL, Capability.SEND, Capability.IDEMPOTENCY})
    sent: Message
    has_left = False

    def call(self) -> Call | None:
        if Capability.LEASE in self.race.capabilities and self.claim() is None:
            return None
        self.sent = self.message()
        if self.race.rng.random() < HAS_LEFT:
            answer = self.send(self.sent)
            if not self.expect("a send", answer, Sent, *LEASE_OVER):
                return None
            self.has_left = isinstance(answer, Sent)
        return self.agent.later.cancel(self.contact, self.sent)

    def judge(self, told: Answer | None) -> Fate:
        if told is not None and not self.expect("a cancellation", told, Found):
            return Fate.LOST
        answer = self.send(self.sent)
        cancelled = isinstance(answer, Refused) and answer.code is Code.SEND_CANCELLED
        fine = self.expect("a send after the cancellation", answer, *self._wanted(told))
        fine &= self.arrived(int(isinstance(answer, Sent)))
        if cancelled or isinstance(answer, Sent):
            state = told or self.ask(self.agent.later.cancel(self.contact, self.sent))
            observed = isinstance(state, Found) and state.state is SendState.CANCELLED
            fine &= self.require("told to be cancelled", wanted=cancelled, observed=observed)
        if not fine:
            return Fate.LOST
        return Fate.HELD if told is not None else Fate.DONE if cancelled else Fate.AGAIN

    def _wanted(self, told: Answer | None) -> tuple[Code | type, ...]:
        if self.has_left:
            return (Sent,)
        return (Code.SEND_CANCELLED,) if told else (Sent, Code.SEND_CANCELLED, *LEASE_OVER)


class CleanUp(Trial):
    """Half cleaned up or whole: keys are replayed and tokens rise (spec: L4, K5)."""

    f = "clean_up"
    needs = frozenset(
        {Capability.CLEAN_UP, Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY}
    )
    sent: Message
    original: Answer

    def call(self) -> Call | None:
        lease = self.claim()
        if lease is None:
            return None
        self.sent = self.message()
        self.original = self.send(self.sent)
        released = self.ask(self.agent.later.release(self.contact, lease))
        self.expect("a release", released, Released, Code.LEASE_EXPIRED)
        if not self.expect("a send", self.original, Sent, *LEASE_OVER):
            return None
        return self.agent.later.clean_up() if isinstance(self.original, Sent) else None

    def judge(self, told: Answer | None) -> Fate:
        fine = self.expect("a clean-up", told or self.ask(self.agent.later.clean_up()), Cleaned)
        again = self.send(self.sent)
        if self.expect("a retry after the clean-up", again, Sent):
            assert isinstance(again, Sent)
            assert isinstance(self.original, Sent)
            same = again.replay and again.message_id == self.original.message_id
            fine &= self.require("the original answer", wanted=True, observed=same)
        rival = self.ask(self.other.later.acquire(self.contact))
        fine &= follows(self, rival, "the clean-up") and self.arrived(1)
        if not fine:
            return Fate.LOST
        return Fate.HELD if told is not None else Fate.AGAIN


def follows(trial: Trial, rival: Answer, what: str) -> bool:
    """Whether another agent has the contact now, under a greater token (spec: L4)."""
    if not trial.expect(f"{trial.other.id}'s claim after {what}", rival, Lease):
        return False
    assert isinstance(rival, Lease)
    assert trial.lease is not None
    rises = rival.token > trial.lease.token
    return trial.require("a token above the last", wanted=True, observed=rises)


def stands(trial: Trial, lease: Lease, rival: Answer | None = None) -> bool:
    """Whether a lease that was told is still its owner's, or over by the store's clock (spec: L3, L5).

    Args:
        trial: Whose.
        lease: As it was told last.
        rival: What another agent's claim was answered; asked for if it is None.
    """
    agent, contact = trial.agent, trial.contact
    rival = rival or trial.ask(trial.other.later.acquire(contact))
    what = f"{trial.other.id}'s claim where {agent.id} was told token {lease.token}"
    if isinstance(rival, Lease) and rival.acquired_at_ms >= lease.expires_at_ms:
        return trial.require(
            "a token above the last", wanted=True, observed=rival.token > lease.token
        )
    if not trial.expect(what, rival, Code.CONTACT_OWNED):
        return False
    assert isinstance(rival, Refused)
    until_ms = rival.expires_at_ms
    kept = until_ms is None or until_ms >= lease.expires_at_ms
    whole = trial.require("a lease to the end that was told", wanted=True, observed=kept)
    own = trial.ask(agent.later.renew(contact, lease))
    return trial.expect(f"{agent.id}'s own renewal", own, Lease, Code.LEASE_EXPIRED) and whole


TRIALS: Mapping[str, type[Trial]] = {
    each.f: each for each in (Acquire, Renew, Release, Suppress, Cancel, CleanUp)
}
"""By the call whose caller is killed."""
