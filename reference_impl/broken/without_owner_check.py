"""Without an owner: the token alone opens the lease.

An agent that knows the token of another, from a log or a shared draft, acts under a lease it was
never granted (spec: S3, O7).

Caught by `leases.live_at_send` or `leases.release_by_holder` or `leases.renewal_holds`. Masked
by: agents that never see a token of another.
"""

from __future__ import annotations

from ..leases import Leases
from ..parts import Parts
from ..records import LeaseRow
from ..target import ReferenceTarget
from .twin import Twin


class BearerLeases(Leases):
    """Takes the token for a credential."""

    def _owns(self, lease: LeaseRow | None, token: int | None) -> bool:
        return lease is not None and lease.token == token


twin = Twin(
    name="without_owner_check",
    safeguard="a lease is its owner's, whoever knows the token",
    caught_by=("leases.live_at_send", "leases.release_by_holder", "leases.renewal_holds"),
    masked_by="agents that never see a token of another",
    spec=("S3", "O7"),
)
target = ReferenceTarget(Parts(leases=BearerLeases), twin.name)
