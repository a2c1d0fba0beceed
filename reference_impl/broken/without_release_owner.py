"""Without an owner at release: anybody frees anybody's lease.

Whoever asks, the lease on the contact is removed, so a late release frees the lease of the
successor (spec: L7).

Caught by `leases.release_by_holder` or `leases.one_live` or `refusals.explained`. Masked by:
agents that release once and in time.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..leases import Leases, Standing
from ..outcomes import not_holder
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class OpenReleaseLeases(Leases):
    """Releases for anybody."""

    def _may_release(self, standing: Standing, token: int) -> Refused | None:  # noqa: ARG002
        if standing.lease is None:
            return not_holder(standing.contact, self._agent, None, standing.fence)
        return None


twin = Twin(
    name="without_release_owner",
    safeguard="only the current holder can release",
    caught_by=("leases.release_by_holder", "leases.one_live", "refusals.explained"),
    masked_by="agents that release once and in time",
    spec=("L7",),
)
target = ReferenceTarget(Parts(leases=OpenReleaseLeases), twin.name)
