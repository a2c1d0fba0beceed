"""Without an end of the override: it is never used up.

A person let one message skip the cooldown, and from then on every message does (spec: C4).

Caught by `cooldown.binds_all`. Masked by: one message after an override; a cooldown of 0.
"""

from __future__ import annotations

from ..cooldown import Cooldown
from ..parts import Parts
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class LastingCooldown(Cooldown):
    """Keeps a person's leave."""

    def use_override(self, tx: Transaction, contact: str) -> None:
        """It stays."""


twin = Twin(
    name="without_end_of_override",
    safeguard="an override is for one send",
    caught_by=("cooldown.binds_all",),
    masked_by="one message after an override; a cooldown of 0",
    spec=("C4",),
)
target = ReferenceTarget(Parts(cooldown=LastingCooldown), twin.name)
