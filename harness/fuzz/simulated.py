"""The simulator as a stand: one world for many runs, rules that hear each event as it happens."""

from __future__ import annotations

import contextlib
import gc
import inspect
import random
import shutil
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..contract import Target, UsageError
from ..history import AnyEvent
from ..points import listen
from ..rules import ALL
from ..rules.base import Judge
from ..scenario import Actor
from ..simulation.driver import Bounds, Driver
from ..simulation.engine import race_info
from ..simulation.fence import Fence, patched
from ..simulation.race import SimActor, SimRace
from ..simulation.records import audit_events, race_begin
from ..simulation.subjects import AGENT_IDS
from ..simulation.task import Job, State, Task
from ..simulation.world import Stuck, World
from ..targets import capabilities_of
from ..verdict import Finding
from .hands import Told
from .model import Model
from .stage import Stage
from .stands import RACE, Played, made
from .steps import Shape, Step

WATCHED_EVERY = 100
"""Runs of which one is watched closely."""
SIM_POINTS = ("think", "invoked", "returned")
METHODS = (
    *("acquire", "renew", "release", "send", "suppress", "lookup", "unsuppress", "override"),
    *("receive", "cancel", "note_contact", "clean_up"),
)
KIT_POINTS = frozenset(f"{f}.{point}" for f in METHODS for point in SIM_POINTS)
"""Points around every call, whatever the target passes itself."""


class InOrder:
    """Whoever has the lowest number goes on: the order of steps is the plan's, not a draw's."""

    name = "in order"

    def bind(self, driver: Driver) -> None:
        """The hub asks: a stop may be aimed at the point where an agent stands."""

    def begin(self, driver: Driver) -> None:
        """A run begins."""

    def end(self, driver: Driver) -> None:
        """A run has ended."""

    def pick(self, driver: Driver) -> int:
        """The first that can move; who crashed waits until a step restarts it."""
        options = driver.options()
        alive = [each for each in options if driver.is_forced or not _is_dead(driver, each)]
        return (alive or driver._without_moves() or options)[0]  # noqa: SLF001


def _is_dead(driver: Driver, index: int) -> bool:
    return driver.tasks[index].state is State.DEAD


def _parameters(method: Any) -> Collection[str]:
    return inspect.signature(method).parameters if callable(method) else ()


class Behind:
    """What can be done to a simulated mailbox from behind.

    Args:
        world: The run.
        race: Its race.
    """

    def __init__(self, world: World, race: SimRace) -> None:
        self._world = world
        self._race = race
        mailbox = self._mailbox(0)
        self.can_clean_up = callable(getattr(mailbox, "clean_up", None))
        self.can_tell_late = "event_at_ms" in _parameters(getattr(mailbox, "suppress", None))

    def _mailbox(self, index: int) -> Any:
        kit = self._world.tasks[index].kit
        assert kit is not None
        return kit.mailbox

    def _task(self, actor: Actor) -> Task:
        assert isinstance(actor, SimActor)
        return actor._task  # noqa: SLF001 - two seats may share an agent's id

    def connect(self, actor: Actor) -> bool:
        """Let an agent that was restarted connect, which may need the store."""
        task = self._task(actor)
        if task.kit is None:
            try:
                self._do(task, lambda _: None)
            except Exception as error:  # noqa: BLE001 - the target's; the agent tries again later
                self._world.mark("connect_failed", agent=actor.id, why=f"{error}")
        return task.kit is not None

    def clean_up(self, actor: Actor) -> None:
        """Remove old rows."""
        task = self._task(actor)
        self._world.mark("clean_up", agent=actor.id)
        self._do(task, lambda _: self._mailbox(task.index).clean_up())

    def _do(self, task: Task, job: Job) -> None:
        """Let the agent do something that is no call; it is undisturbed."""
        task.begin(job)
        self._race.drive(lambda: task.state in {State.IDLE, State.DEAD})


class SimStage(Stage):
    """A stage on the simulator; every so many runs it is watched closely for what escapes it."""

    breaks = (Stuck,)
    fence: Fence
    world: World
    closely = False

    def _guarded(self, make: Callable[[Step], Told | None], step: Step) -> Told | None:
        if not self.closely:
            return make(step)
        gc.disable()  # Hypothesis reads a clock whenever the collector runs
        try:
            with self.fence.watching(self.world, closely=True):
                return make(step)
        finally:
            gc.enable()


class SimStand:
    """Plays on the simulator.

    Args:
        target: The system under test.
        policy_file: A policy file of the user's, or None.
    """

    is_real = False

    def __init__(self, target: Target, policy_file: Path | None = None) -> None:
        self._target = target
        self._policy_file = policy_file
        self.points = frozenset(target.points) | KIT_POINTS
        self.capabilities = capabilities_of(target.name, target.capabilities)

    def __enter__(self) -> Self:
        """Let the world listen to points."""
        self._stack = contextlib.ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="leaserace-"))
        self._folder = Path(folder)
        world = World(self._target, workdir=self._folder, policy_file=self._policy_file)
        self._world = world
        self._fence = Fence()
        self._runs = 0
        listen(world)
        self._stack.callback(listen, None)
        self._stack.callback(world.end)
        self._stack.enter_context(patched(world))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the target.

        Raises:
            UsageError: It did something the simulation can't control.
        """
        self._stack.__exit__(kind, error, trace)

    @property
    def findings(self) -> Sequence[Finding]:
        """What the rules have found so far."""
        return self._judge.findings

    def begin(self, shape: Shape) -> Stage:
        """Begin a run."""
        world = self._world
        agents = AGENT_IDS[: shape.agents]
        self._shape = shape
        self._info = race_info(self._target, shape.settings(), agents)
        self._judge = judge = Judge(self._info, ALL)
        self._events: list[AnyEvent] = []
        events = self._events

        def sink(event: AnyEvent) -> None:
            events.append(event)
            judge.feed(event)

        world.end()
        self._sweep()
        try:
            world.begin(self._info.settings, agents, sink)
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(
                f"target {self._target.name} can't be started in the simulator: "
                f"{type(error).__name__}: {error}; run it on real processes"
            ) from error
        world.record(race_begin(world, self._info))
        race = SimRace(
            world=world,
            driver=Driver(world, InOrder(), Bounds()),
            name=RACE,
            variant="plain",
            settings=self._info.settings,
            capabilities=self.capabilities,
            rng=random.Random(0),
        )
        now_ms = world.clock.peek_ms
        self._stage = SimStage(
            race,
            shape,
            points=self.points,
            now_ms=now_ms,
            errands=Behind(world, race),
            model=Model(race, now_ms, has_policy=self._policy_file is not None),
        )
        self._stage.fence, self._stage.world = self._fence, world
        self._stage.closely = self._runs % WATCHED_EVERY == 0
        self._runs += 1
        return self._stage

    def _sweep(self) -> None:
        """Each run begins with an empty folder, also where a target keeps files in it."""
        for path in self._folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def end(self) -> Played:
        """End the run."""
        problems: list[str] = []
        if not self.findings:
            self._stage.finish()
        if self._stage.broken is not None:
            problems.append(str(self._stage.broken))
        if not self.findings:
            self._close(problems)
        judgement = self._judge.judgement()
        return Played(
            plan=made(self._stage, self._shape),
            told=tuple(self._stage.told),
            events=tuple(self._events),
            info=self._info,
            judgement=judgement,
            problems=(*problems, *judgement.unknown),
        )

    def _close(self, problems: list[str]) -> None:
        """Read the audit log, and let the rules judge to the end."""
        world = self._world
        world.mark("race.end")
        world.take_down()
        try:
            records = list(audit_events(self._target.audit(), world))
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it raises: it can't be judged
            problems.append(f"the target's audit failed: {type(error).__name__}: {error}")
            records = []
        for event in records:
            self._events.append(event)
            self._judge.feed(event)
        self._judge.finish()


__all__ = ["SimStand"]
