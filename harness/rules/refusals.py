"""Refusals: every "no" has a cause that the history can name (spec: R)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..contract import Code, SendState
from ..faults import Behaviour
from ..history import DeliveryEvent, FaultEvent, Operation, OpType
from ..kit import REPLY_LOST
from ..verdict import Finding
from .base import Rule
from .claims import FOREVER, Claim, is_before, may_precede
from .ledger import LEFT_OPEN, Intent, Ledger, View
from .people import undoes

TIMEOUT_SHARE = BUSY_SHARE = 0.9
"""A call that lasted this share of a deadline may have run into it."""

_TRANSPORT_FAULTS = frozenset({"transport", "pause", "crash", "store_clock", "store_crash"})

_NEVER_AUTHORISED = frozenset(
    {
        Code.COOLDOWN_ACTIVE,
        Code.KEY_REUSED,
        Code.KEY_INVALID,
        Code.KEY_MISSING,
        Code.INVALID_ADDRESS,
        Code.CONTACT_OWNED,
    }
)
"""Answers of sends that never reserved a cooldown, not even for a moment."""


class Explained(Rule):
    """Every refusal is explained by something that may have happened.

    Spec: R, L3, L6, C1, C2, K4, S8. By intervals, and every doubt excuses: `contact_owned` needs a
    lease that may have lived, `suppressed` a suppression that may have been in force,
    `cooldown_active` a cooldown and a send that may have been authorised inside it, `lease_expired`
    and `not_holder` a caller who may not have held the lease, `stale_fencing_token` a higher token
    that may have been granted, `send_in_progress` and `key_reused` another send under the key,
    `send_cancelled` a cancellation of it, `send_status_unknown` a transport that may not have answered. A busy store, a message that is not
    valid or a person's decision is always possible. So a target that refuses what it must grant
    fails, and a renewal refused to the certain holder of a live lease does.

    Legal::

        sales-01   acquire -> granted
        support-01 acquire -> contact_owned

    Illegal::

        sales-01   acquire -> granted
        sales-01   release -> released
        support-01 acquire -> contact_owned
    """

    name = "refusals.explained"
    spec = ("R", "L3", "L6", "C1", "C2", "K4")
    outcomes = frozenset({OpType.FAIL, OpType.INFO})

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._disturbed = False

    def struck(self, event: FaultEvent) -> Iterable[Finding]:
        refuses = event.detail.get("behaviour") == Behaviour.REFUSE  # an answer as sure as a yes
        self._disturbed |= (
            event.phase == "begin" and event.fault in _TRANSPORT_FAULTS and not refuses
        )
        return ()

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        self._disturbed = self._disturbed or not event.replied
        return ()

    def state(self) -> object:
        """Whether the transport may have been disturbed."""
        return self._disturbed

    def settled(self, view: View) -> Iterable[Finding]:
        cause = _CAUSES.get(view.op.code or "")
        if cause is None:
            return
        self.exercised += 1
        problem: str | None = getattr(self, cause)(view)
        if problem:
            op = view.op
            yield self.finding(
                f"{op.f} of {op.agent} on {op.contact} was refused with {op.code}, but {problem}",
                *_proof(view),
                op,
            )

    # -- one cause a code: what is missing, or None if something explains it -------------------

    def _owned(self, view: View) -> str | None:
        op, person, ledger = view.op, view.person, self.ledger
        grants = [claim.op.begin for claim in person.claims if is_before(claim.op, op)]
        newest = max(grants, default=0)
        lived = [
            claim
            for claim in person.claims
            if claim.op.begin < (op.end or FOREVER)
            and (claim.op.end or FOREVER) > newest  # else another grant followed it
            and not _is_over(claim, view, ledger)
        ]
        if any(each is not op and _may_have_asked(each, op, ledger) for each in person.asked):
            return None
        if not lived:
            return "no lease of it can have been live"
        owner = op.answer.get("owner")
        owners = sorted({claim.owner for claim in lived})
        if owner and owner not in owners:
            return f"it names {owner} as the owner, and it can only be {' or '.join(owners)}"
        return None

    def _suppressed(self, view: View) -> str | None:
        op, person = view.op, view.person
        lifts = [lift for lift in person.lifts if lift.type is OpType.OK and is_before(lift, op)]
        for ban in person.bans:
            lifted = any(is_before(ban, lift) and undoes(lift, ban) for lift in lifts)
            if may_precede(ban, op) and not lifted:
                return None
        return "no suppression of it can have been in force"

    def _cooling(self, view: View) -> str | None:
        ledger = self.ledger
        if not ledger.cooldown_ns:
            return "there is no cooldown"
        written = (*(each.op for each in view.person.sends), *view.person.notes)
        if ledger.jumped or any(_may_cool(each, view, ledger) for each in written):
            return None
        return "nothing can have been sent to it inside the cooldown"

    def _not_held(self, view: View) -> str | None:
        """A renewal, release or send needs the caller's own live lease."""
        op, ledger = view.op, self.ledger
        claim = view.person.claim_of(view)
        if claim is None or claim.agent != op.agent or claim.may_be_released_by(op):
            return None
        if not is_before(claim.op, op):
            return None
        if any(_may_replace(other, claim, op) for other in view.person.claims):
            return None
        end_ns = claim.earliest_end_ns(op, ledger.length_ms)
        if ledger.jumped or (op.completed_ns or FOREVER) > end_ns - ledger.lease_slack_ns:
            return None
        left_ms = (end_ns - (op.completed_ns or 0)) // 1_000_000
        return f"{op.agent} held the lease for at least {left_ms} ms more"

    def _stale(self, view: View) -> str | None:
        op, person, token = view.op, view.person, view.token
        if token is None or person.forgotten > token:
            return None
        if any(claim.token > token and may_precede(claim.op, op) for claim in person.claims):
            return None
        if any(each is not op and may_precede(each, op) for each in person.asked):
            return None
        return "no higher token can have been granted"

    def _in_progress(self, view: View) -> str | None:
        for other in self._others(view):
            if other.op.begin < (view.op.end or FOREVER) and not _is_done_before(other, view):
                return None
        lasted_ns = (view.op.completed_ns or FOREVER) - view.op.invoked_ns
        if lasted_ns >= BUSY_SHARE * self.info.settings.store_deadline_s * 1e9:
            return None  # it was let through, and the store was too busy for the next step
        return "no other send under this key can have been under way"

    def _reused(self, view: View) -> str | None:
        for other in self._others(view):
            if other.op.begin < (view.op.end or FOREVER) and _payloads_differ(other, view):
                return None
        return "this key was not used for anything else"

    def _cancelled(self, view: View) -> str | None:
        for cancel in self.ledger.cancels.get(view.key, ()):
            op = cancel.op
            told = op.answer.get("state", SendState.CANCELLED) == SendState.CANCELLED
            if op.type is not OpType.FAIL and told and op.begin < (view.op.end or FOREVER):
                return None
        return "nobody can have cancelled this key"

    def _no_key(self, view: View) -> str | None:
        return "it carried a key" if view.key else None

    def _unknown(self, view: View) -> str | None:
        op = view.op
        if self._disturbed or self._is_slow(op):
            return None
        if any(self._may_be_in_doubt(each.op, op) for each in self._others(view)):
            return None
        return "the transport answered and no earlier outcome is unknown"

    def _may_be_in_doubt(self, other: Operation, op: Operation) -> bool:
        """Whether nobody may have known yet what came of another try when `op` was answered.

        A worker that slept for long is taken for gone, and may wake up and find that nothing had left.
        """
        doubtful = other.type in {OpType.INFO, OpType.INVOKE} or self._is_slow(other)
        return doubtful and other.begin < (op.end or FOREVER)

    def _is_slow(self, op: Operation) -> bool:
        """Whether it took so long that its hand-over may have been given up."""
        lasted_ns = (op.completed_ns or FOREVER) - op.invoked_ns
        return lasted_ns >= TIMEOUT_SHARE * self.info.settings.transport_timeout_s * 1e9

    def _others(self, view: View) -> list[View]:
        sends = self.ledger.keys.get(view.key, ()) if view.key else ()
        return [each for each in sends if each.op is not view.op]


def _is_over(claim: Claim, view: View, ledger: Ledger) -> bool:
    """Whether the lease had certainly ended before the refused call was made."""
    if claim.is_released_before(view.op):
        return True
    latest_ns = claim.latest_end_ns(view.op, ledger.length_ms) + ledger.lease_slack_ns
    return not ledger.jumped and latest_ns < view.op.invoked_ns


def _may_replace(other: Claim, claim: Claim, op: Operation) -> bool:
    return other is not claim and other.is_newer_than(claim) and may_precede(other.op, op)


def _may_have_asked(ask: Operation, op: Operation, ledger: Ledger) -> bool:
    """Whether an acquire whose answer nobody saw may hold the contact at the time of `op`."""
    if not may_precede(ask, op):
        return False
    if ask.code != REPLY_LOST or ask.completed_ns is None or ledger.jumped:
        return True
    reach_ns = int(ledger.length_ms * 1e6) + ledger.lease_slack_ns
    return ask.completed_ns + reach_ns >= op.invoked_ns


def _may_cool(op: Operation, view: View, ledger: Ledger) -> bool:
    """Whether another message may have set or reserved a cooldown that `view` ran into."""
    by = view.op
    if op is by or op.begin > (by.end or FOREVER):
        return False
    if op.type is OpType.FAIL and op.code not in LEFT_OPEN:
        return op.code not in _NEVER_AUTHORISED and (op.end or FOREVER) > by.begin
    if op.type in {OpType.INFO, OpType.INVOKE}:
        return True
    reach_ns = ledger.cooldown_ns + ledger.cooldown_slack_ns
    return (op.completed_ns or 0) + reach_ns >= by.invoked_ns


def _is_done_before(other: View, view: View) -> bool:
    """Whether nothing of another send can still be under way when `view` was made."""
    op = other.op
    answered = op.type in {OpType.OK, OpType.FAIL} and op.code not in LEFT_OPEN
    return answered and op.end is not None and op.end < view.op.begin


def _payloads_differ(one: View, two: View) -> bool:
    """Whether a target may take the two for different messages; a spelling counts, a token not."""
    ignored = {"token", "intent"}
    first, second = one.op.args.get("message", {}), two.op.args.get("message", {})
    names = (set(first) | set(second)) - ignored
    return any(first.get(name) != second.get(name) for name in names)


def _proof(view: View) -> list[Operation]:
    """The lease it is about, if there is one."""
    claim = view.person.claim_of(view) if view.token is not None else None
    return [] if claim is None else [claim.op]


_CAUSES: Mapping[str, str] = {
    Code.CONTACT_OWNED: "_owned",
    Code.SUPPRESSED: "_suppressed",
    Code.COOLDOWN_ACTIVE: "_cooling",
    Code.LEASE_EXPIRED: "_not_held",
    Code.NOT_HOLDER: "_not_held",
    Code.STALE_FENCING_TOKEN: "_stale",
    Code.SEND_IN_PROGRESS: "_in_progress",
    Code.KEY_REUSED: "_reused",
    Code.KEY_MISSING: "_no_key",
    Code.SEND_STATUS_UNKNOWN: "_unknown",
    Code.SEND_CANCELLED: "_cancelled",
}
"""Code to the method of `Explained` that looks for its cause."""
