"""Without the store's clock: each agent's own clock writes and judges times.

A host that is an hour ahead takes every live lease for over; one that is behind keeps its own for
ever (spec: L5).

Caught by `clock.store_decides`. Masked by: hosts whose clocks agree.
"""

from __future__ import annotations

from leaserace.harness.contract import AgentContext

from ..stores.protocol import Store
from ..target import ReferenceTarget
from .twin import Twin


class AgentClockTarget(ReferenceTarget):
    """Gives each mailbox the clock of its agent."""

    def store_for(self, agent: AgentContext) -> Store:
        return super().store_for(agent).on_clock(agent.clock)


twin = Twin(
    name="without_store_clock",
    safeguard="the store alone writes and judges times",
    caught_by=("clock.store_decides",),
    masked_by="hosts whose clocks agree",
    spec=("L5",),
)
target = AgentClockTarget(name=twin.name)
