"""How many different things were seen, in a fixed amount of memory (k minimum values)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

SIZE = 512
_SPACE = 1 << 62


class Sketch:
    """Keeps the smallest hashes; how close they lie says how many there were.

    Exact up to its size, then within a few percent.

    Args:
        kept: What another sketch kept.
    """

    __slots__ = ("_heap", "_set")

    def __init__(self, kept: Iterable[int] = ()) -> None:
        self._set: set[int] = set()
        self._heap: list[int] = []
        self.merge(kept)

    def add(self, number: int) -> None:
        """One more thing, by its hash."""
        self._put(_mixed(number))

    def _put(self, value: int) -> None:
        if value in self._set:
            return
        heap = self._heap
        if len(heap) < SIZE:
            heapq.heappush(heap, -value)
        elif value < -heap[0]:
            self._set.discard(-heapq.heapreplace(heap, -value))
        else:
            return
        self._set.add(value)

    def merge(self, kept: Iterable[int]) -> None:
        """Take another sketch in."""
        for value in kept:
            self._put(value)

    def kept(self) -> list[int]:
        """What is kept, for another sketch."""
        return sorted(self._set)

    def estimate(self) -> int:
        """About how many different things were added."""
        if len(self._heap) < SIZE:
            return len(self._heap)
        return round((SIZE - 1) * _SPACE / -self._heap[0])


def _mixed(number: int) -> int:
    """Spread a hash evenly (the finaliser of splitmix64)."""
    mask = (1 << 64) - 1
    number &= mask
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & mask
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & mask
    return (number ^ (number >> 31)) >> 2
