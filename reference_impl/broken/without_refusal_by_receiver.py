"""Without the receiving side's refusal: it counts as taken.

The receiving side refused the message for certain, and the agent is told that it was sent (spec:
S8, R).

Caught by `sends.arrived`. Masked by: a receiving side that takes everything.
"""

from __future__ import annotations

from leaserace.harness.contract import SendState

from ..idempotency import Draft
from ..parts import Parts
from ..records import SendRow
from ..sending import Sending
from ..target import ReferenceTarget
from .twin import Twin


class CheerfulSending(Sending):
    """Takes "no" for "yes"."""

    def _hand_over(self, draft: Draft, row: SendRow) -> tuple[SendState, str]:
        state, why = super()._hand_over(draft, row)
        return (SendState.DELIVERED if state is SendState.WITHDRAWN else state), why


twin = Twin(
    name="without_refusal_by_receiver",
    safeguard="a refusal of the receiving side is told as one",
    caught_by=("sends.arrived",),
    masked_by="a receiving side that takes everything",
    spec=("S8", "R"),
)
target = ReferenceTarget(Parts(sending=CheerfulSending), twin.name)
