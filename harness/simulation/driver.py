"""Drives a world: asks who moves next, makes the choice, writes it down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .choices import (
    AFTER,
    AT,
    BEFORE,
    BUSY,
    CRASH,
    LOSE,
    REFUSE,
    SILENT,
    SLOW_CLOCK,
    STEP_AHEAD,
    STEP_BACK,
    is_fault,
)
from .task import DORMANT, READY, SLEEPING, Task
from .transport import SimTransport
from .world import Stuck, World

STEPS_MAX = 200_000
"""Where a run that does not end is cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may go wrong in one run.

    Args:
        faults: Crashes, lost replies, silent or refusing transport, busy store, clocks that step or
            drift.
        time_steps: How often time passes to a deadline while somebody could move.
        steps: Choices after which a run is cut off.
        kinds: Kinds of faults that are offered.
    """

    faults: int = 0
    time_steps: int = 0
    steps: int = STEPS_MAX
    kinds: frozenset[int] = frozenset(
        {CRASH, LOSE, SILENT, REFUSE, BUSY, STEP_BACK, STEP_AHEAD, SLOW_CLOCK}
    )


class Chooser(Protocol):
    """Who decides: a strategy."""

    def bind(self, driver: Driver) -> Callable[[], Task | None] | None:
        """What agents ask who goes on, `Driver.ask` or something quicker; None if the hub must ask."""
        ...

    def begin(self, driver: Driver) -> None:
        """A run begins."""
        ...

    def pick(self, driver: Driver) -> int:
        """Choose one of `Driver.options` or `Driver.extras`; -1 if the run is over."""
        ...

    def end(self, driver: Driver) -> None:
        """The run has ended."""
        ...


class Driver:
    """One run's choices.

    Args:
        world: The run.
        chooser: Who decides.
        bounds: How much may go wrong.
        findings: Filled by the judge; the first one ends the run.
    """

    __slots__ = (
        "_steps_max",
        "bounds",
        "chooser",
        "findings",
        "is_forced",
        "last",
        "offered",
        "pending",
        "tasks",
        "time_steps",
        "trail",
        "world",
    )

    def __init__(
        self, world: World, chooser: Chooser, bounds: Bounds, findings: Sequence[object] = ()
    ) -> None:
        self.world = world
        self.tasks = world.tasks
        self.chooser = chooser
        self.bounds = bounds
        self.findings = findings
        self.trail: list[int] = []
        self.time_steps = 0
        self.last = -1
        """Who moved last."""
        self.pending = -1
        self.offered: list[int] = []
        """What `options` gave to the step that is being made."""
        self._steps_max = bounds.steps
        self.is_forced = False
        """Nobody can move: what is chosen is how time passes."""
        chooser.begin(self)
        world.ask = chooser.bind(self)

    def ask(self) -> Task | None:
        """Who goes on, asked by the agent that stands at a point; None leaves it to `step`."""
        if self.findings:
            return None
        self.is_forced = False
        choice = self.chooser.pick(self)
        if choice < 0:
            return None
        if choice < CRASH:
            other = self.tasks[choice]
            trail = self.trail
            if (other.state is READY or other.state is DORMANT) and len(trail) < self._steps_max:
                other.state = READY
                trail.append(choice)
                self.last = choice
                return other
        self.pending = choice
        return None

    def options(self) -> list[int]:
        """Who can move; if nobody can, how time can pass; empty if the run is over."""
        moves = self.world.moves()
        self.is_forced = not moves
        return moves or self._without_moves()

    def step(self) -> bool:
        """Make one choice; False if there is none to make.

        Raises:
            Stuck: The run does not end.
        """
        choice = self.pending
        if choice < 0:
            self.offered = self.options()
            if not self.offered:
                return False
            choice = self.chooser.pick(self)
        else:
            self.pending = -1
        self.trail.append(choice)
        if len(self.trail) > self.bounds.steps:
            raise Stuck(f"the run did not end within {self.bounds.steps} steps")
        if choice < CRASH:
            self.last = choice
        elif choice >= BEFORE and not self.is_forced:
            self.time_steps += 1
        self.world.apply(choice)
        return True

    def _without_moves(self) -> list[int]:
        """What can happen when nobody can move."""
        world = self.world
        stuck = [
            BUSY + task.index
            for task in world.waiters()
            if world.is_stopped(world.holders.get(task.waits_for or ""))
        ]
        if stuck:
            return stuck
        if any(task.state is SLEEPING for task in world.tasks):
            return self.times()
        return []

    def times(self) -> list[int]:
        """Ways in which time can pass to the next deadline."""
        deadline = self.world.next_deadline()
        if deadline is None:
            return []
        before = [BEFORE] if deadline - 1 > self.world.clock.peek_ms() else []
        return [AT, AFTER, *before]

    def extras(self) -> list[int]:
        """Choices beside moving somebody: time passes, something goes wrong."""
        bounds = self.bounds
        found: list[int] = []
        if self.time_steps < bounds.time_steps:
            found += self.times()
        if self.world.faults < bounds.faults:
            found += self.fault_options()
        return found

    def fault_options(self) -> list[int]:
        """Faults that can strike now."""
        found: list[int] = []
        for task in self.world.tasks:
            if task.state is READY:
                found += self._faults_of(task.index)
        kinds = self.bounds.kinds
        return [choice for choice in found if choice & ~15 in kinds]

    def _faults_of(self, index: int) -> list[int]:
        task = self.world.tasks[index]
        point = task.point
        if point == "start":
            return []
        found = [CRASH + index]
        if task.waits_for is not None:
            if task.waits_for in self.world.holders:
                found.append(BUSY + index)
        elif point.endswith(".returned"):
            found.append(LOSE + index)
        elif point == SimTransport.POINT:
            found += [SILENT + index, REFUSE + index]
        elif point.endswith(".think"):
            found += [STEP_BACK + index, STEP_AHEAD + index, SLOW_CLOCK + index]
        return found


__all__ = ["Bounds", "Chooser", "Driver", "is_fault"]
