"""Without the fencing check: any token will do at the send.

The send asks whether the stored lease is over, never whether it is the lease the caller was
granted, so a holder that slept past its lease sends under its successor's (spec: S3).

Caught by `tokens.stale_never_sends`. Masked by: a cooldown set by the new holder, a reused key, a
suppression.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..idempotency import Draft
from ..parts import Parts
from ..sending import Seen, Sending
from ..target import ReferenceTarget
from .twin import Twin


class UnfencedSending(Sending):
    """Compares no token."""

    def _check_fence(self, seen: Seen, draft: Draft) -> Refused | None:  # noqa: ARG002
        return None


twin = Twin(
    name="without_fencing_check",
    safeguard="a send is judged by its fencing token",
    caught_by=("tokens.stale_never_sends",),
    masked_by="a cooldown set by the new holder, a reused key, a suppression",
    spec=("S3", "S6", "S8"),
)
target = ReferenceTarget(Parts(sending=UnfencedSending), twin.name)
