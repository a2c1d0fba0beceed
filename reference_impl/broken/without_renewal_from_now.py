"""Without now in a renewal: the new end is computed from the acquisition.

A renewal says yes and extends nothing, so the holder works on under a lease that ends when it
always did (spec: L6).

Caught by `leases.renewal_holds` or `clock.store_decides`. Masked by: holders that are done before
their first lease ends.
"""

from __future__ import annotations

import msgspec

from ..leases import Leases
from ..parts import Parts
from ..records import LeaseRow
from ..target import ReferenceTarget
from .twin import Twin


class StandingStillLeases(Leases):
    """Adds the length to the time of the grant."""

    def _renewed(self, lease: LeaseRow, now_ms: int) -> LeaseRow:  # noqa: ARG002
        return msgspec.structs.replace(lease, expires_at_ms=lease.acquired_at_ms + lease.length_ms)


twin = Twin(
    name="without_renewal_from_now",
    safeguard="a renewal extends from the store's now",
    caught_by=("leases.renewal_holds", "clock.store_decides"),
    masked_by="holders that are done before their first lease ends",
    spec=("L6",),
)
target = ReferenceTarget(Parts(leases=StandingStillLeases), twin.name)
