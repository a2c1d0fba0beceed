"""Without a retry after a sure refusal: it counts as unknown.

A send that was surely never handed over keeps its key for ever, and each retry is told that its
outcome is not known (spec: S9, K2).

Caught by `refusals.explained`. Masked by: a transport that does not answer.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused, SendState, Sent

from ..idempotency import Draft, Keys
from ..outcomes import send_unknown
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class StubbornKeys(Keys):
    """Takes withdrawn for unknown."""

    def answer(self, row: SendRow, draft: Draft) -> Sent | Refused | None:
        """What a further try is told."""
        if row.state is SendState.WITHDRAWN and self._same_payload(row, draft):
            return send_unknown(row)
        return super().answer(row, draft)


twin = Twin(
    name="without_retry_after_refusal",
    safeguard="a withdrawn send may be tried again",
    caught_by=("refusals.explained",),
    masked_by="a transport that does not answer",
    spec=("S9", "K2"),
)
target = ReferenceTarget(Parts(keys=StubbornKeys), twin.name)
