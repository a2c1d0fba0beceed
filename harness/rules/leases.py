"""Leases: one at a time, extended and freed by their holder only (spec: L3, L6, L7, S3)."""

from __future__ import annotations

from collections.abc import Iterable

from ..contract import Capability
from ..history import OpType
from ..verdict import Finding
from .base import Rule
from .claims import Claim, is_before, may_precede, store_time
from .ledger import View

_OK = frozenset({OpType.OK})

RENEWAL_TOLERANCE_MS = 10
"""How far a renewal's end may be off now + length: a store may read its clock twice."""


class OneLive(Rule):
    """No lease of a contact is granted while another one lives.

    Spec: L3, L9. By the store's own times the later grant must stand at or after the earlier lease's
    end, unless a release may have freed it first; ``expires_at == now`` frees it. By the history's
    clock a grant that was answered before the earlier lease can have ended breaks the rule whatever
    times the target reports.

    Legal::

        sales-01   acquire -> 1000 to 2000
        support-01 acquire -> 2000 to 3000

    Illegal::

        sales-01   acquire -> 1000 to 2000
        support-01 acquire -> 1999 to 2999
    """

    name = "leases.one_live"
    spec = ("L3", "L9")
    needs = frozenset({Capability.LEASE})
    hears = frozenset({"acquire"})
    outcomes = _OK

    def settled(self, view: View) -> Iterable[Finding]:
        claims = view.person.claims
        mine = next(claim for claim in claims if claim.op is view.op)
        for other in reversed(claims):
            if not other.settled:
                continue
            self.exercised += 1
            first, second = self._in_order(other, mine)
            if self._overlap(first, second):
                yield self._fault(first, second)
            if is_before(other.op, mine.op):
                break  # those before it have been compared with it
        mine.settled = True

    def _in_order(self, one: Claim, two: Claim) -> tuple[Claim, Claim]:
        """The earlier grant first; `one` was answered before `two` was."""
        if is_before(one.op, two.op):
            return one, two
        if one.acquired_at_ms != two.acquired_at_ms and not self.ledger.jumped:
            return (one, two) if one.acquired_at_ms < two.acquired_at_ms else (two, one)
        return (one, two) if one.token <= two.token else (two, one)

    def _overlap(self, first: Claim, second: Claim) -> bool:
        """Whether `first` certainly lived when `second` was granted."""
        op = second.op
        if self.ledger.jumped or first.may_be_released_by(op):
            return False
        if first.acquired_at_ms and 0 < second.acquired_at_ms < first.known_end_ms(
            second.acquired_at_ms, op
        ):
            return True
        lived_ns = first.earliest_end_ns(op, self.ledger.length_ms)
        return (
            is_before(first.op, op)
            and (op.completed_ns or 0) < lived_ns - self.ledger.lease_slack_ns
        )

    def _fault(self, first: Claim, second: Claim) -> Finding:
        return self.finding(
            f"{second.agent} was granted {second.op.contact} (token {second.token}) while the lease "
            f"of {first.agent} (token {first.token}) lived",
            first.op,
            second.op,
        )


class RenewalHolds(Rule):
    """A renewal succeeds only for the live lease of its caller, and extends it from the store's now.

    Spec: L5, L6, X3. It keeps owner and token, and ends one length after the renewal, not after the
    acquisition. After expiry it fails even if nobody else came.

    Legal::

        sales-01 acquire        -> 1000 to 2000, token 41
        sales-01 renew token 41 -> at 1500, to 2500, token 41

    Illegal::

        sales-01 acquire        -> 1000 to 2000, token 41
        sales-01 renew token 41 -> at 2000, to 3000, token 41
    """

    name = "leases.renewal_holds"
    spec = ("L5", "L6")
    needs = frozenset({Capability.LEASE})
    hears = frozenset({"renew"})
    outcomes = _OK

    def settled(self, view: View) -> Iterable[Finding]:
        self.exercised += 1
        op = view.op
        claim = view.person.claim_of(view)
        problem = _not_holder(view, claim)
        proof = () if claim is None else (claim.op,)
        if claim is not None:
            problem = problem or self._expired(view, claim) or self._changed(view, claim)
        problem = problem or self._overtaken(view)
        if problem:
            what = f"{op.agent} renewed {op.contact} with token {view.token}"
            yield self.finding(f"{what}, but {problem}", *proof, op)

    def _overtaken(self, view: View) -> str | None:
        """A lease that was granted later, by the store's own times, ended the renewed one."""
        at_ms = store_time(view.op.answer)
        if not at_ms or self.ledger.jumped:
            return None
        for other in view.person.claims:
            if other.token > (view.token or 0) and 0 < other.acquired_at_ms < at_ms:
                return f"{other.agent} had been granted token {other.token}"
        return None

    def _expired(self, view: View, claim: Claim) -> str | None:
        op, ledger = view.op, self.ledger
        if ledger.jumped or claim.may_be_renewed_by(op):
            return None
        at_ms = store_time(op.answer)
        end_ms = max(
            (
                each.answer.get("expires_at_ms", 0)
                for each in claim.renewals
                if each is not op and may_precede(each, op)
            ),
            default=0,
        )
        end_ms = max(end_ms, claim.expires_at_ms)
        if at_ms and end_ms and at_ms >= end_ms:
            return f"that lease had ended {at_ms - end_ms} ms before"
        latest_ns = claim.latest_end_ns(op, ledger.length_ms) + ledger.lease_slack_ns
        if op.invoked_ns > latest_ns:
            return f"that lease had ended {(op.invoked_ns - latest_ns) // 1_000_000} ms before"
        return None

    def _changed(self, view: View, claim: Claim) -> str | None:
        answer = view.op.answer
        if answer.get("token") != view.token:
            return f"the answer carries token {answer.get('token')}"
        if answer.get("owner") != claim.owner:
            return f"the owner changed from {claim.owner} to {answer.get('owner')}"
        at_ms, end_ms = store_time(answer), answer.get("expires_at_ms", 0)
        off_ms = end_ms - at_ms - self.ledger.length_ms
        tolerance_ms = 0 if self.info.clock == "virtual" else RENEWAL_TOLERANCE_MS
        if at_ms and abs(off_ms) > tolerance_ms:
            return f"it ends {end_ms - at_ms} ms after it, not {self.ledger.length_ms:g}"
        return None


class ReleaseByHolder(Rule):
    """A release is answered as done only to the lease's own holder.

    Spec: L7, X2. One who never held it, or whose lease a newer grant had replaced, is told so. A
    second release by the former holder while nobody else came frees nothing and is no finding.

    Legal::

        sales-01   acquire          -> token 41
        support-01 release token 41 -> not_holder

    Illegal::

        sales-01   acquire          -> token 41
        support-01 acquire          -> token 42
        sales-01   release token 41 -> released
    """

    name = "leases.release_by_holder"
    spec = ("L7",)
    needs = frozenset({Capability.LEASE})
    hears = frozenset({"release"})
    outcomes = _OK

    def settled(self, view: View) -> Iterable[Finding]:
        self.exercised += 1
        claim = view.person.claim_of(view)
        problem = _not_holder(view, claim)
        if problem:
            proof = () if claim is None else (claim.op,)
            what = f"{view.op.agent} released {view.op.contact} with token {view.token}"
            yield self.finding(f"{what}, but {problem}", *proof, view.op)


class LiveAtSend(Rule):
    """A send is accepted only under a lease its caller holds when it is made.

    Spec: S3, L8. It breaks the rule if the caller never held the lease, had released it, or if it had
    certainly ended before the send was invoked: one length after the last grant or renewal was
    answered.

    Legal::

        sales-01 acquire       -> 1000 to 2000, token 41
        sales-01 send token 41 -> sent

    Illegal::

        sales-01 acquire       -> 1000 to 2000, token 41
        (the store's clock passes 2000)
        sales-01 send token 41 -> sent
    """

    name = "leases.live_at_send"
    spec = ("S3", "L8")
    needs = frozenset({Capability.LEASE, Capability.FENCING, Capability.SEND})
    hears = frozenset({"send"})
    outcomes = _OK

    def settled(self, view: View) -> Iterable[Finding]:
        if view.token is None or not view.is_executed or self._may_be_resumed(view):
            return
        self.exercised += 1
        op = view.op
        claim = view.person.claim_of(view)
        problem = _never_held(view, claim)
        if claim is not None and not problem:
            problem = self._over(view, claim)
        if problem:
            proof = () if claim is None else (claim.op, *claim.releases)
            what = f"the send of {op.agent} to {op.contact} with token {view.token} was accepted"
            yield self.finding(f"{what}, but {problem}", *proof, op)

    def _may_be_resumed(self, view: View) -> bool:
        """An earlier try of unknown outcome may have been let through while the lease lived."""
        intent = self.ledger.intents.get(view.intent)
        tries = () if intent is None else intent.causes()
        return any(each.op.begin < view.op.begin for each in tries)

    def _over(self, view: View, claim: Claim) -> str | None:
        ledger = self.ledger
        if claim.is_released_before(view.op):
            return "it had released that lease"
        latest_ns = claim.latest_end_ns(view.op, ledger.length_ms) + ledger.lease_slack_ns
        if not ledger.jumped and view.op.invoked_ns > latest_ns:
            return f"that lease had ended {(view.op.invoked_ns - latest_ns) // 1_000_000} ms before"
        return None


def _never_held(view: View, claim: Claim | None) -> str | None:
    """Why the caller can't ever have held a lease with its token, or None."""
    op, person = view.op, view.person
    if claim is None:
        if view.token is None or view.token <= person.forgotten:
            return None
        if any(each.agent == op.agent and may_precede(each, op) for each in person.asked):
            return None
        return "no grant gave it that token"
    if claim.agent != op.agent:
        return f"{claim.agent} holds that lease"
    return None


def _not_holder(view: View, claim: Claim | None) -> str | None:
    """Why the caller was certainly not the holder, or None."""
    problem = _never_held(view, claim)
    if problem:
        return problem
    top = view.top
    if top is not None and claim is not top and (claim is None or top.is_newer_than(claim)):
        return f"{top.agent} had been granted token {top.token}"
    if claim is not None and view.op.f == "renew" and claim.is_released_before(view.op):
        return "it had released that lease"
    return None
