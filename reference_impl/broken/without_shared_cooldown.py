"""Without a shared cooldown: each agent has its own.

An agent waits after its own messages only, so two agents write to one person within minutes
(spec: C2, S5).

Caught by `cooldown.binds_all` or `cooldown.no_double_contact`. Masked by: a holder that keeps its
lease: then nobody else can write.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..cooldown import Cooldown
from ..parts import Parts
from ..records import Contacted, TimelineRow
from ..target import ReferenceTarget
from .twin import Twin


class PrivateCooldown(Cooldown):
    """Counts the caller's own messages."""

    def entries(self, timeline: TimelineRow | None) -> Iterable[Contacted]:
        return [entry for entry in super().entries(timeline) if entry.agent == self._agent]


twin = Twin(
    name="without_shared_cooldown",
    safeguard="a cooldown binds every agent",
    caught_by=("cooldown.binds_all", "cooldown.no_double_contact"),
    masked_by="a holder that keeps its lease: then nobody else can write",
    spec=("C2", "S5"),
)
target = ReferenceTarget(Parts(cooldown=PrivateCooldown), twin.name)
