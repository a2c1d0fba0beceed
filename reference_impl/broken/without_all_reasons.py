"""Without all reasons: the log names one refusal of several.

Once the reason that was told is gone, nobody knows that another one held as well (spec: S7, R3).

Caught by `audit.refusal_has_state`. Masked by: sends that only one thing refuses.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Refused

from ..idempotency import Draft
from ..outcomes import strongest
from ..parts import Parts
from ..records import SendRow
from ..sending import Seen, Sending
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class CurtSending(Sending):
    """Forgets the weaker refusals."""

    def _record(
        self, tx: Transaction, draft: Draft, seen: Seen, refusals: list[Refused]
    ) -> SendRow | Refused:
        if refusals:
            told = strongest(refusals)
            refusals = [replace(told, reasons=(told.code,))]
        return super()._record(tx, draft, seen, refusals)


twin = Twin(
    name="without_all_reasons",
    safeguard="a refusal names every reason that held",
    caught_by=("audit.refusal_has_state",),
    masked_by="sends that only one thing refuses",
    spec=("S7", "R3"),
)
target = ReferenceTarget(Parts(sending=CurtSending), twin.name)
