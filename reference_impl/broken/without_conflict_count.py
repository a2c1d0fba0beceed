"""Without a count of conflicts: each is the first.

However often one lease refuses an agent, the agent is told to wait, and no person ever hears of
it (spec: R2).

Caught by `refusals.escalated`. Masked by: agents that give up by themselves.
"""

from __future__ import annotations

from ..escalation import Escalation
from ..parts import Parts
from ..records import LeaseRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class ForgetfulEscalation(Escalation):
    """Counts to one."""

    def count(self, tx: Transaction, lease: LeaseRow) -> int:
        """How often it was, it believes."""
        super().count(tx, lease)
        return 1


twin = Twin(
    name="without_conflict_count",
    safeguard="refusals by one lease are counted",
    caught_by=("refusals.escalated",),
    masked_by="agents that give up by themselves",
    spec=("R2",),
)
target = ReferenceTarget(Parts(escalation=ForgetfulEscalation), twin.name)
