"""Without a cooldown after an unknown outcome: it is freed at once.

A message that may have been taken sets no cooldown, so the next agent writes to somebody who has
just got mail (spec: S9, K10).

Caught by `cooldown.no_double_contact` or `cooldown.binds_all`. Masked by: a transport that always
answers; a holder that keeps its lease.
"""

from __future__ import annotations

from leaserace.harness.contract import SendState

from ..outbox import Outbox
from ..parts import Parts
from ..records import SendRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class HastyOutbox(Outbox):
    """Frees what is not known to be delivered."""

    def settle(self, tx: Transaction, row: SendRow, state: SendState, why: str = "") -> SendRow:
        """Record the outcome."""
        settled = super().settle(tx, row, state, why)
        if state is SendState.UNKNOWN:
            self._cooldown.free(tx, settled)
        return settled


twin = Twin(
    name="without_cooldown_after_unknown",
    safeguard="only proof that no message exists frees a reservation",
    caught_by=("cooldown.no_double_contact", "cooldown.binds_all"),
    masked_by="a transport that always answers; a holder that keeps its lease",
    spec=("S9", "K10"),
)
target = ReferenceTarget(Parts(outbox=HastyOutbox), twin.name)
