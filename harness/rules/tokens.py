"""Fencing tokens: they rise on every grant, and an older one never sends (spec: L4, S3, S6, S10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..contract import Capability
from ..history import AuditEvent, DeliveryEvent, Operation, OpType
from ..verdict import Finding
from .base import Rule
from .claims import Claim, is_before
from .ledger import Intent, View


class Rise(Rule):
    """Each grant of a contact carries a higher token than every grant before it; none comes twice.

    Spec: L4, L9. Grants whose calls overlap may come in either order, but never with one token, and
    never against the order of their own store times. Gaps are allowed: an acquire of unknown outcome
    may have used a token up.

    Legal::

        sales-01   acquire -> token 41
        support-01 acquire -> token 43

    Illegal::

        sales-01   acquire -> token 41
        support-01 acquire -> token 41
    """

    name = "tokens.rise"
    spec = ("L4", "L9")
    needs = frozenset({Capability.LEASE, Capability.FENCING})
    hears = frozenset({"acquire"})
    outcomes = frozenset({OpType.OK})

    def completed(self, view: View) -> Iterable[Finding]:
        claims = view.person.claims
        mine = claims[-1]
        self.exercised += len(claims) > 1
        top = view.top
        if top is not None and mine.token <= top.token:
            yield self._fault(top, mine)
            return
        for other in reversed(claims[:-1]):
            if is_before(other.op, view.op):
                return  # that one, and all before it, are below the top
            if problem := self._compare(other, mine):
                yield problem

    def _compare(self, other: Claim, mine: Claim) -> Finding | None:
        if other.token == mine.token:
            return self._fault(other, mine)
        if self.ledger.jumped or not (other.acquired_at_ms and mine.acquired_at_ms):
            return None
        earlier, later = sorted((other, mine), key=lambda claim: claim.acquired_at_ms)
        if earlier.acquired_at_ms < later.acquired_at_ms and later.token < earlier.token:
            return self._fault(earlier, later)
        return None

    def _fault(self, earlier: Claim, later: Claim) -> Finding:
        return self.finding(
            f"{later.agent} was granted {later.op.contact} with token {later.token}, "
            f"not above the {earlier.token} granted to {earlier.agent}",
            earlier.op,
            later.op,
        )


class StaleNeverSends(Rule):
    """Nothing leaves under a token once a grant with a higher one has returned.

    Spec: S3, S10. Judged by intervals: only a send that was *invoked* after the newer grant had been
    answered is stale. It breaks the rule if it is acknowledged, or if its message arrives although
    no try of it was begun in time. A message that was sent before and arrives after the newer grant
    is counted as a late hand-over: the gap of S8, shown and no finding.

    Legal::

        sales-01   acquire -> token 41
        sales-01   send token 41 invoked
        support-01 acquire -> token 42
        sales-01   send -> sent

    Illegal::

        sales-01   acquire -> token 41
        support-01 acquire -> token 42
        sales-01   send token 41 -> sent
    """

    name = "tokens.stale_never_sends"
    spec = ("S3", "S10")
    needs = frozenset({Capability.LEASE, Capability.FENCING, Capability.SEND})
    seen_through = ("cooldown", "keys")
    hears = frozenset({"send"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.late_hand_overs = 0

    def completed(self, view: View) -> Iterable[Finding]:
        if not _is_stale(view):
            return
        self.exercised += 1
        if view.is_executed:
            yield self._fault(view, "was told that its mail was sent")

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        if intent is None:
            return
        causes = intent.causes()
        stale = [view for view in causes if _is_stale(view)]
        if len(stale) == len(causes):
            yield self._fault(stale[0], "its mail arrived")
        elif all(_is_overtaken(view) for view in causes):
            self.late_hand_overs += 1

    def _fault(self, view: View, what: str) -> Finding:
        top = view.top
        assert top is not None
        return self.finding(
            f"{view.op.agent} sent to {view.op.contact} with token {view.token} after "
            f"{top.agent} had been granted {top.token}, and {what}",
            top.op,
            view.op,
        )


def _is_stale(view: View) -> bool:
    """Whether a grant with a higher token had returned before this send was invoked."""
    return view.token is not None and view.top is not None and view.token < view.top.token


def _is_overtaken(view: View) -> bool:
    """Whether a grant with a higher token has returned by now."""
    top = view.person.top
    return view.token is not None and top is not None and view.token < top.token


class CommitOrder(Rule):
    """In the commit order of the audit log no send is let through under a lease that was over.

    Spec: S6, S8, S10. The order is the target's own, so no interval excuses anything: behind
    ``granted 42`` no send with token 41 may be ``authorized`` or step into ``dispatching``; nor may
    one by another than the lease's owner, nor one be authorized under a released lease.

    Legal::

        1 acquire  granted    token 41 sales-01
        2 send     authorized token 41 sales-01
        3 acquire  granted    token 42 support-01

    Illegal::

        1 acquire  granted    token 41 sales-01
        2 acquire  granted    token 42 support-01
        3 send     authorized token 41 sales-01
    """

    name = "tokens.commit_order"
    spec = ("S6", "S8", "S10")
    needs = frozenset({Capability.LEASE, Capability.FENCING, Capability.SEND, Capability.AUDIT})
    seen_through = ("cooldown", "keys")
    decisions = frozenset({"granted", "released", "authorized", "dispatching"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._held: dict[str, tuple[int, str]] = {}
        self._released: dict[str, int] = {}

    def decided(self, event: AuditEvent) -> Iterable[Finding]:
        record = event.value
        decision, key, token = record["decision"], record["key"], record.get("token")
        if token is None:
            return
        if decision == "granted":
            self._held[key] = (token, record.get("owner") or record["actor"])
        elif decision == "released":
            self._released[key] = token
        elif key in self._held:
            self.exercised += 1
            problem = self._problem(record, token)
            if problem:
                proof = self._proof(record)
                yield self.finding(problem, *proof, t=None if proof else event.t)

    def _proof(self, record: Mapping[str, Any]) -> list[Operation]:
        """The calls behind a record: tries under its key, and the newest grant of that contact."""
        wanted = _folded(record.get("idempotency_key") or "")
        tries = [
            view
            for key, views in self.ledger.keys.items()
            if key and _folded(key) == wanted
            for view in views
            if view.op.agent == record["actor"]
        ]
        grants = {id(top.op): top.op for view in tries if (top := view.person.top) is not None}
        return sorted([*grants.values(), *(view.op for view in tries)], key=lambda op: op.begin)

    def state(self) -> object:
        """Who was granted and who released what."""
        return (tuple(self._held.items()), tuple(self._released.items()))

    def _problem(self, record: Mapping[str, Any], token: int) -> str | None:
        key, actor, seq = record["key"], record["actor"], record["seq"]
        held, owner = self._held[key]
        what = f"record {seq} of the audit log: the send of {actor} to {key} with token {token}"
        if token < held:
            return f"{what} was {record['decision']} after {owner} had been granted {held}"
        if record["decision"] != "authorized":
            return None
        if token > held:
            return f"{what} was authorized, but no grant gave that token; the last gave {held}"
        if actor != owner:
            return f"{what} was authorized, but {owner} holds that lease"
        if self._released.get(key) == token:
            return f"{what} was authorized after that lease had been released"
        return None


def _folded(key: str) -> str:
    """A key as a target may keep it: case and white space do not count (spec: K3)."""
    return "".join(key.split()).casefold()
