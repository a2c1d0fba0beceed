"""One simulated run: agents as greenlets, one store clock, sections, and a transport that counts.

A world is used for many runs, one after the other; `begin` makes everything fresh but the
greenlets. Whoever drives it is the hub; an agent has the word only between two of its points.

Virtual time: an event's ``t`` is the store's milliseconds times 1,000,000 plus the number of the event
in the run, so that ``t // 1_000_000`` is what the store's clock said at that instant. The number never
starts again: an event one lease length after another is then never earlier than that length says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import greenlet as greenlets

from ..clocks import OffsetClock
from ..contract import AgentContext, Environment, Settings, Target
from ..history import AnyEvent, FaultEvent, MarkEvent
from ..kit import Kit
from .choices import MOVE, TIME
from .clock import EPOCH_MS, VirtualClock
from .strikes import STANDS_STILL, STRIKES, Impossible, pass_time
from .task import DEAD, DORMANT, IDLE, READY, SLEEPING, STOPPED, Task
from .transport import SimTransport


class Stuck(Exception):  # noqa: N818 - it is what happened
    """Nobody can move and no time can pass; the message says who waits for what."""


class World:
    """Runs agents against one target, one choice at a time.

    Args:
        target: The system under test; started afresh by each `begin`.
        workdir: The folder it is given.
        policy_file: A policy file of the user's, or None.
    """

    def __init__(
        self, target: Target, *, workdir: Path = Path(), policy_file: Path | None = None
    ) -> None:
        self.target = target
        self.hub = greenlets.getcurrent()
        self.clock = VirtualClock(self)
        self.transport = SimTransport(self)
        self._workdir = workdir
        self._policy_file = policy_file
        self._environments: dict[Settings, Environment] = {}
        self._pool: list[Task] = []
        self.tasks: list[Task] = []
        self.current: Task | None = None
        self.watch: Callable[[Task], None] | None = None
        """Called when an agent enters a section (exhaustive search notes what it sees)."""
        self.is_coarse = False
        """Nobody stands still inside a section, or between an invoke and the call it announces."""
        self.ask: Callable[[], Task | None] | None = None
        """Who goes on, asked by the agent that stands at a point; None leaves it to the hub.

        A switch from agent to agent, or none at all, costs a fraction of the way round by the hub.
        """
        self.hands_on = False
        """Whoever is done asks who goes on; not where the run may end before everybody is done."""
        self._started = False

    # -- a run from begin to end -------------------------------------------------------------

    def begin(
        self,
        settings: Settings,
        agents: Iterable[str],
        sink: Callable[[AnyEvent], None],
    ) -> None:
        """Start a fresh run: a new store, a new clock, agents that stand at their start.

        Args:
            settings: Lengths in force.
            agents: Agent ids, in the order of their letters.
            sink: Where events go as they happen.
        """
        if self._started:
            self.end()
        self.clock.set_ms(EPOCH_MS)
        self._count = 0
        self.settings = settings
        self.sink = sink
        self.holders: dict[str, Task] = {}
        self.deadlines: set[int] = set()
        self.faults = 0
        self.commits = 0
        """Sections left so far: only then can the audit log have grown."""
        self.transport.reset()
        self.env = self._environment(settings)
        facts = self.target.start(self.env)
        if facts:
            self.env = _with_facts(self.env, facts)
        self._started = True
        self.tasks = []
        for index, agent in enumerate(agents):
            known = any(task.id == agent for task in self.tasks)
            self.tasks.append(self._seat(index, agent, replica=known))

    def take_down(self) -> None:
        """Take all agents down, so that nobody holds a section any more."""
        for task in self.tasks:
            task.unwind()
            task.state = IDLE

    def end(self) -> None:
        """Take all agents down and stop the target."""
        if not self._started:
            return
        self.take_down()
        self._started = False
        self.target.stop()

    def close(self) -> None:
        """End the run and let the agents' greenlets go: a suspended one would be kept for ever."""
        self.end()
        for task in self._pool:
            task.greenlet.throw(greenlets.GreenletExit)
        self._pool.clear()
        self.tasks = []

    def _environment(self, settings: Settings) -> Environment:
        env = self._environments.get(settings)
        if env is None:
            env = self._environments[settings] = Environment(
                workdir=self._workdir,
                smtp=("127.0.0.1", 0),
                settings=settings,
                policy_file=self._policy_file,
                clock=self.clock,
                transport=self.transport,
            )
        return env

    def _seat(self, index: int, agent: str, *, replica: bool = False) -> Task:
        while len(self._pool) <= index:
            self._pool.append(Task(self, len(self._pool)))
        task = self._pool[index]
        task.reset(agent)
        task.seat = f"{agent}.r{index}" if replica else agent
        task.clock = OffsetClock(self.clock)
        self.connect(task)
        return task

    def add_replica(self, agent: str) -> Task:
        """One more process under the id of an agent that is there already."""
        task = self._seat(len(self.tasks), agent, replica=True)
        self.tasks.append(task)
        return task

    def connect(self, task: Task) -> None:
        """Give the agent a mailbox and a kit of its own."""
        context = AgentContext(
            id=task.id,
            incarnation=task.incarnation,
            env=self.env,
            clock=task.clock,  # type: ignore[arg-type]
        )
        task.kit = Kit(
            mailbox=self.target.connect(context),
            agent=task.id,
            incarnation=task.incarnation,
            record=self.record,
            now_ns=self.now_ns,
            seat=task.seat,
        )
        task.kit.wait_s = self.sleep

    # -- time and events -----------------------------------------------------------------------

    def now_ns(self) -> int:
        """The history's clock; no two calls give the same instant."""
        self._count += 1
        return self.clock._now_ms * 1_000_000 + self._count  # noqa: SLF001 - the hot path

    def count_from(self, number: int) -> None:
        """Number the run's further events from here on."""
        self._count = number

    def set_time(self, now_ms: int) -> None:
        """Put the store's clock forward; whoever slept until then wakes."""
        if now_ms <= self.clock.peek_ms():
            return
        self.clock.set_ms(now_ms)
        self.wake()

    def wake(self) -> None:
        """Make those ready whose time has come."""
        now_ms = self.clock.peek_ms()
        for task in self.tasks:
            if task.state is SLEEPING and task.wake_ms <= now_ms:
                task.state = READY

    def next_deadline(self) -> int | None:
        """The next instant at which something may change, or None."""
        now_ms = self.clock.peek_ms()
        coming = [at for at in self.deadlines if at > now_ms]
        coming += [task.wake_ms for task in self.tasks if task.state is SLEEPING]
        return min(coming, default=None)

    def record(self, event: AnyEvent) -> None:
        """Take an event into the history, unless it comes from an agent that is taken down."""
        current = self.current
        if current is None or not current.unwinding:
            self.sink(event)

    def mark(self, name: str, agent: str = "", **data: Any) -> None:
        """Write a mark."""
        self.record(MarkEvent(t=self.now_ns(), name=name, agent=agent, data=data))

    def fault(
        self, agent: str, fault: str, phase: str, id_: str, point: str = "", **detail: Any
    ) -> None:
        """Write one instant of a fault."""
        self.record(
            FaultEvent(
                t=self.now_ns(),
                agent=agent,
                fault=fault,
                phase=phase,
                id=id_,
                point=point,
                detail=detail,
            )
        )

    # -- the agents' side: the listener of points ------------------------------------------------

    def reached(self, name: str, touches: tuple[str, ...]) -> None:
        """An agent stands at a point: the hub has the word until it is chosen again."""
        task = self.current
        if task is None or task.unwinding:
            return
        if self.is_coarse and (task.holds or name.endswith(".invoked")):
            return
        task.point = name
        task.touches = touches
        aims = task.aims
        if aims and name in aims:
            task.struck = aims.pop(name)
        elif self.ask is not None:
            other = self.ask()
            if other is task:
                return
            if other is not None:
                self.current = other
                other.greenlet.switch()
                return
        self.hub.switch()

    def enter(self, resource: str, deadline_s: float) -> bool:
        """Wait for a section; False if the wait timed out."""
        task = self.current
        holders = self.holders
        if task is None:
            return resource not in holders
        if task.unwinding:
            return False
        task.stepped = True
        while resource in holders:
            if holders[resource] is task:
                return False
            task.waits_for = resource
            task.wake_ms = int(deadline_s * 1000)
            self.hub.switch()
            task.waits_for = None
            if task.timed_out:
                task.timed_out = False
                return False
        holders[resource] = task
        task.holds += 1
        if self.watch is not None:
            self.watch(task)
        return True

    def leave(self, resource: str) -> None:
        """Give a section back."""
        task = self.holders.pop(resource, None)
        if task is not None:
            task.holds -= 1
            self.commits += 1

    def sleep(self, seconds: float) -> None:
        """The current agent waits by the store's clock."""
        task = self.current
        if task is None or task.unwinding:
            return
        task.state = SLEEPING
        task.wake_ms = self.clock.peek_ms() + max(1, round(seconds * 1000))
        self.hub.switch()

    # -- the hub's side: what can be chosen, and making a choice -----------------------------------

    def moves(self) -> list[int]:
        """Indices of the agents that can move now."""
        holders = self.holders
        return [
            task.index
            for task in self.tasks
            if (task.state is READY and (not holders or task.waits_for not in holders))
            or task.state is DORMANT
            or task.state is DEAD
        ]

    def apply(self, choice: int) -> None:
        """Make a choice.

        Raises:
            Impossible: It can't be made here.
        """
        if choice >= TIME:
            pass_time(self, choice)
            return
        kind, index = choice & ~15, choice & 15
        if index >= len(self.tasks):
            raise Impossible(f"there is no agent {index + 1}")
        task = self.tasks[index]
        if kind != MOVE:
            self.faults += 1
            STRIKES[kind](self, task)
            if kind in STANDS_STILL:
                return
        self.move(task)

    def move(self, task: Task) -> None:
        """Let an agent go from its point to its next one."""
        state = task.state
        if state is not READY:
            if state is DEAD:
                self.restart(task)
            elif state is DORMANT:
                task.state = READY
            else:
                raise Impossible(f"{task.id} can't move: it is {state.name.lower()}")
        elif task.waits_for is not None and not task.timed_out and task.waits_for in self.holders:
            raise Impossible(f"{task.id} can't move: it waits for {task.waits_for}")
        self.current = task
        task.greenlet.switch()
        ended, self.current = self.current, None
        if ended.error is not None:
            error, ended.error = ended.error, None
            raise error

    def crash(self, task: Task, point: str = "") -> None:
        """An agent crashes: its memory is gone, its transaction rolls back, the store stays."""
        if task.state in {DEAD, DORMANT}:
            raise Impossible(f"{task.id} can't crash: it is {task.state.name.lower()}")
        where = point or task.point
        more = {"seat": task.seat} if task.seat != task.id else {}
        fault = f"crash:{task.seat}.{task.incarnation}"
        self.fault(task.id, "crash", "begin", fault, where, **more)
        task.unwind()
        task.state = DEAD
        task.view.clear()
        task.seen.clear()

    def restart(self, task: Task) -> None:
        """Start a crashed agent again, as its next incarnation."""
        self.fault(task.id, "crash", "end", f"crash:{task.seat}.{task.incarnation}")
        task.incarnation += 1
        task.kit = None  # it connects in its own time, since that may wait for the store
        task.state = IDLE
        if task.play is not None:
            task.begin(task.play)

    def is_stopped(self, task: Task | None) -> bool:
        """Whether an agent stands still because a script stopped it."""
        return task is not None and task.state is STOPPED

    def waiters(self) -> list[Task]:
        """Agents that wait for a section somebody else holds."""
        return [
            task for task in self.tasks if task.state is READY and task.waits_for in self.holders
        ]


def _with_facts(env: Environment, facts: Mapping[str, Any]) -> Environment:
    return replace(env, facts=facts)


__all__ = ["EPOCH_MS", "Impossible", "Stuck", "World"]
