"""Without suppression before the release: the opt-out is written afterwards.

An opt-out is noted by the agent and reaches the list when the agent next releases a lease; until
then everybody may write (spec: C3).

Caught by `suppression.wins`. Masked by: nobody who wants to write before the agent is done.
"""

from __future__ import annotations

from leaserace.harness.contract import Noted, Refused, Released

from ..mailbox import ReferenceMailbox
from ..target import ReferenceTarget
from .twin import Twin


class TidyingMailbox(ReferenceMailbox):
    """Keeps opt-outs until its work on a contact is done."""

    put_off: tuple[tuple[str, str, int | None], ...] = ()

    def suppress(
        self, address: str, reason: str, event_at_ms: int | None = None
    ) -> Noted | Refused:
        self.put_off += ((address, reason, event_at_ms),)
        return Noted(at_ms=self._store.now_ms())

    def release(self, address: str, token: int) -> Released | Refused:
        answer = super().release(address, token)
        kept, self.put_off = self.put_off, ()
        for opt_out in kept:
            super().suppress(*opt_out)
        return answer


class TidyingTarget(ReferenceTarget):
    """Gives each agent such a mailbox."""

    mailbox = TidyingMailbox


twin = Twin(
    name="without_suppression_before_release",
    safeguard="an opt-out is on the list before any lease is released",
    caught_by=("suppression.wins",),
    masked_by="nobody who wants to write before the agent is done",
    spec=("C3",),
)
target = TidyingTarget(name=twin.name)
