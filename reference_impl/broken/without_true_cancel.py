"""Without a true answer to a cancellation: it always says that it won.

The send goes on: what was cancelled is delivered, and "sent" is written over "cancelled" (spec: X17,
S8).

Caught by `cancels.truthful`. Masked by: cancellations that come before anything was recorded and are
never followed by their send.
"""

from __future__ import annotations

from leaserace.harness.contract import Found, SendState

from ..cancelling import Cancelling
from ..parts import Parts
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class HopefulCancelling(Cancelling):
    """Says yes, and changes nothing."""

    def _decide(self, tx: Transaction, key: str) -> Found:
        self._note(tx, key, None, "asked")
        return Found(state=SendState.CANCELLED)


twin = Twin(
    name="without_true_cancel",
    safeguard="a cancellation says what became of the send",
    caught_by=("cancels.truthful",),
    masked_by="cancellations that come before anything was recorded and are never followed by their send",
    spec=("X17", "S8"),
)
target = ReferenceTarget(Parts(cancelling=HopefulCancelling), twin.name)
