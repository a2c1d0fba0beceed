"""Drives a world: asks who moves next, makes the choice, writes it down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .choices import AFTER, AT, BEFORE, BUSY, CRASH, LOSE, REFUSE, SILENT, STEP_BACK, is_fault
from .task import State
from .transport import SimTransport
from .world import Stuck, World

STEPS_MAX = 200_000
"""Where a run that does not end is cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may go wrong in one run.

    Args:
        faults: Crashes, lost replies, silent or refusing transport, busy store, clock steps.
        time_steps: How often time passes to a deadline while somebody could move.
        steps: Choices after which a run is cut off.
        kinds: Kinds of faults that are offered.
    """

    faults: int = 0
    time_steps: int = 0
    steps: int = STEPS_MAX
    kinds: frozenset[int] = frozenset({CRASH, LOSE, SILENT, REFUSE, BUSY, STEP_BACK})


class Chooser(Protocol):
    """Who decides: a strategy."""

    def pick(self, driver: Driver, options: list[int]) -> int:
        """Choose one.

        Args:
            driver: The run; `Driver.extras` are further choices.
            options: Choices that are always there, at least one: who moves, or, when nobody can,
                how time passes.
        """
        ...


class Driver:
    """One run's choices.

    Args:
        world: The run.
        chooser: Who decides.
        bounds: How much may go wrong.
    """

    def __init__(self, world: World, chooser: Chooser, bounds: Bounds) -> None:
        self.world = world
        self.chooser = chooser
        self.bounds = bounds
        self.trail: list[int] = []
        self.time_steps = 0
        self.last = -1
        """Who moved last."""

    def step(self) -> bool:
        """Make one choice; False if there is none to make.

        Raises:
            Stuck: The run does not end.
        """
        world = self.world
        options = world.moves()
        forced = not options
        if forced:
            options = self._without_moves()
            if not options:
                return False
        choice = self.chooser.pick(self, options)
        self.trail.append(choice)
        if len(self.trail) > self.bounds.steps:
            raise Stuck(f"the run did not end within {self.bounds.steps} steps")
        if choice < CRASH:
            self.last = choice
        elif choice >= BEFORE and not forced:
            self.time_steps += 1
        world.apply(choice)
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
        if any(task.state is State.SLEEPING for task in world.tasks):
            return self.times()
        return []

    def times(self) -> list[int]:
        """Ways in which time can pass to the next deadline."""
        deadline = self.world.next_deadline()
        if deadline is None:
            return []
        before = [BEFORE] if deadline - 1 > self.world.clock.now_ms() else []
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
            if task.state is State.READY:
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
            found.append(STEP_BACK + index)
        return found


__all__ = ["Bounds", "Chooser", "Driver", "is_fault"]
