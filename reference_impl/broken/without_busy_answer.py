"""Without a busy store: an opt-out that could not be written is said to be.

The store's lock was not had in time, nothing was written, and the answer says that it was (spec:
C3, R).

Caught by `suppression.wins`. Masked by: a store that is never busy.
"""

from __future__ import annotations

from leaserace.harness.contract import Code, Noted, Refused

from ..mailbox import ReferenceMailbox
from ..target import ReferenceTarget
from .twin import Twin


class HopefulMailbox(ReferenceMailbox):
    """Believes that an opt-out is always noted."""

    def suppress(
        self, address: str, reason: str, event_at_ms: int | None = None
    ) -> Noted | Refused:
        """Put the contact on the list, or say so."""
        answer = super().suppress(address, reason, event_at_ms)
        if isinstance(answer, Refused) and answer.code is Code.STORE_BUSY:
            return Noted(at_ms=self._store.now_ms())
        return answer


class HopefulTarget(ReferenceTarget):
    """Gives each agent such a mailbox."""

    mailbox = HopefulMailbox


twin = Twin(
    name="without_busy_answer",
    safeguard="a busy store is told, and nothing counts as done",
    caught_by=("suppression.wins",),
    masked_by="a store that is never busy",
    spec=("C3", "R"),
)
target = HopefulTarget(name=twin.name)
