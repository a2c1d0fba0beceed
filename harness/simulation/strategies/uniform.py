"""Uniform draws: every agent that can move is as likely as any other."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..choices import group_of
from ..task import READY, Task

if TYPE_CHECKING:
    from ..driver import Driver


class Uniform:
    """Draws who moves; faults and time strike at places drawn before the run.

    Args:
        rng: Seeded draws.
        length: How many steps a run is thought to take; it learns as it goes.
    """

    name = "random"

    def __init__(self, rng: random.Random, length: int = 60) -> None:
        self._rng = rng
        self._random = rng.random
        self._length = length
        self._places: set[int] = set()

    def begin(self, driver: Driver) -> None:
        """Draw where faults and time strike in the run to come."""
        self._places = places(self._rng, driver, self._length)

    def bind(self, driver: Driver) -> Callable[[], Task | None]:
        """Draws without the way round by `Driver.ask` where nothing but a move can be chosen."""
        tasks, trail, findings = driver.tasks, driver.trail, driver.findings
        draw_, append, slowly = self._random, trail.append, driver.ask
        places_ = self._places | {driver.bounds.steps}

        def ask() -> Task | None:
            if findings or len(trail) in places_:
                return slowly()
            index = int(draw_() * len(tasks))
            task = tasks[index]
            if task.state is not READY or task.waits_for is not None:
                return slowly()
            append(index)
            driver.last = index
            return task

        return ask

    def end(self, driver: Driver) -> None:
        """Learn how long runs are."""
        self._length += (len(driver.trail) - self._length) // 8

    def pick(self, driver: Driver) -> int:
        """Choose."""
        if self._places and len(driver.trail) in self._places:
            extras = driver.extras()
            if extras:
                return draw(self._rng, extras)
        tasks = driver.tasks
        index = int(self._random() * len(tasks))
        task = tasks[index]
        if task.state is READY and task.waits_for is None:
            return index
        options = driver.options()
        return options[int(self._random() * len(options))] if options else -1


def places(rng: random.Random, driver: Driver, length: int) -> set[int]:
    """Steps at which something beside a move is chosen: as many as the bounds allow, or fewer."""
    bounds = driver.bounds
    most = bounds.faults + bounds.time_steps
    if not most:
        return set()
    return {int(rng.random() * length) for _ in range(int(rng.random() * (most + 1)))}


def draw(rng: random.Random, extras: list[int]) -> int:
    """One of the extras: first which kind, then which of that kind."""
    kinds = sorted({group_of(choice) for choice in extras})
    kind = kinds[int(rng.random() * len(kinds))]
    of_kind = [choice for choice in extras if group_of(choice) == kind]
    return of_kind[int(rng.random() * len(of_kind))]
