"""The audit log: no refusal without the state that explains it (spec: R3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..contract import Capability, Code
from ..history import AuditEvent, Operation, OpType
from ..verdict import Finding
from .base import Rule
from .ledger import View
from .refusals import BUSY_SHARE

_EXCUSED = frozenset(
    {
        Code.STORE_BUSY,
        Code.INVALID_ADDRESS,
        Code.INVALID_MESSAGE,
        Code.KEY_INVALID,
        Code.KEY_MISSING,
        Code.NOT_AUTHORISED,
    }
)
"""No transaction was had, or the request was none: no decision about a contact was made."""

_CODES = frozenset(str(code) for code in Code)

Record = Mapping[str, Any]


class RefusalHasState(Rule):
    """Each refusal stands in the audit log, with the policy state that explains it.

    Spec: R3, S7. For every refused call there is a record of the same actor, event and code, and of
    the same contact where its key is known. Its ``state`` shows why: the live lease for
    `contact_owned`, the list entry for `suppressed`, an end in the future for `cooldown_active`, a
    higher stored token (of the lease, or as ``fence``) for `stale_fencing_token`, an end in the past for `lease_expired`. Where
    the state of a refused send shows that the contact is on the list, or the token stale, no weaker
    refusal is told, and the reasons name it. Records nobody saw the answer of are welcome. A busy
    store had no transaction to write in. The records' numbers rise, so that there is one commit order.

    Legal::

        support-01 acquire -> contact_owned
        audit: support-01 acquire contact_owned, state lease owner sales-01, ends later than at_ms

    Illegal::

        support-01 acquire -> contact_owned
        audit: nothing
    """

    name = "audit.refusal_has_state"
    spec = ("R3", "S7")
    needs = frozenset({Capability.AUDIT})
    outcomes = frozenset({OpType.FAIL})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._refused: dict[tuple[str, str, str], list[Operation]] = {}
        self._records: dict[tuple[str, str, str], dict[str, int]] = {}
        self._seq: int | None = None

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.code not in _EXCUSED and not self._may_be_busy(op):
            self._refused.setdefault((op.agent, op.f, op.code or ""), []).append(op)
        return ()

    def _may_be_busy(self, op: Operation) -> bool:
        """A send that was let through and then found the store busy had nothing to write in."""
        lasted_ns = (op.completed_ns or op.invoked_ns) - op.invoked_ns
        deadline_ns = self.info.settings.store_deadline_s * 1e9
        return op.code == Code.SEND_IN_PROGRESS and lasted_ns >= BUSY_SHARE * deadline_ns

    def decided(self, event: AuditEvent) -> Iterable[Finding]:
        record = event.value
        decision = record["decision"]
        f = _ASKED_BY.get(record["event"], record["event"])
        records = self._records.setdefault((record["actor"], f, decision), {})
        records[record["key"]] = records.get(record["key"], 0) + 1
        if self._seq is not None and event.seq <= self._seq:
            yield self.finding(
                f"the audit log's record {event.seq} stands behind {self._seq}: no commit order",
                t=event.t,
            )
        self._seq = event.seq
        state = record.get("state") or {}
        shown = _SHOWN.get(decision)
        problem = shown and shown(record, state)
        if not problem and f == "send" and decision in _WEAKER:
            problem = _left_unsaid(record, state)
        if problem:
            yield self.finding(
                f"record {event.seq} of the audit log: {record['event']} of {record['actor']} was "
                f"refused with {decision}, but its state shows {problem}",
                t=event.t,
            )

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        for (agent, f, code), ops in self._refused.items():
            self.exercised += len(ops)
            missing = self._without_record(ops, self._records.get((agent, f, code), {}))
            if missing:
                yield self.finding(
                    f"{len(missing)} times {f} of {agent} was refused with {code}, "
                    f"and the audit log does not say so",
                    *missing[:8],
                )

    def _without_record(self, ops: list[Operation], records: dict[str, int]) -> list[Operation]:
        """Match each operation with a record of its own: known contacts first."""
        missing = []
        people = self.ledger.people
        for op in sorted(ops, key=lambda op: not people[op.contact].keys):
            keys = people[op.contact].keys or records.keys()
            match = next((key for key in keys if records.get(key, 0) > 0), None)
            if match is None:
                missing.append(op)
            else:
                records[match] -= 1
        return missing

    def state(self) -> object:
        """Of refusals and records only how many of each lack the other."""
        counts = {
            key: sum(keys.values()) for key, keys in self._records.items() if key[2] in _CODES
        }
        for key, ops in self._refused.items():
            counts[key] = counts.get(key, 0) - len(ops)
        return (frozenset(item for item in counts.items() if item[1]), self._seq is None)


def _owned(record: Record, state: Record) -> str | None:
    lease = state.get("lease") or {}
    if not lease.get("owner"):
        return "no owner"
    if (lease.get("expires_at_ms") or 0) <= record["at_ms"]:
        return f"a lease that had ended at {lease.get('expires_at_ms')}"
    return None


def _suppressed(_: Record, state: Record) -> str | None:
    return None if state.get("suppression") else "no entry of the list"


def _cooling(record: Record, state: Record) -> str | None:
    until_ms = (state.get("cooldown") or {}).get("until_ms") or 0
    return None if until_ms > record["at_ms"] else f"a cooldown until {until_ms}"


def _stale(record: Record, state: Record) -> str | None:
    stored = max((state.get("lease") or {}).get("token") or 0, state.get("fence") or 0)
    token = record.get("token") or 0
    return None if stored > token else f"the stored token {stored} against {token}"


def _expired(record: Record, state: Record) -> str | None:
    lease = state.get("lease")
    if not lease or (lease.get("expires_at_ms") or 0) <= record["at_ms"]:
        return None
    return f"a lease that ends at {lease['expires_at_ms']}"


def _left_unsaid(record: Record, state: Record) -> str | None:
    """A stronger refusal than the one that was told, or one the reasons do not name (spec: S7)."""
    decision, reasons = record["decision"], record.get("reasons") or ()
    for code, weaker in ((Code.SUPPRESSED, _WEAKER), (Code.STALE_FENCING_TOKEN, _WEAKER[1:])):
        if _SHOWN[code](record, state) is not None:
            continue
        if code == Code.STALE_FENCING_TOKEN and record.get("token") is None:
            continue  # no token is no stale one
        if decision in weaker and decision != code:
            return f"that {code} holds too, which is stronger"
        if reasons and code not in reasons:
            return f"that {code} holds too, and the reasons do not name it"
    return None


_WEAKER = (
    Code.SUPPRESSED,
    Code.STALE_FENCING_TOKEN,
    Code.LEASE_EXPIRED,
    Code.NOT_HOLDER,
    Code.COOLDOWN_ACTIVE,
    Code.SENDING_HALTED,
)
"""Refusals of a send, strongest first (spec: S7)."""

_ASKED_BY = {"dispatch": "send"}
"""Steps of the target that a call answers for: the last look before a hand-over is a send's."""

_SHOWN: Mapping[str, Callable[[Record, Record], str | None]] = {
    Code.CONTACT_OWNED: _owned,
    Code.SUPPRESSED: _suppressed,
    Code.COOLDOWN_ACTIVE: _cooling,
    Code.STALE_FENCING_TOKEN: _stale,
    Code.LEASE_EXPIRED: _expired,
}
