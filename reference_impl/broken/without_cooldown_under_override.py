"""Without the cooldown under an override: it is erased.

The override takes the contact's timeline away instead of skipping it once, so the message that
used it sets no cooldown either (spec: C4, C2).

Caught by `cooldown.binds_all`. Masked by: one message after an override; a cooldown of 0.
"""

from __future__ import annotations

from ..cooldown import Cooldown
from ..parts import Parts
from ..records import TimelineRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class ErasingCooldown(Cooldown):
    """Erases what an override skips."""

    def use_override(self, tx: Transaction, contact: str) -> None:
        """It was for one send, and the timeline goes with it."""
        super().use_override(tx, contact)
        tx.delete(TimelineRow, contact)


twin = Twin(
    name="without_cooldown_under_override",
    safeguard="an override skips the cooldown and leaves it as it is",
    caught_by=("cooldown.binds_all",),
    masked_by="one message after an override; a cooldown of 0",
    spec=("C4", "C2"),
)
target = ReferenceTarget(Parts(cooldown=ErasingCooldown), twin.name)
