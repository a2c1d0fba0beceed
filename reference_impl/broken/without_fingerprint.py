"""Without a fingerprint: a key answers for any payload.

A second message under the same key is answered as if it were the first, and never leaves (spec:
K4).

Caught by `keys.payload_bound`. Masked by: callers that never use a key twice.
"""

from __future__ import annotations

from ..idempotency import Draft, Keys
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class PayloadBlindKeys(Keys):
    """Compares no payload."""

    def _same_payload(self, row: SendRow, draft: Draft) -> bool:  # noqa: ARG002
        return True


twin = Twin(
    name="without_fingerprint",
    safeguard="a key is bound to its payload",
    caught_by=("keys.payload_bound",),
    masked_by="callers that never use a key twice",
    spec=("K4",),
)
target = ReferenceTarget(Parts(keys=PayloadBlindKeys), twin.name)
