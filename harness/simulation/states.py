"""When two runs stand at the same place: the key of a visited state."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from ..contract import Target
from ..rules.base import Judge
from .task import State, Task

if TYPE_CHECKING:
    from .driver import Driver
    from .world import World


def content_reader(target: Target) -> Callable[[], Hashable] | None:
    """How the content of the target's store is read, or None if it can't be.

    A target offers ``content()``, or a ``store`` that does: a hashable value, equal for equal contents.
    """
    own = getattr(target, "content", None)
    if callable(own):
        return own  # type: ignore[no-any-return]
    if not hasattr(target, "store"):
        return None

    def read() -> Hashable:
        return target.store.content()  # type: ignore[no-any-return]

    return read


def key_of(driver: Driver, judge: Judge, content: Hashable) -> int:
    """Hash of everything the rest of the run, and what is said of it, can depend on.

    Store content, clock, what each agent saw and where it stands, what the rules remember, and how
    much may still go wrong.
    """
    world = driver.world
    now_ms = world.clock.peek_ms()
    return hash(
        (
            content,
            now_ms,
            tuple([_place_of(task, now_ms) for task in world.tasks]),
            frozenset(at for at in world.deadlines if at > now_ms),
            world.faults,
            driver.time_steps,
            judge.state(),
        )
    )


def _place_of(task: Task, now_ms: int) -> Hashable:
    clock = task.clock
    return (
        task.state,
        task.point,
        task.incarnation,
        task.holds,
        task.waits_for,
        task.wake_ms if task.state is State.SLEEPING else 0,
        (clock.at_ms(now_ms), clock.drift) if clock is not None else None,
        tuple(task.view),
        tuple(task.seen),
        tuple(task.kept.items()),
    )


class Watcher:
    """Notes what an agent sees inside a call: the store's content and time whenever it enters.

    Until the call's answer is there, what the agent read may stand in its variables.

    Args:
        world: The run.
        content: How the store's content is read.
    """

    def __init__(self, world: World, content: Callable[[], Hashable]) -> None:
        self._world = world
        self._content = content

    def __call__(self, task: Task) -> None:
        """An agent entered a section."""
        task.seen.append(hash((self._content(), self._world.clock.peek_ms())))
