"""One send whose sender is killed, and what the restarted sender learns of it (spec: R, S8, K10, X4).

The restarted agent does what spec R says: it looks the key up, and tries again with the same key only
where nothing may have left, or what is recorded can be replayed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from ..contract import (
    Answer,
    Capability,
    Code,
    Found,
    Lease,
    Message,
    NoReply,
    Refused,
    SendState,
    Sent,
)
from ..scenario import Actor, Contact, Race
from .strike import ANSWERED, strike

_WAIT = frozenset({Code.SEND_IN_PROGRESS, Code.SEND_STATUS_UNKNOWN, Code.STORE_BUSY})
_LEASE_OVER = frozenset({Code.LEASE_EXPIRED, Code.STALE_FENCING_TOKEN, Code.NOT_HOLDER})
_IN_FLIGHT = frozenset({SendState.AUTHORIZED, SendState.DISPATCHING})


class End(StrEnum):
    """How a send ended whose sender was killed."""

    RECORDED = "delivered, as recorded"
    """The outcome was on record; the retry got the original answer."""
    SENT = "nothing had left, sent once"
    """Nothing had been handed over; the retry sent it."""
    FOUND = "unknown, then found"
    """It was unknown; the receiving side has it, and the retry got the original answer."""
    SENT_AFTER = "unknown, then sent once"
    """It was unknown; no such message existed, and the retry sent it."""
    UNKNOWN = "unknown"
    """It stays unknown: the receiving side can't be asked."""
    LOST = "no answer"
    """The mailbox gave no answer that ends it."""


@dataclass(slots=True, kw_only=True)
class Errand:
    """One logical send and its sender's deaths.

    Args:
        agent: The sender.
        contact: To whom.
        message: What; a retry passes it again.
        deaths: Where the sender was killed, in order.
        unknown: Whether it was ever told that the outcome is not known.
        end: How it ended, or None while it has not.
    """

    agent: Actor
    contact: Contact
    message: Message
    deaths: list[str] = field(default_factory=list)
    unknown: bool = False
    end: End | None = None

    def send(self, race: Race) -> Answer:
        """Send, or send again, undisturbed."""
        answer = self.agent.send(self.contact, self.message)
        self._learn(race, answer)
        return answer

    def die(self, race: Race, moment: str, within_s: float) -> None:
        """Send, be killed at the moment, and be started again.

        Args:
            race: The race.
            moment: Name of a point, `ANSWERED` or `ANY`.
            within_s: How long a send takes: `ANY` is drawn from it.
        """
        blow = strike(race, self.agent.later.send(self.contact, self.message), moment, within_s)
        if blow.moment == ANSWERED and blow.told is not None:
            self._learn(race, blow.told)
        race.mark("kill", intent=self.message.intent, point=blow.moment)
        self.deaths.append(blow.moment)

    def asks(self, race: Race) -> bool:
        """Look the key up; True if it is right to try again (spec: R)."""
        if Capability.LOOKUP not in race.capabilities:
            return True
        found = self.agent.lookup(self.contact, self.message)
        if not isinstance(found, Found):
            return False  # busy: it is asked again later
        self.unknown |= found.state is SendState.UNKNOWN
        return found.state is not SendState.UNKNOWN and found.state not in _IN_FLIGHT

    def _learn(self, race: Race, answer: Answer) -> None:
        """Take in an answer of a try."""
        match answer:
            case Sent(replay=True):
                self.end = End.FOUND if self.unknown else End.RECORDED
            case Sent():
                self.end = End.SENT_AFTER if self.unknown else End.SENT
            case Refused(code=code) if code in _WAIT:
                self.unknown |= code is Code.SEND_STATUS_UNKNOWN
            case Refused(code=code) if code in _LEASE_OVER and self.message.token is not None:
                self._claim_again()
            case NoReply():
                pass
            case _:
                race.expect(f"{self.agent.id}'s retry after its crash", answer, Sent)
                self.end = End.LOST

    def _claim_again(self) -> None:
        """The lease ended meanwhile: a new one, the same key (spec: R, K6)."""
        lease = self.agent.acquire(self.contact)
        if isinstance(lease, Lease):
            self.message = replace(self.message, token=lease.token)
