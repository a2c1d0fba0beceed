"""Without the order of events: a late one undoes a newer one.

A bounce from before a person cleared the contact arrives afterwards and puts the contact back on
the list (spec: C7).

Caught by `scenario.expected`. Masked by: counting mail: too little is sent, not too much.
"""

from __future__ import annotations

from ..mailbox import Parts
from ..records import SuppressionRow
from ..suppression import Suppression
from ..target import ReferenceTarget
from .twin import Twin


class ArrivalOrderSuppression(Suppression):
    """Takes events in the order they arrive."""

    def _is_late(self, row: SuppressionRow, event_at_ms: int) -> bool:  # noqa: ARG002
        return False


twin = Twin(
    name="without_event_order",
    safeguard="an older event never undoes a newer one",
    caught_by=("scenario.expected",),
    masked_by="counting mail: too little is sent, not too much",
    spec=("C7",),
)
target = ReferenceTarget(Parts(suppression=ArrivalOrderSuppression), twin.name)
