"""Without an end of a dead try: its key stays claimed for ever.

A worker died between authorisation and hand-over, and every retry is told that the send is still
under way (spec: S8, S9).

Caught by `scenario.expected`. Masked by: workers that never die.
"""

from __future__ import annotations

from ..outbox import Outbox
from ..parts import Parts
from ..records import SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class PatientOutbox(Outbox):
    """Waits for every worker to come back."""

    def settle_overdue(self, tx: Transaction, row: SendRow) -> SendRow:  # noqa: ARG002
        """The record, however long it stands."""
        return row


twin = Twin(
    name="without_end_of_claims",
    safeguard="a try whose worker is gone is settled at its deadline",
    caught_by=("scenario.expected",),
    masked_by="workers that never die",
    spec=("S8", "S9"),
)
target = ReferenceTarget(Parts(outbox=PatientOutbox), twin.name)
