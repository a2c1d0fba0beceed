"""Without a reservation: the cooldown begins at the delivery.

Between the check and the delivery nothing tells others that a message is on its way, so agents
that check at once all pass (spec: S9).

Caught by `cooldown.no_double_contact` or `cooldown.binds_all`. Masked by: the lease and its
fence, as long as one holder sends within its lease.
"""

from __future__ import annotations

from leaserace.harness.contract import MessageKind

from ..cooldown import Cooldown
from ..parts import Parts
from ..records import Contacted, SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class LateCooldown(Cooldown):
    """Writes on the timeline what is delivered."""

    def reserve(self, tx: Transaction, row: SendRow, kind: MessageKind) -> None:
        pass

    def confirm(self, tx: Transaction, row: SendRow) -> None:
        entry = Contacted(
            message_id=row.message_id,
            send=row.key,
            agent=row.agent,
            kind=MessageKind.COMMERCIAL,
            at_ms=tx.now_ms,
            confirmed=True,
        )
        self._replace(tx, row.contact, row.message_id, entry)


twin = Twin(
    name="without_cooldown_reservation",
    safeguard="an authorisation reserves the cooldown",
    caught_by=("cooldown.no_double_contact", "cooldown.binds_all"),
    masked_by="the lease and its fence, as long as one holder sends within its lease",
    spec=("S9",),
)
target = ReferenceTarget(Parts(cooldown=LateCooldown), twin.name)
