"""Without the strongest refusal: the weakest is told.

An agent that is told of a cooldown waits for its end and tries again, although the person has
opted out (spec: S7, C1).

Caught by `audit.refusal_has_state`. Masked by: sends that only one thing refuses.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Refused

from ..idempotency import Draft
from ..outcomes import STRENGTH, strongest
from ..parts import Parts
from ..records import SendRow
from ..sending import Seen, Sending
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class SoftSending(Sending):
    """Tells what is easiest to wait for."""

    def _record(
        self, tx: Transaction, draft: Draft, seen: Seen, refusals: list[Refused]
    ) -> SendRow | Refused:
        if refusals:
            weakest = max(refusals, key=lambda refused: STRENGTH.index(refused.code))
            refusals = [replace(weakest, reasons=strongest(refusals).reasons)]
        return super()._record(tx, draft, seen, refusals)


twin = Twin(
    name="without_strongest_refusal",
    safeguard="of several refusals the strongest is told",
    caught_by=("audit.refusal_has_state",),
    masked_by="sends that only one thing refuses",
    spec=("S7", "C1"),
)
target = ReferenceTarget(Parts(sending=SoftSending), twin.name)
