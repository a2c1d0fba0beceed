"""Virtual time: the one clock of a simulated run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..clocks import ManualClock

if TYPE_CHECKING:
    from .world import World

EPOCH_MS = 1_800_000_000_000
"""Where the store's clock starts in every run."""


class VirtualClock(ManualClock):
    """The store's clock; a reading counts as something shared, for it depends on when it is taken.

    Args:
        world: The run.
    """

    def __init__(self, world: World) -> None:
        super().__init__(EPOCH_MS)
        self._world = world

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        task = self._world.current
        if task is not None:
            task.stepped = True
        return self._now_ms

    def peek_ms(self) -> int:
        """The same, for the simulator's own use."""
        return self._now_ms
