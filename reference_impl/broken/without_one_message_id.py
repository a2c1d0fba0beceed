"""Without one Message-ID: each try makes its own.

A send that was withdrawn and is tried again leaves under another Message-ID, so the receiving
side can't tell the two tries for one message (spec: S8).

Caught by `sends.steps_in_order`. Masked by: first tries that leave.
"""

from __future__ import annotations

from ..idempotency import Draft
from ..outbox import Outbox
from ..parts import Parts
from ..records import SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class RenamingOutbox(Outbox):
    """Numbers the tries of a send."""

    def _message_id(self, tx: Transaction, draft: Draft, earlier: SendRow | None) -> str:
        attempt = earlier.attempt if earlier else 0
        local, _, domain = super()._message_id(tx, draft, None).rpartition("@")
        return f"{local}.{attempt}@{domain}"


twin = Twin(
    name="without_one_message_id",
    safeguard="every try of a send carries the same Message-ID",
    caught_by=("sends.steps_in_order",),
    masked_by="first tries that leave",
    spec=("S8",),
)
target = ReferenceTarget(Parts(outbox=RenamingOutbox), twin.name)
