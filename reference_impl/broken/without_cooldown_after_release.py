"""Without a cooldown after the release: it goes with the lease.

The cooldown is part of the lease and is cleared with it, so the next holder writes at once (spec:
C2, S5).

Caught by `cooldown.binds_all` or `cooldown.no_double_contact`. Masked by: a holder that keeps its
lease: then nobody else can write.
"""

from __future__ import annotations

from ..leases import Leases, Standing
from ..parts import Parts
from ..records import TimelineRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class ForgetfulLeases(Leases):
    """Takes the timeline away with the lease."""

    def _free(self, tx: Transaction, standing: Standing, token: int) -> None:
        super()._free(tx, standing, token)
        tx.delete(TimelineRow, standing.contact)


twin = Twin(
    name="without_cooldown_after_release",
    safeguard="a cooldown outlives the lease",
    caught_by=("cooldown.binds_all", "cooldown.no_double_contact"),
    masked_by="a holder that keeps its lease: then nobody else can write",
    spec=("C2", "S5"),
)
target = ReferenceTarget(Parts(leases=ForgetfulLeases), twin.name)
