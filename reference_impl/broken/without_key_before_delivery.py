"""Without a record before the delivery: the key is written once the transport answered.

Nothing is known of a message that was handed over and not answered, nor of one whose worker
crashed, so the retry sends it again (spec: K2, K10, S8).

Caught by `sends.once` or `sends.steps_in_order`. Masked by: a cooldown, a transport that always
answers, workers that never crash.
"""

from __future__ import annotations

from leaserace.harness.contract import SendState

from ..outbox import Outbox
from ..parts import Parts
from ..records import SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class AfterwardsOutbox(Outbox):
    """Writes a record only when the message is delivered."""

    def _write(self, tx: Transaction, row: SendRow) -> None:
        if row.state is SendState.DELIVERED:
            super()._write(tx, row)

    def still_mine(self, tx: Transaction, row: SendRow) -> SendRow | None:  # noqa: ARG002
        """There is no record to compare with."""
        return row


twin = Twin(
    name="without_key_before_delivery",
    safeguard="the send is recorded before it is handed over",
    caught_by=("sends.once", "sends.steps_in_order"),
    masked_by="a cooldown, a transport that always answers, workers that never crash",
    spec=("K2", "K10", "S8"),
)
target = ReferenceTarget(Parts(outbox=AfterwardsOutbox), twin.name)
