"""Without the order of events: a late one undoes a newer one.

Events come at least once: here a clearance comes a second time, with the time at which the person
decided, and takes off the list what was put there since (spec: C7). With its safeguard the reference
takes no harm from that.

Caught by `suppression.wins`. Masked by: events that come once and in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from leaserace.harness.contract import Noted, Refused

from ..mailbox import ReferenceMailbox
from ..parts import Parts
from ..records import Cause, SuppressionRow
from ..suppression import Suppression
from ..target import ReferenceTarget
from .twin import Twin

Result = TypeVar("Result")


class ArrivalOrderSuppression(Suppression):
    """Takes events in the order they arrive."""

    def _is_late(self, row: SuppressionRow, event_at_ms: int) -> bool:  # noqa: ARG002
        return False

    def _is_newer(self, cause: Cause, event_at_ms: int) -> bool:  # noqa: ARG002
        return False


class AtLeastOnceMailbox(ReferenceMailbox):
    """Is told of each clearance once more before its next call."""

    again: tuple[tuple[str, str, int], ...] = ()

    def unsuppress(
        self, address: str, person: str, event_at_ms: int | None = None
    ) -> Noted | Refused:
        answer = super().unsuppress(address, person, event_at_ms)
        if isinstance(answer, Noted) and event_at_ms is None:
            self.again += ((address, person, answer.at_ms),)
        return answer

    def _answered(self, event: str, action: Callable[[], Result]) -> Result | Refused:
        again, self.again = self.again, ()
        for address, person, at_ms in again:
            self.unsuppress(address, person, at_ms)
        return super()._answered(event, action)


class AtLeastOnceTarget(ReferenceTarget):
    """Gives each agent such a mailbox."""

    mailbox = AtLeastOnceMailbox


twin = Twin(
    name="without_event_order",
    safeguard="an older event never undoes a newer one",
    caught_by=("suppression.wins",),
    masked_by="events that come once and in order",
    spec=("C7",),
)
target = AtLeastOnceTarget(Parts(suppression=ArrivalOrderSuppression), twin.name)
