"""PCT: the agent of highest priority moves; at a few drawn steps it falls to the lowest.

A bug that needs `depth` ordered events among n agents and k steps is hit with a chance of at least
1 / (n * k ** (depth - 1)) a run (Burckhardt et al., 2010). Slow on shallow bugs, hence the portfolio.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..task import READY, Task
from .uniform import draw, places

if TYPE_CHECKING:
    from ..driver import Driver


class Pct:
    """Priorities with drawn change points.

    Args:
        rng: Seeded draws.
        depth: Ordered events a bug may need; change points are one fewer.
        length: How many steps a run is thought to take; it learns as it goes.
    """

    name = "pct"

    def __init__(self, rng: random.Random, depth: int = 3, length: int = 60) -> None:
        self._rng = rng
        self._depth = depth
        self._length = length
        self._order: list[int] = []
        self._changes: set[int] = set()
        self._places: set[int] = set()

    def begin(self, driver: Driver) -> None:
        """Draw priorities and change points."""
        rng = self._rng
        self._order = list(range(len(driver.tasks)))
        rng.shuffle(self._order)
        self._changes = {int(rng.random() * self._length) for _ in range(self._depth - 1)}
        self._places = places(rng, driver, self._length)

    def bind(self, driver: Driver) -> Callable[[], Task | None]:
        """Takes the first that can move where neither a change nor anything beside a move is due."""
        tasks, trail, findings, order = driver.tasks, driver.trail, driver.findings, self._order
        append, slowly = trail.append, driver.ask
        places_ = self._places | self._changes | {driver.bounds.steps}

        def ask() -> Task | None:
            if findings or len(trail) in places_:
                return slowly()
            for index in order:
                task = tasks[index]
                if task.state is READY and task.waits_for is None:
                    append(index)
                    driver.last = index
                    return task
            return slowly()

        return ask

    def end(self, driver: Driver) -> None:
        """Learn how long runs are."""
        self._length += (len(driver.trail) - self._length) // 8

    def pick(self, driver: Driver) -> int:
        """Choose."""
        step = len(driver.trail)
        if step in self._changes and driver.last in self._order:
            self._order.remove(driver.last)
            self._order.append(driver.last)
        if step in self._places:
            extras = driver.extras()
            if extras:
                return draw(self._rng, extras)
        tasks = driver.tasks
        for index in self._order:
            task = tasks[index]
            if task.state is READY and task.waits_for is None:
                return index
        while len(self._order) < len(tasks):  # a second process has come in
            self._order.insert(int(self._rng.random() * (len(self._order) + 1)), len(self._order))
        options = driver.options()
        if not options:
            return -1
        if driver.is_forced:
            return options[int(self._rng.random() * len(options))]
        return min(options, key=self._order.index)
