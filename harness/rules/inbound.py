"""What contacts write: each message is taken once, however often it is told of (spec: O4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..contract import Capability
from ..history import Operation, OpType
from ..verdict import Finding
from .base import Rule
from .claims import may_precede
from .ledger import View


class OncePerEvent(Rule):
    """One call alone is told that it is the first to take an event; every other one is told so too.

    Spec: O4, X20. Only the first starts an agent's loop, so two firsts are two loops, and none at all
    is a message nobody answers: a call that is told it was not the first needs another one that may
    have been.

    Legal::

        sales-01   receive <1> -> taken, first
        support-01 receive <1> -> taken before

    Illegal::

        sales-01   receive <1> -> taken, first
        support-01 receive <1> -> taken, first
    """

    name = "inbound.once"
    spec = ("O4", "X20")
    needs = frozenset({Capability.INBOUND})
    hears = frozenset({"receive"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._told: dict[str, list[Operation]] = {}

    def invoked(self, view: View) -> Iterable[Finding]:
        self._told.setdefault(_event(view.op), []).append(view.op)
        return ()

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.type is not OpType.OK:
            return
        self.exercised += 1
        others = (each for each in self._told[_event(op)] if each is not op)
        earlier = next((each for each in others if each.answer.get("first")), None)
        if op.answer.get("first") and earlier is not None:
            yield self.finding(
                f"{earlier.agent} and {op.agent} were both told that they are the first to take "
                f"{_event(op)}",
                earlier,
                op,
            )

    def settled(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.type is not OpType.OK or op.answer.get("first"):
            return
        others = (each for each in self._told[_event(op)] if each is not op)
        if not any(_may_be_first(each) and may_precede(each, op) for each in others):
            yield self.finding(
                f"{op.agent} was told that {_event(op)} had been taken before, "
                "but no call can have been the first",
                op,
            )


def _event(op: Operation) -> str:
    event_id: str = op.args["event"]["event_id"].strip()
    return event_id


def _may_be_first(op: Operation) -> bool:
    return op.type in {OpType.INFO, OpType.INVOKE} or bool(op.answer.get("first"))
