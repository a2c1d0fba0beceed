"""Without the key after a failure: an error after the hand-over frees it.

A hand-over that was not answered counts as failed and its record is removed, so the retry runs as
if it were the first (spec: K10).

Caught by `sends.once` or `sends.steps_in_order`. Masked by: a cooldown; a transport that always
answers.
"""

from __future__ import annotations

from leaserace.harness.contract import SendState

from ..outbox import Outbox
from ..parts import Parts
from ..records import SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class ErasingOutbox(Outbox):
    """Removes the record of a send nobody answered."""

    def _write(self, tx: Transaction, row: SendRow) -> None:
        if row.state is SendState.UNKNOWN:
            tx.delete(SendRow, row.key)
        else:
            super()._write(tx, row)


twin = Twin(
    name="without_key_after_failure",
    safeguard="a failure after the hand-over keeps its key",
    caught_by=("sends.once", "sends.steps_in_order"),
    masked_by="a cooldown; a transport that always answers",
    spec=("K10",),
)
target = ReferenceTarget(Parts(outbox=ErasingOutbox), twin.name)
