"""Without the list at the send: it was read when the lease was granted.

What went on the list during the lease is not seen, so the agent writes to a person who has just
opted out (spec: C1, S4).

Caught by `suppression.wins`. Masked by: an opt-out that comes before the lease.
"""

from __future__ import annotations

from typing import Any

from leaserace.harness.contract import Lease

from ..idempotency import Draft
from ..leases import Leases, Standing
from ..parts import Parts
from ..policy import Situation
from ..records import SuppressionRow
from ..sending import Seen, Sending
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class ListReadingLeases(Leases):
    """Remembers how the list stood at the grant."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._listed: dict[str, SuppressionRow | None] = {}

    def _grant(self, tx: Transaction, standing: Standing, situation: Situation) -> Lease:
        self._listed[standing.contact] = tx.get(SuppressionRow, standing.contact)
        return super()._grant(tx, standing, situation)

    def listed_at_grant(self, contact: str) -> SuppressionRow | None:
        """The contact's entry as it was then."""
        row = self._listed.get(contact)
        return row if row is not None and row.causes else None


class TrustingSending(Sending):
    """Judges by the remembered list."""

    _leases: ListReadingLeases

    def _look(self, tx: Transaction, draft: Draft) -> Seen:
        seen = super()._look(tx, draft)
        return seen._replace(suppression=self._leases.listed_at_grant(draft.contact))


twin = Twin(
    name="without_suppression_at_send",
    safeguard="the suppression list is read at the send",
    caught_by=("suppression.wins",),
    masked_by="an opt-out that comes before the lease",
    spec=("C1", "S4"),
)
target = ReferenceTarget(Parts(leases=ListReadingLeases, sending=TrustingSending), twin.name)
