"""Without a shared contact load: each agent counts its own messages.

A contact that got one message from each of five agents looks fresh to every one of them (spec: C5).

Caught by `leases.load_counted` or `scenario.expected`. Masked by: one agent that writes to everybody.
"""

from __future__ import annotations

import msgspec

from ..cooldown import Cooldown
from ..parts import Parts
from ..records import TimelineRow
from ..target import ReferenceTarget
from .twin import Twin


class PrivateLoad(Cooldown):
    """Counts what the caller wrote."""

    def load(self, timeline: TimelineRow | None, now_ms: int) -> int:
        if timeline is not None:
            own = tuple(entry for entry in timeline.entries if entry.agent == self._agent)
            timeline = msgspec.structs.replace(timeline, entries=own)
        return super().load(timeline, now_ms)


twin = Twin(
    name="without_shared_load",
    safeguard="the contact load counts every agent's messages",
    caught_by=("leases.load_counted", "scenario.expected"),
    masked_by="one agent that writes to everybody",
    spec=("C5",),
)
target = ReferenceTarget(Parts(cooldown=PrivateLoad), twin.name)
