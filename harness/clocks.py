"""The store's clock, which decides, and the agents' clocks, which only hint (spec: L5)."""

from __future__ import annotations

import time
from typing import Protocol


class _Real:
    """The machine's own functions, kept where `freezegun` does not look.

    It replaces the attributes of modules; attributes of a class stay what they were at import.
    """

    time_ns = staticmethod(time.time_ns)
    monotonic_ns = staticmethod(time.monotonic_ns)


def monotonic_ns() -> int:
    """The history's clock in nanoseconds: system-wide, and real also under a skewed clock."""
    return _Real.monotonic_ns()


class StoreClock(Protocol):
    """The one clock that writes and judges times."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        ...


class AgentClock(Protocol):
    """What an agent believes the time is."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, by this agent."""
        ...


class SystemClock:
    """The machine's clock, taken before any freeze."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return _Real.time_ns() // 1_000_000


class HostClock:
    """The clock of the process it is read in: skewed where `freezegun` skews that process."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, as this process sees it."""
        return time.time_ns() // 1_000_000


class ManualClock:
    """A clock that moves only when told.

    Args:
        now_ms: Where it starts.
    """

    def __init__(self, now_ms: int = 1_800_000_000_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self._now_ms

    def set_ms(self, now_ms: int) -> None:
        """Put it at `now_ms`, forwards or backwards."""
        self._now_ms = now_ms

    def advance_ms(self, by_ms: int) -> None:
        """Move it forwards by `by_ms`."""
        self._now_ms += by_ms


class OffsetClock:
    """An agent's clock in the simulator: another clock, shifted and drifting.

    Args:
        base: The clock it follows.
        offset_ms: How far it is ahead (negative: behind).
        drift: Extra milliseconds per millisecond since it was made, or since `drift_from_now`.
    """

    def __init__(self, base: StoreClock, offset_ms: int = 0, drift: float = 0.0) -> None:
        self._base = base
        self._start_ms = base.now_ms()
        self.offset_ms = offset_ms
        self.drift = drift

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, by this agent."""
        return self.at_ms(self._base.now_ms())

    def at_ms(self, base_ms: int) -> int:
        """What it shows when the clock it follows shows `base_ms`."""
        return base_ms + self.offset_ms + int((base_ms - self._start_ms) * self.drift)

    def drift_from_now(self, drift: float) -> None:
        """Run at another speed from now on; what it shows now stays."""
        now_ms = self._base.now_ms()
        self.offset_ms = self.at_ms(now_ms) - now_ms
        self._start_ms, self.drift = now_ms, drift
