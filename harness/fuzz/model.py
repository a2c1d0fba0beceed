"""The small sequential model: what a call must be answered where nothing overlaps and nothing is in doubt.

The rules judge any history; the model says more where more is certain. A contact is left out for good
once a call on it was interrupted, lost its reply or ended in doubt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..contract import (
    Answer,
    Capability,
    Cleaned,
    Code,
    Found,
    Lease,
    MessageKind,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
    Taken,
)
from ..scenario import Race

Wanted = tuple[Code | type, ...]

_NOT_HELD: Wanted = (Code.STALE_FENCING_TOKEN, Code.LEASE_EXPIRED, Code.NOT_HOLDER)
_OWNED: Wanted = (Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED)


@dataclass(slots=True)
class _Contact:
    """What is certain of one contact."""

    owner: str = ""
    token: int = 0
    ends_ms: int = 0
    cools_ms: int = 0
    may_cool_ms: int = 0
    """Until when a reply may have set a cooldown: policies differ (spec: C2)."""
    is_listed: bool = False
    is_overridden: bool = False
    is_murky: bool = False

    def is_held_by(self, agent: str, token: int | None, now_ms: int) -> bool:
        """Whether this agent holds a live lease under this token (spec: S3)."""
        return (self.owner, self.token) == (agent, token) and self.ends_ms > now_ms


@dataclass(frozen=True, slots=True)
class _Key:
    """A completed send under a key."""

    payload: tuple[Any, ...]
    sent_ms: int


class Model:
    """Compares answers with what it expects; a difference is a finding of `scenario.expected`.

    Args:
        race: Where differences are written.
        now_ms: The store's clock, exactly.
        has_policy: A policy of the user's is in force, which may hold a budget (spec: O5).
    """

    def __init__(self, race: Race, now_ms: Callable[[], int], *, has_policy: bool = False) -> None:
        self._race = race
        self._now_ms = now_ms
        self._can = race.capabilities
        settings = race.settings
        self._cooldown_ms = round(settings.cooldown_s * 1000)
        self._window_ms = round(settings.key_window_s * 1000)
        self._contacts: defaultdict[int, _Contact] = defaultdict(_Contact)
        self._keys: dict[str, _Key] = {}
        self._cancelled: set[str] = set()
        self._beside_sent: Wanted = (Code.APPROVAL_REQUIRED,) if has_policy else ()
        self.may_halt = False
        """A bounce or complaint was told: a circuit breaker may halt what would be sent (spec: O5)."""

    def disturb(self, contact: int) -> None:
        """From now on nothing is certain of this contact."""
        self._contacts[contact].is_murky = True

    def judge(
        self, f: str, contact: int, agent: str, args: Mapping[str, Any], answer: Answer
    ) -> None:
        """Compare the answer of a call with what is expected, and learn from it.

        Args:
            f: The mailbox method.
            contact: Index of the contact.
            agent: Agent id.
            args: The call's arguments.
            answer: What it was answered.
        """
        known = self._contacts[contact]
        if known.is_murky:
            return
        if isinstance(answer, Refused) and not answer.code.meaning.definite:
            known.is_murky = True
            return
        wanted = getattr(self, f"_{f}")(known, agent, args)
        if wanted:
            self._race.expect(f"{agent}'s {f}", answer, *wanted)
        self._learn(known, agent, args, answer)

    # -- what is expected, by method -------------------------------------------------------------

    def _acquire(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return _OWNED if known.ends_ms > self._now_ms() else (Lease,)

    def _renew(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:
        held = known.is_held_by(agent, args["token"], self._now_ms())
        return (Lease,) if held else _NOT_HELD

    def _release(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:
        held = known.is_held_by(agent, args["token"], self._now_ms())
        return (Released,) if held else _NOT_HELD

    def _send(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:
        message = args["message"]
        if not _is_sound(message):
            known.is_murky = True
            return ()
        if Capability.IDEMPOTENCY in self._can:
            if not (message.get("key") or "").strip():
                return (Code.KEY_MISSING,)
            normal = _normal(message["key"])
            key = self._keys.get(normal)
            if key is not None and self._now_ms() < key.sent_ms + self._window_ms:
                return (Sent,) if key.payload == _payload(args) else (Code.KEY_REUSED,)
            if normal in self._cancelled:  # of a try that was withdrawn, the payload counts first
                return (Code.SEND_CANCELLED, Code.KEY_REUSED)
        wanted = self._checked(known, agent, message)
        if Sent not in wanted:
            return wanted
        halted = (Code.SENDING_HALTED,) if self.may_halt else ()
        return (*wanted, *halted, *self._beside_sent)

    def _checked(self, known: _Contact, agent: str, message: Mapping[str, Any]) -> Wanted:
        """Steps three to five of the send path (spec: S3, S4, S5, S7)."""
        now_ms = self._now_ms()
        if known.is_listed:
            return (Code.SUPPRESSED,)
        fenced = {Capability.LEASE, Capability.FENCING} <= self._can
        if fenced and not known.is_held_by(agent, message.get("token"), now_ms):
            return _NOT_HELD
        is_reply = message.get("kind") == MessageKind.TRANSACTIONAL
        if known.cools_ms > now_ms and not is_reply and not known.is_overridden:
            return (Code.COOLDOWN_ACTIVE,)
        if max(known.cools_ms, known.may_cool_ms) > now_ms:
            return (Sent, Code.COOLDOWN_ACTIVE)
        return (Sent,)

    def _lookup(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Found,)

    def _suppress(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Noted,)

    def _unsuppress(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return () if args["person"] == agent else (Noted,)

    def _override(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return () if args["person"] == agent else (Noted,)

    def _receive(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Taken,)

    def _cancel(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Found,)

    def _note_contact(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Noted,)

    def _clean_up(self, known: _Contact, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Cleaned,)

    # -- what is learnt --------------------------------------------------------------------------

    def _learn(self, known: _Contact, agent: str, args: Mapping[str, Any], answer: Answer) -> None:
        match answer:
            case Lease():
                known.owner, known.token = agent, answer.token
                known.ends_ms = answer.expires_at_ms
            case Released():
                known.ends_ms = 0
            case Sent(replay=False):
                self._sent(known, args)
            case Taken(first=True, opted_out=True):
                known.is_listed = True
            case Found(state=SendState.CANCELLED) if "key" in args:
                self._cancelled.add(_normal(args["key"]))
            case Noted() if "channel" in args:
                until_ms = self._now_ms() + self._cooldown_ms
                known.cools_ms = known.may_cool_ms = until_ms
            case Noted() if "event_at_ms" in args:
                pass  # it is told only after a person cleared the contact, and changes nothing
            case Noted() if "person" not in args:
                known.is_listed = True
            case Noted() if "reason" in args:
                known.is_overridden = True
            case Noted():
                known.is_listed = False

    def _sent(self, known: _Contact, args: Mapping[str, Any]) -> None:
        now_ms = self._now_ms()
        message = args["message"]
        if max(known.cools_ms, known.may_cool_ms) > now_ms:
            known.is_overridden = False
        until_ms = now_ms + self._cooldown_ms
        known.may_cool_ms = until_ms
        if message.get("kind") != MessageKind.TRANSACTIONAL:
            known.cools_ms = until_ms
        if message.get("key") is not None:
            self._keys[_normal(message["key"])] = _Key(_payload(args), now_ms)


def _is_sound(message: Mapping[str, Any]) -> bool:
    """Whether no target has a reason to refuse the message itself."""
    key = message.get("key") or ""
    return "@" in message["to"] and "\n" not in message["subject"] and key.strip().isprintable()


def _normal(key: str) -> str:
    return key.strip().casefold()


def _payload(args: Mapping[str, Any]) -> tuple[Any, ...]:
    message = args["message"]
    return tuple(message.get(name) for name in ("subject", "body", "kind", "endpoint", "refers_to"))
