"""Without a lasting counter: tokens restart once a lease is removed.

The next token is counted from the lease that is stored, and a released lease is not stored, so an
old token is as good as a new one (spec: L4).

Caught by `tokens.rise`. Masked by: leases that expire and are never released.
"""

from __future__ import annotations

from ..leases import Leases, Standing
from ..parts import Parts
from ..records import FenceRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class RestartingLeases(Leases):
    """Counts from the stored lease."""

    def _next_token(self, tx: Transaction, standing: Standing) -> int:
        token = 1 + (standing.lease.token if standing.lease else 0)
        tx.put(FenceRow(key=standing.contact, token=token))
        return token


twin = Twin(
    name="without_lasting_counter",
    safeguard="the token counter outlives the lease",
    caught_by=("tokens.rise",),
    masked_by="leases that expire and are never released",
    spec=("L4",),
)
target = ReferenceTarget(Parts(leases=RestartingLeases), twin.name)
