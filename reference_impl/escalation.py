"""A conflict that keeps coming back is handed to a person (spec: R2)."""

from __future__ import annotations

from leaserace.harness.contract import Refused

from .outcomes import contact_owned, escalated
from .policy import Policy
from .records import ConflictRow, LeaseRow
from .stores.protocol import Transaction


class Escalation:
    """Counts how often one agent is refused by one and the same lease.

    Args:
        agent: Who is refused.
        policy: After how many refusals a person must decide.
    """

    __slots__ = ("_after", "_agent")

    def __init__(self, agent: str, policy: Policy) -> None:
        self._agent = agent
        self._after = policy.escalate_after

    def _row_key(self, contact: str) -> str:
        return f"{self._agent} {contact}"

    def count(self, tx: Transaction, lease: LeaseRow) -> int:
        """How often `lease` has refused the agent by now, this time included (spec: R2)."""
        row = tx.get(ConflictRow, self._row_key(lease.key))
        count = 1 + (row.count if row and row.token == lease.token else 0)
        tx.put(
            ConflictRow(
                key=self._row_key(lease.key), token=lease.token, count=count, at_ms=tx.now_ms
            )
        )
        return count

    def refuse(self, lease: LeaseRow, count: int) -> Refused:
        """Refuse because of `lease`: `contact_owned`, then `approval_required` (spec: R1, R2)."""
        return escalated(lease, count) if count >= self._after else contact_owned(lease)

    def as_state(self, count: int) -> dict[str, int]:
        """The count and the limit, for the audit log (spec: R3)."""
        return {"conflicts": count, "escalate_after": self._after}

    def forget(self, tx: Transaction, contact: str) -> None:
        """The agent was granted the contact: the conflict is over."""
        tx.delete(ConflictRow, self._row_key(contact))
