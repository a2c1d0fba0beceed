"""Without an atomic acquire: select, then insert.

The lease is read in one transaction and granted in another, so two agents that read before either
wrote are both granted (spec: L3).

Caught by `leases.one_live`. Masked by: the fence, which stops the first holder's send but not its
work.
"""

from __future__ import annotations

from leaserace.harness.contract import Lease, Refused
from leaserace.harness.points import point

from ..leases import Leases
from ..parts import Parts
from ..policy import Situation
from ..target import ReferenceTarget
from .twin import Twin


class SelectThenInsertLeases(Leases):
    """Decides on what it read before."""

    def acquire(self, contact: str, situation: Situation = Situation.DRAFTING) -> Lease | Refused:
        """Claim the contact."""
        with self._store.transaction(self._deadline_s) as tx:
            standing = self.read(tx, contact)
        point("acquire.read", contact)
        with self._store.transaction(self._deadline_s) as tx:
            answer = self._grant_or_refuse(tx, standing, situation)
        if isinstance(answer, Lease):
            point("acquire.granted", contact)
            point("acquire.committed", contact)
        return answer


twin = Twin(
    name="without_atomic_acquire",
    safeguard="reading and granting a lease are one step",
    caught_by=("leases.one_live",),
    masked_by="the fence, which stops the first holder's send but not its work",
    spec=("L3",),
)
target = ReferenceTarget(Parts(leases=SelectThenInsertLeases), twin.name)
