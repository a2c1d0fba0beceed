"""Without protection of a claim: the loser deletes the winner's.

An agent that is refused the contact cleans up after itself and takes the lease of the winner with
it (spec: L3, L7).

Caught by `leases.one_live` or `leases.release_by_holder` or `refusals.explained`. Masked by:
losers that ask once and go away.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..leases import Leases, Standing
from ..parts import Parts
from ..records import LeaseRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class SweepingLeases(Leases):
    """Removes the lease after a refused claim."""

    def _conflict(self, tx: Transaction, standing: Standing, lease: LeaseRow) -> Refused:
        refused = super()._conflict(tx, standing, lease)
        tx.delete(LeaseRow, standing.contact)
        return refused


twin = Twin(
    name="without_claim_protection",
    safeguard="a refused claim leaves the winner's alone",
    caught_by=("leases.one_live", "leases.release_by_holder", "refusals.explained"),
    masked_by="losers that ask once and go away",
    spec=("L3", "L7"),
)
target = ReferenceTarget(Parts(leases=SweepingLeases), twin.name)
