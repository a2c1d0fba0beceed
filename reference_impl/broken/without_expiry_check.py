"""Without the expiry check: a lease that is over still sends.

The token is compared, the end of the lease is not: as long as nobody else came, a holder may send
hours later (spec: S3).

Caught by `leases.live_at_send`. Masked by: another agent that takes the contact over: then the
token is stale.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..idempotency import Draft
from ..parts import Parts
from ..sending import Seen, Sending
from ..target import ReferenceTarget
from .twin import Twin


class TimelessSending(Sending):
    """Never looks at the end of a lease."""

    def _check_expiry(self, seen: Seen, draft: Draft) -> Refused | None:  # noqa: ARG002
        return None


twin = Twin(
    name="without_expiry_check",
    safeguard="a send needs a lease that is not over",
    caught_by=("leases.live_at_send",),
    masked_by="another agent that takes the contact over: then the token is stale",
    spec=("S3",),
)
target = ReferenceTarget(Parts(sending=TimelessSending), twin.name)
