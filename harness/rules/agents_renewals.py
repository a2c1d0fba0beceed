"""How an agent under test keeps its leases: it renews while it works and gives back (spec: A2, L6, L8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..history import Operation, OpType
from .agents_case import ROW_KEPT, Case, is_conflict, lease_refused_by
from .agents_draft import process_of
from .agents_seen import Seen
from .agents_slip import (
    DETACHED_RENEWAL,
    IGNORES_FAILED_RENEWAL,
    OLD_TOKEN,
    Act,
    Slip,
)
from .claims import MS
from .ledger import Ledger

AFTER_WORK = 3
"""So many renewals in a row, after a send and with nothing else done until the end, serve no work."""
IN_A_ROW = ROW_KEPT
"""So many renewals in a row with nothing else done are a timer, even if a draft is open (spec: L10)."""
CONFLICTS_MAX = 3
"""How often the same conflict may be met before it is handed to a person (spec: R2)."""


def before(act: Act) -> Iterable[Slip]:
    """What is wrong with a call that begins."""
    op, case = act.op, act.case
    token = act.view.token
    cause = None if token is None else case.dead.get(token)
    if cause is not None and (op.f == "renew" or act.draft is not None):
        yield from _after_its_end(act, cause)
    if op.f == "release":
        yield from _after_work(case)


def _after_its_end(act: Act, cause: Operation) -> Iterable[Slip]:
    """A renewal that fails means: stop, claim again, run every check again (spec: L6)."""
    op = act.op
    if cause.f == "renew":
        what = f"called {op.f} under token {act.view.token} although its renewal failed"
        yield Slip(what=f"{what}: {cause.code}", ops=(cause, op), habit=IGNORES_FAILED_RENEWAL)
    elif op.f == "renew":
        what = f"renewed token {act.view.token} of {op.contact} although that lease was over"
        habit = DETACHED_RENEWAL if cause.f == "release" else OLD_TOKEN
        yield Slip(what=what, ops=(cause, op), habit=habit)


def _after_work(case: Case) -> Iterable[Slip]:
    """Renewals after the last send under a lease, with nothing else done until its end."""
    row = case.row
    if case.uses and case.grant and AFTER_WORK <= len(row) < IN_A_ROW:
        what = f"renewed its lease on {row[0].contact} {len(row)} times after the work was done"
        yield Slip(what=what, ops=(case.grant, *row), habit=DETACHED_RENEWAL)


def after(act: Act) -> Iterable[Slip]:
    """What is wrong once a call has ended."""
    op, case = act.op, act.case
    if op.f == "renew" and op.type is OpType.OK:
        yield from _renewed(op, case)
    elif is_conflict(op) and lease_refused_by(act.view) == case.lease:
        yield from _repeated(op, case)


def _renewed(op: Operation, case: Case) -> Iterable[Slip]:
    if len(case.row) + 1 == IN_A_ROW:
        what = f"renewed its lease on {op.contact} {IN_A_ROW} times in a row and did nothing else"
        yield Slip(what=what, ops=(*case.row, op), habit=DETACHED_RENEWAL)


def _repeated(op: Operation, case: Case) -> Iterable[Slip]:
    """It stays within the policy's repeats before it hands over to a person (spec: R2)."""
    if len(case.conflicts) == CONFLICTS_MAX:
        what = f"claimed {op.contact} {CONFLICTS_MAX + 1} times against one lease"
        yield Slip(what=f"{what} and handed it to nobody", ops=(*case.conflicts, op))


def at_end(seen: Seen, ledger: Ledger, open_ops: Sequence[Operation]) -> Iterable[Slip]:
    """What is still held when the history ends, by a process that neither crashed nor still calls."""
    busy = {process_of(op) for op in open_ops}
    for name, process in seen.processes.items():
        for case in process.cases.values():
            if case.held is None or case.grant is None or name in busy:
                continue
            yield from _after_work(case)
            if not _came_too_late(case.grant, ledger):
                yield _kept(case, case.grant)


def _came_too_late(grant: Operation, ledger: Ledger) -> bool:
    """A grant that may have reached it after its own expiry is worth nothing (spec: L8)."""
    return (grant.completed_ns or 0) - grant.invoked_ns >= ledger.length_ms * MS


def _kept(case: Case, grant: Operation) -> Slip:
    used = " and never" if case.uses else ", sent nothing under it and never"
    return Slip(what=f"took a lease on {grant.contact}{used} gave it back", ops=(grant,))
