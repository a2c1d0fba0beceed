"""What only a person may decide (spec: C1, C4, O7)."""

from __future__ import annotations

from collections.abc import Iterable

from ..history import OpType
from ..verdict import Finding
from .base import Rule
from .ledger import View


class Decide(Rule):
    """No agent takes a contact off the list, or skips a cooldown, in its own name.

    Spec: C1, C4, O7. Both need a person's scope: who names the calling agent as the person is refused.

    Legal::

        sales-01 override, person grace    -> noted
        sales-01 override, person sales-01 -> not_authorised

    Illegal::

        sales-01 override, person sales-01 -> noted
    """

    name = "people.decide"
    spec = ("C1", "C4", "O7")
    hears = frozenset({"unsuppress", "override"})
    outcomes = frozenset({OpType.OK, OpType.FAIL})

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.args.get("person") != op.agent:
            return
        self.exercised += 1
        if op.type is OpType.OK:
            yield self.finding(
                f"{op.f} of {op.agent} on {op.contact} was noted, and only a person may decide that",
                op,
            )
