"""Without a lasting token: a renewal changes it.

The token counts renewals as well as grants, so a holder's own drafts become stale and a token no
longer stands for one grant (spec: L6).

Caught by `leases.renewal_holds`. Masked by: holders that use the answer of their last renewal.
"""

from __future__ import annotations

import msgspec

from leaserace.harness.contract import Lease

from ..leases import Leases, Standing
from ..parts import Parts
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class CountingLeases(Leases):
    """Issues a token at each renewal."""

    def _extend(self, tx: Transaction, standing: Standing) -> Lease:
        assert standing.lease is not None
        token = self._next_token(tx, standing)
        lease = msgspec.structs.replace(standing.lease, token=token)
        return super()._extend(tx, standing._replace(lease=lease))


twin = Twin(
    name="without_token_kept_at_renewal",
    safeguard="a renewal keeps the token",
    caught_by=("leases.renewal_holds",),
    masked_by="holders that use the answer of their last renewal",
    spec=("L6",),
)
target = ReferenceTarget(Parts(leases=CountingLeases), twin.name)
