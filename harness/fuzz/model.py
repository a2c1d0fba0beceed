"""The small sequential model: what a call must be answered where nothing overlaps and nothing is in doubt.

The rules judge any history; the model says more where more is certain. A contact is left out for good
once a call on it was interrupted, lost its reply or ended in doubt, and so is a key. Only that nothing
stays in doubt for ever is said of these too.
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
from .doubts import Doubts, key_of, payload_of

Wanted = tuple[Code | type, ...]

_NOT_HELD: Wanted = (Code.STALE_FENCING_TOKEN, Code.LEASE_EXPIRED, Code.NOT_HOLDER)
_OWNED: Wanted = (Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED)
_STILL = frozenset({Code.SEND_IN_PROGRESS, Code.SEND_STATUS_UNKNOWN})
"""A try that is told this did nothing: how it stands with its key, it stood before."""
_UNTAKEN: Wanted = (Code.INVALID_ADDRESS, Code.INVALID_MESSAGE)
"""What a target may say to an address beyond ASCII: not everybody takes those."""


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
    may_be_overridden: bool = False
    """A person let a send skip the cooldown, and none has certainly used that up (spec: C4)."""
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
        self._doubts = Doubts(race, now_ms)
        self._beside_sent: Wanted = (Code.APPROVAL_REQUIRED,) if has_policy else ()
        self.may_halt = False
        """A bounce or complaint was told: a circuit breaker may halt what would be sent (spec: O5)."""

    def disturb(self, contact: int, args: Mapping[str, Any]) -> None:
        """From now on nothing is certain of this contact, nor of the key in the call's arguments."""
        self._contacts[contact].is_murky = True
        self._doubts.touch(args)

    def arrived(self, contact: int, args: Mapping[str, Any]) -> None:
        """A new message was taken by the receiving side, and its sender told that this is unknown."""
        self.disturb(contact, args)
        self._doubts.arrived(contact, args)

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
        if self._doubts.judge(agent, contact, args, answer):
            return
        known = self._contacts[contact]
        code = answer.code if isinstance(answer, Refused) else None
        if known.is_murky or (code is not None and not code.meaning.definite):
            known.is_murky = True
            if code not in _STILL:
                self._doubts.touch(args)
            return
        wanted: Wanted = getattr(self, f"_{f}")(contact, agent, args)
        if wanted:
            if not _is_ascii(args):
                wanted = (*wanted, *_UNTAKEN)
            self._race.expect(f"{agent}'s {f}", answer, *wanted)
        self._learn(contact, agent, args, answer)

    # -- what is expected, by method -------------------------------------------------------------

    def _acquire(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return _OWNED if self._contacts[contact].ends_ms > self._now_ms() else (Lease,)

    def _renew(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:
        held = self._contacts[contact].is_held_by(agent, args["token"], self._now_ms())
        return (Lease,) if held else _NOT_HELD

    def _release(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:
        held = self._contacts[contact].is_held_by(agent, args["token"], self._now_ms())
        return (Released,) if held else _NOT_HELD

    def _send(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:
        message = args["message"]
        if not _is_sound(message) or key_of(args) in self._doubts:
            return ()
        if Capability.IDEMPOTENCY in self._can:
            wanted = self._by_key(contact, args)
            if wanted:
                return wanted
        wanted = self._checked(self._contacts[contact], agent, message)
        if Sent not in wanted:
            return wanted
        halted = (Code.SENDING_HALTED,) if self.may_halt else ()
        return (*wanted, *halted, *self._beside_sent)

    def _by_key(self, contact: int, args: Mapping[str, Any]) -> Wanted:
        """Step two of the send path; () if the key stands in no way (spec: S2, K)."""
        normal = key_of(args)
        if not normal:
            return (Code.KEY_MISSING,)
        key = self._keys.get(normal)
        if key is not None and self._now_ms() < key.sent_ms + self._window_ms:
            return (Sent,) if key.payload == payload_of(contact, args) else (Code.KEY_REUSED,)
        if normal in self._cancelled:  # of a try that was withdrawn, the payload counts first
            return (Code.SEND_CANCELLED, Code.KEY_REUSED)
        return ()

    def _checked(self, known: _Contact, agent: str, message: Mapping[str, Any]) -> Wanted:
        """Steps three to five of the send path (spec: S3, S4, S5, S7)."""
        now_ms = self._now_ms()
        if known.is_listed:
            return (Code.SUPPRESSED,)
        fenced = {Capability.LEASE, Capability.FENCING} <= self._can
        if fenced and not known.is_held_by(agent, message.get("token"), now_ms):
            return _NOT_HELD
        is_reply = message.get("kind") == MessageKind.TRANSACTIONAL
        if known.cools_ms > now_ms and not is_reply and not known.may_be_overridden:
            return (Code.COOLDOWN_ACTIVE,)
        if max(known.cools_ms, known.may_cool_ms) > now_ms:
            return (Sent, Code.COOLDOWN_ACTIVE)
        return (Sent,)

    def _lookup(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Found,) if key_of(args).isprintable() else ()

    def _suppress(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Noted,)

    def _unsuppress(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return () if args["person"] == agent else (Noted,)

    def _override(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return () if args["person"] == agent else (Noted,)

    def _receive(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Taken,)

    def _cancel(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Found,) if key_of(args).isprintable() else ()

    def _note_contact(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Noted,)

    def _clean_up(self, contact: int, agent: str, args: Mapping[str, Any]) -> Wanted:  # noqa: ARG002
        return (Cleaned,)

    # -- what is learnt --------------------------------------------------------------------------

    def _learn(self, contact: int, agent: str, args: Mapping[str, Any], answer: Answer) -> None:
        known = self._contacts[contact]
        match answer:
            case Lease():
                known.owner, known.token = agent, answer.token
                known.ends_ms = answer.expires_at_ms
            case Released():
                known.ends_ms = 0
            case Sent(replay=False):
                self._sent(contact, args)
            case Taken(first=True, opted_out=True):
                known.is_listed = True
            case Found(state=SendState.CANCELLED) if "key" in args:
                self._cancelled.add(key_of(args))
            case Noted() if "channel" in args:
                until_ms = self._now_ms() + self._cooldown_ms
                known.cools_ms = known.may_cool_ms = until_ms
            case Noted() if "event_at_ms" in args:
                pass  # it is told only after a person cleared the contact, and changes nothing
            case Noted() if "person" not in args:
                known.is_listed = True
            case Noted() if "reason" in args:
                known.may_be_overridden = True
            case Noted():
                known.is_listed = False

    def _sent(self, contact: int, args: Mapping[str, Any]) -> None:
        now_ms = self._now_ms()
        known, message = self._contacts[contact], args["message"]
        if not _is_sound(
            message
        ):  # a target need not look at what it sends, and may send part of it
            self.disturb(contact, args)
            return
        is_reply = message.get("kind") == MessageKind.TRANSACTIONAL
        if known.cools_ms > now_ms and not is_reply:  # a reply may have skipped it by its kind
            known.may_be_overridden = False
        until_ms = now_ms + self._cooldown_ms
        known.may_cool_ms = until_ms
        if not is_reply:
            known.cools_ms = until_ms
        if message.get("key") is not None:
            self._keys[key_of(args)] = _Key(payload_of(contact, args), now_ms)


def _is_sound(message: Mapping[str, Any]) -> bool:
    """Whether no target has a reason to refuse the message itself."""
    key = message.get("key") or ""
    fits = "@" in message["to"] and "\n" not in message["subject"] and not message.get("headers")
    return fits and key.strip().isprintable()


def _is_ascii(args: Mapping[str, Any]) -> bool:
    """Whether the address a call is about is plain ASCII."""
    named = args.get("message", args.get("event", args))
    address: str = named.get("to", named.get("sender", named.get("address", "")))
    return address.isascii()
