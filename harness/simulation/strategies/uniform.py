"""Uniform draws: every agent that can move is as likely as any other."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..driver import Driver


class Uniform:
    """Draws who moves; faults and time strike at places drawn before the run.

    Args:
        rng: Seeded draws.
        length: How many steps a run is thought to take; it learns as it goes.
    """

    name = "random"

    def __init__(self, rng: random.Random, length: int = 80) -> None:
        self._rng = rng
        self._length = length
        self._places: set[int] = set()

    def begin(self, driver: Driver) -> None:
        """Draw where faults and time strike in the run to come."""
        bounds = driver.bounds
        count = int(self._rng.random() * (bounds.faults + bounds.time_steps + 1))
        self._places = {int(self._rng.random() * self._length) for _ in range(count)}

    def end(self, driver: Driver) -> None:
        """Learn how long runs are."""
        self._length += (len(driver.trail) - self._length) // 8

    def pick(self, driver: Driver, options: list[int]) -> int:
        """Choose."""
        if len(driver.trail) in self._places:
            extras = driver.extras()
            if extras:
                return draw(self._rng, extras)
        return options[int(self._rng.random() * len(options))]


def draw(rng: random.Random, extras: list[int]) -> int:
    """One of the extras: first which kind, then which of that kind."""
    kinds = sorted({choice & ~15 for choice in extras})
    kind = kinds[int(rng.random() * len(kinds))]
    of_kind = [choice for choice in extras if choice & ~15 == kind]
    return of_kind[int(rng.random() * len(of_kind))]
