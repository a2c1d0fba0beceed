"""Without a freed cooldown: what was never sent blocks the contact.

A send that was withdrawn keeps what it had reserved, so everybody waits for the end of a cooldown
that nothing has set (spec: S9).

Caught by `refusals.explained` or `leases.load_counted`. Masked by: a cooldown of 0; sends that leave.
"""

from __future__ import annotations

from ..cooldown import Cooldown
from ..parts import Parts
from ..records import SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class ClingingCooldown(Cooldown):
    """Keeps every reservation."""

    def free(self, tx: Transaction, row: SendRow) -> None:
        """Nothing is freed."""


twin = Twin(
    name="without_freed_cooldown",
    safeguard="proof that no message exists frees the reservation",
    caught_by=("refusals.explained", "leases.load_counted"),
    masked_by="a cooldown of 0; sends that leave",
    spec=("S9",),
)
target = ReferenceTarget(Parts(cooldown=ClingingCooldown), twin.name)
