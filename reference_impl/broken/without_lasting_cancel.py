"""Without a lasting cancellation: the send under way is withdrawn, its key may be tried again.

A retry, or a send that comes after its cancellation, is delivered all the same (spec: X17).

Caught by `cancels.truthful`. Masked by: agents that give up after their first refusal.
"""

from __future__ import annotations

from ..cancelling import Cancelling
from ..parts import Parts
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class OneTryCancelling(Cancelling):
    """Keeps no mark."""

    def _mark(self, tx: Transaction, key: str) -> None:
        pass


twin = Twin(
    name="without_lasting_cancel",
    safeguard="what was cancelled is never sent later",
    caught_by=("cancels.truthful",),
    masked_by="agents that give up after their first refusal",
    spec=("X17",),
)
target = ReferenceTarget(Parts(cancelling=OneTryCancelling), twin.name)
