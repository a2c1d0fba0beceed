"""Without a token at release: only the end of the lease is looked at.

Whatever live lease stands there is freed, so the release of a former holder frees the lease of
its successor (spec: L7).

Caught by `leases.release_by_holder` or `leases.one_live` or `refusals.explained`. Masked by:
holders that release in time.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..leases import Leases, Standing
from ..outcomes import not_holder
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class ExpiryOnlyLeases(Leases):
    """Frees what is live, refuses what is over."""

    def _may_release(self, standing: Standing, token: int) -> Refused | None:  # noqa: ARG002
        if standing.lease is None:
            return not_holder(standing.contact, self._agent, None, standing.fence)
        return self.check_expiry(standing, standing.lease.token)


twin = Twin(
    name="without_release_token",
    safeguard="a release is judged by owner and token, not by time alone",
    caught_by=("leases.release_by_holder", "leases.one_live", "refusals.explained"),
    masked_by="holders that release in time",
    spec=("L7",),
)
target = ReferenceTarget(Parts(leases=ExpiryOnlyLeases), twin.name)
