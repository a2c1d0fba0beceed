"""Without a shared halt: only the agent that was told of the bounce stops.

Each agent's breaker is its own, so the others go on sending while one is halted (spec: O5).

Caught by `sends.halted`. Masked by: one agent that sends everything.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..budgets import Breaker
from ..parts import Parts
from ..policy import Policy
from ..records import HaltRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class OwnBreaker(Breaker):
    """Minds what its own agent told it."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._told = False

    def failed(self, tx: Transaction, reason: str, event_at_ms: int) -> None:
        """Count a bounce or complaint."""
        super().failed(tx, reason, event_at_ms)
        self._told = True

    def check(self, halt: HaltRow | None) -> Refused | None:
        """Refuse while its own agent is halted."""
        return super().check(halt) if self._told else None


twin = Twin(
    name="without_shared_halt",
    safeguard="the circuit breaker halts every agent",
    caught_by=("sends.halted",),
    masked_by="one agent that sends everything",
    spec=("O5",),
)
target = ReferenceTarget(Parts(breaker=OwnBreaker), twin.name)
