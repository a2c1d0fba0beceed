"""Without a delivery: it says sent and sends nothing.

Every check holds, every answer is right, and no mail ever leaves (spec: S8).

Caught by `sends.arrived`. Masked by: looking for duplicates only: there are none.
"""

from __future__ import annotations

from leaserace.harness.contract import SendState

from ..idempotency import Draft
from ..parts import Parts
from ..records import SendRow
from ..sending import Sending
from ..target import ReferenceTarget
from .twin import Twin


class SilentSending(Sending):
    """Never calls the transport."""

    def _hand_over(self, draft: Draft, row: SendRow) -> tuple[SendState, str]:  # noqa: ARG002
        return SendState.DELIVERED, ""


twin = Twin(
    name="without_delivery",
    safeguard="an acknowledged message is handed over",
    caught_by=("sends.arrived",),
    masked_by="looking for duplicates only: there are none",
    spec=("S8",),
)
target = ReferenceTarget(Parts(sending=SilentSending), twin.name)
