"""Without the load at a renewal: the count of the grant is told again.

A renewal tells the contact load as it was when the lease was granted, so the holder does not see
what was sent since (spec: C5).

Caught by `leases.load_counted` or `scenario.expected`. Masked by: holders that ask anew instead of renewing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from leaserace.harness.contract import Lease

from ..leases import Leases, Standing
from ..parts import Parts
from ..policy import Situation
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class RememberingLeases(Leases):
    """Counts once, at the grant."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._loads: dict[int, int | None] = {}

    def _grant(self, tx: Transaction, standing: Standing, situation: Situation) -> Lease:
        lease = super()._grant(tx, standing, situation)
        self._loads[lease.token] = lease.contact_load
        return lease

    def _extend(self, tx: Transaction, standing: Standing) -> Lease:
        lease = super()._extend(tx, standing)
        return replace(lease, contact_load=self._loads.get(lease.token, lease.contact_load))


twin = Twin(
    name="without_load_at_renewal",
    safeguard="the contact load is read before each renewal",
    caught_by=("leases.load_counted", "scenario.expected"),
    masked_by="holders that ask anew instead of renewing",
    spec=("C5",),
)
target = ReferenceTarget(Parts(leases=RememberingLeases), twin.name)
