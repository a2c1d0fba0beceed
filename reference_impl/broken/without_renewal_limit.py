"""Without a limit to renewal: a lease that is over is revived.

The former holder renews after the end of its lease and goes on as if nothing had happened,
although it ran none of its checks again (spec: L6).

Caught by `leases.renewal_holds`. Masked by: another agent that takes the contact over: then the
token is stale.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..leases import Leases, Standing
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class RevivingLeases(Leases):
    """Renews whenever the token matches."""

    def _may_renew(self, standing: Standing, token: int) -> Refused | None:
        return self.check_fence(standing, token)


twin = Twin(
    name="without_renewal_limit",
    safeguard="only a live lease can be renewed",
    caught_by=("leases.renewal_holds",),
    masked_by="another agent that takes the contact over: then the token is stale",
    spec=("L6",),
)
target = ReferenceTarget(Parts(leases=RevivingLeases), twin.name)
