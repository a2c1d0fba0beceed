"""What a choice beside a plain move does: faults that strike an agent, and time that passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .choices import (
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
)
from .task import IDLE, Task
from .transport import SimTransport

if TYPE_CHECKING:
    from .world import World

STEP_MS = 90_000
"""How far an agent's clock jumps when it steps, backwards or ahead."""
DRIFT = -0.5
"""What a slow clock gains a millisecond: it runs at half speed, so a lease seems to last twice as long."""


class Impossible(Exception):  # noqa: N818 - it is what happened
    """A choice that can't be made where the run stands."""


def pass_time(world: World, choice: int) -> None:
    """Put the store's clock just before, at or just after the next deadline."""
    deadline = world.next_deadline()
    if deadline is None:
        raise Impossible("there is no deadline to pass")
    if choice == BEFORE and deadline - 1 <= world.clock.peek_ms():
        raise Impossible("the clock already stands just before the next deadline")
    world.set_time(deadline + (choice - AT))


def time_out(world: World, task: Task) -> None:
    """An agent's wait for a section ends without it: the holder stood still for too long."""
    if task.waits_for is None or task.waits_for not in world.holders:
        raise Impossible(f"{task.id} waits for no section")
    task.timed_out = True
    world.set_time(world.clock.peek_ms() + max(1, task.wake_ms))


def _crash(world: World, task: Task) -> None:
    if task.state is IDLE:
        raise Impossible(f"{task.id} can't crash: it is done")
    world.crash(task)


def _lose(_: World, task: Task) -> None:
    if not task.point.endswith(".returned") or task.kit is None:
        raise Impossible(f"{task.id} has no reply to lose")
    task.kit.lose_next_reply()


def _transport(fate: str) -> Callable[[World, Task], None]:
    def strike(_: World, task: Task) -> None:
        if task.point != SimTransport.POINT:
            raise Impossible(f"{task.id} hands nothing over")
        task.fate = fate

    return strike


def _clock(*, by_ms: int = 0, drift: float | None = None) -> Callable[[World, Task], None]:
    """The agent's own clock jumps, or runs at another speed from here on (spec: L5)."""

    def strike(world: World, task: Task) -> None:
        clock = task.clock
        if clock is None or task.state is IDLE:
            raise Impossible(f"{task.id} has no clock")
        clock.offset_ms += by_ms
        detail: dict[str, Any] = {"offset_ms": clock.offset_ms}
        if drift is not None:
            clock.drift_from_now(drift)
            detail["drift"] = drift
        for phase in ("begin", "end"):
            world.fault(task.id, "skew", phase, f"skew:{task.id}", **detail)

    return strike


STRIKES: Mapping[int, Callable[[World, Task], None]] = {
    CRASH: _crash,
    LOSE: _lose,
    SILENT: _transport("silent"),
    REFUSE: _transport("refuse"),
    BUSY: time_out,
    STEP_BACK: _clock(by_ms=-STEP_MS),
    STEP_AHEAD: _clock(by_ms=STEP_MS),
    SLOW_CLOCK: _clock(drift=DRIFT),
}
"""Kind of fault to what it does."""

STANDS_STILL = frozenset({CRASH, STEP_BACK, STEP_AHEAD, SLOW_CLOCK})
"""Faults after which the agent does not move."""
