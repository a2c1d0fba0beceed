"""Without a look at the attempt: a worker that was given up goes on.

A try that took too long was withdrawn, perhaps tried again, and its worker wakes up and hands the
message over all the same (spec: S8, K10).

Caught by `sends.steps_in_order` or `sends.once`. Masked by: a cooldown; workers that never stand
still between two steps.
"""

from __future__ import annotations

from ..outbox import Outbox
from ..parts import Parts
from ..records import SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class HeedlessOutbox(Outbox):
    """Takes any record of its key for its own."""

    def still_mine(self, tx: Transaction, row: SendRow) -> SendRow | None:
        """The record, wherever it stands."""
        return tx.get(SendRow, row.key)


twin = Twin(
    name="without_attempt_check",
    safeguard="a worker goes on only with its own attempt, while it stands",
    caught_by=("sends.steps_in_order", "sends.once"),
    masked_by="a cooldown; workers that never stand still between two steps",
    spec=("S8", "K10"),
)
target = ReferenceTarget(Parts(outbox=HeedlessOutbox), twin.name)
