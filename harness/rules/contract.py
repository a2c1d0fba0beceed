"""The contract itself, and what a scenario says it expects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..history import MarkEvent, Operation, OpType
from ..kit import CONTRACT_BROKEN, CONTRACT_MARK
from ..verdict import Finding
from .base import Rule
from .ledger import View


class Kept(Rule):
    """Every answer is one the contract allows for the method.

    Spec: R. An answer that is none (a wrong type, a missing field, an unknown code) can't be acted
    upon; the outcome counts as unknown and the breach as a finding. So does a store's clock that is no
    time.

    Legal::

        sales-01 acquire -> Lease or Refused

    Illegal::

        sales-01 acquire -> None
    """

    name = "contract.kept"
    spec = ("R",)
    outcomes = frozenset({OpType.INFO})

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        self.exercised = self.ledger.ended
        return ()

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.code == CONTRACT_BROKEN:
            yield self.finding(f"the answer to {op.agent} is none: {op.answer.get('why')}", op)

    def marked(self, event: MarkEvent) -> Iterable[Finding]:
        if event.name == CONTRACT_MARK:
            yield self.finding(str(event.data.get("what")), t=event.t)


class Expected(Rule):
    """What the scenario expects is what was observed.

    Spec: T. A script states the single expected result of its race; each statement that does not hold
    is a finding, proved by the last operations whose answer it speaks of.

    Legal::

        support-01 send -> cooldown_active
        expect "support-01's send": cooldown_active, observed cooldown_active

    Illegal::

        support-01 send -> sent
        expect "support-01's send": cooldown_active, observed Sent
    """

    name = "scenario.expected"
    spec = ("T",)

    def marked(self, event: MarkEvent) -> Iterable[Finding]:
        if event.name != "expect":
            return
        self.exercised += 1
        data = event.data
        if data.get("holds"):
            return
        observed = data.get("observed")
        yield self.finding(
            f"{data.get('what')}: expected {data.get('wanted')}, observed {observed}",
            *self._about(observed),
            t=event.t,
        )

    def _about(self, observed: object) -> list[Operation]:
        """The last operation that was answered so, else the last one."""
        recent = self.ledger.recent
        for op in reversed(recent):
            if observed in {op.code, op.answer.get("answer")}:
                return [op]
        return list(recent)[-1:]
