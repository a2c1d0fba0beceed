"""One logical send in a world of its own: real code, a real playbook, one piece of trouble."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..contract import AgentContext, Environment, Json, Mailbox, Settings, Target
from ..playbooks import PLAYBOOKS
from ..points import listen
from ..simulation.seat import SimSeat
from ..simulation.task import READY, SLEEPING, Job, Task
from ..simulation.world import Stuck, World
from .desk import Desk, Journal
from .names import Layer, Layout
from .parts import Application, Parts
from .trouble import Kind, Trouble

AGENT = "sales-01"
WORKERS = 2
STEPS_MAX = 20_000
COOLDOWN_S = 72 * 3600.0
"""Of spec C2's kind, as long as the reference's policy has it for commercial mail."""
ARGS: Mapping[str, Any] = {"contact": "contact-1", "address": "jane.doe@example.com", "run": "run"}


@dataclass(slots=True, kw_only=True)
class Told:
    """What came of one run.

    Attributes:
        sends: Logical sends that were tried.
        deliveries: Messages that reached a person.
        duplicates: Messages that reached a person who had them already.
        missing: Logical sends of which nothing arrived.
        stopped: Tries of what had been sent, or was under way, by the layer that stopped each.
    """

    sends: int = 0
    deliveries: int = 0
    duplicates: int = 0
    missing: int = 0
    stopped: Counter[Layer] = field(default_factory=Counter)


class Stack(Target):
    """A target with an application in front of it.

    Args:
        target: The mailbox.
        parts: Who makes the application's records.
        layout: Which layers are on.
    """

    def __init__(self, target: Target, parts: Parts, layout: Layout) -> None:
        self._target = target
        self._parts = parts
        self._layout = layout
        self.capabilities = target.capabilities
        self.points = target.points
        self.fixed = target.fixed
        self.journal = Journal(lambda: 0)

    def start(self, env: Environment) -> Mapping[str, Json] | None:
        """Start the mailbox, and an application that has sent nothing yet."""
        facts = self._target.start(env)
        assert env.clock is not None
        self._clock = env.clock
        self._application: Application = self._parts.application(env.clock)
        return facts

    def connect(self, agent: AgentContext) -> Mailbox:
        """A desk for one process of the application."""
        return Desk(
            mailbox=self._target.connect(agent),
            application=self._application,
            layout=self._layout,
            journal=self.journal,
            now_ms=self._clock.now_ms,
        )

    def stop(self) -> None:
        """Stop the mailbox."""
        self._target.stop()


class Bench:
    """Runs logical sends under one layout; use it inside `bench`.

    Args:
        parts: What is measured.
        layout: Which layers are on.
    """

    def __init__(self, parts: Parts, layout: Layout) -> None:
        on = layout.on
        target = parts.target(key=Layer.KEY in on, lease=Layer.LEASE in on)
        self._stack = Stack(target, parts, layout)
        self.world = World(self._stack)
        self.world.is_coarse = True
        self._settings = Settings(cooldown_s=COOLDOWN_S if Layer.COOLDOWN in on else 0.0)

    def run(self, habit: str, trouble: Trouble, seed: str) -> Told:
        """Do one task of an agent with this habit, and see what arrives.

        Args:
            habit: Its name.
            trouble: What goes wrong.
            seed: Of every draw.
        """
        world = self.world
        journal = self._stack.journal = Journal(self._who)
        journal.losses = int(trouble.kind is Kind.LOST)
        workers = WORKERS if trouble.kind is Kind.TWICE else 1
        world.begin(self._settings, [AGENT] * workers, journal.hear)
        world.transport.behaviour = "silent" if trouble.kind is Kind.SILENT else "accept"
        args = {**ARGS, "habit": habit}
        for task in world.tasks:
            task.play = self._play(trouble.work, args, f"{seed}:{task.index}")
        _Course(world, trouble, random.Random(seed)).run()
        world.take_down()
        return _told(journal)

    def _play(self, work: str, args: Mapping[str, Any], seed: str) -> Job:
        """The playbook with an agent's own draws, others after each restart."""
        draws = zlib.crc32(seed.encode())

        def job(worker: Task) -> None:
            seat = SimSeat(self.world, worker, self._settings, draws + worker.incarnation)
            PLAYBOOKS[work](seat, args)

        return job

    def _who(self) -> int:
        worker = self.world.current
        return -1 if worker is None else worker.index


@contextmanager
def bench(parts: Parts, layout: Layout) -> Iterator[Bench]:
    """A bench that hears of points while the block runs."""
    made = Bench(parts, layout)
    listen(made.world)
    try:
        yield made
    finally:
        made.world.close()
        listen(None)


def _told(journal: Journal) -> Told:
    """A task that came to no try at all is a logical send too: nothing of it arrived."""
    arrived = journal.arrived
    missing = sum(not arrived[intent] for intent in journal.intents)
    return Told(
        sends=len(journal.intents) or 1,
        deliveries=arrived.total(),
        duplicates=sum(count - 1 for count in arrived.values() if count),
        missing=missing if journal.intents else 1,
        stopped=journal.stops(),
    )


class _Course:
    """The order of one run: who moves, when the trouble comes, how time passes.

    Args:
        world: The run, begun.
        trouble: What goes wrong.
        rng: Who moves where two can.
    """

    def __init__(self, world: World, trouble: Trouble, rng: random.Random) -> None:
        self._world = world
        self._trouble = trouble
        self._rng = rng

    def run(self) -> None:
        """Until nobody has anything left to do.

        Raises:
            Stuck: That never happens.
        """
        world = self._world
        world.ask = self._next
        first, *others = world.tasks
        if self._trouble.point:
            first.aims[self._trouble.point] = self._trouble
        _begin(first)
        for _ in range(STEPS_MAX):
            if first.struck is not None:
                first.struck = None
                self._strike(first, others)
            moves = world.moves()
            if moves:
                index = moves[0] if len(moves) == 1 else self._rng.choice(moves)
                world.move(world.tasks[index])
            elif any(task.state is SLEEPING for task in world.tasks):
                world.set_time(world.next_deadline() or 0)
            elif others:
                self._later()
                _begin(others.pop())
            else:
                return
        raise Stuck(f"a run did not end within {STEPS_MAX} steps")

    def _next(self) -> Task | None:
        """Who goes on from a point, so that one worker alone need not come back here each time."""
        ready = [task for task in self._world.tasks if task.state is READY]
        return ready[0] if len(ready) == 1 else self._rng.choice(ready)

    def _strike(self, first: Task, others: list[Task]) -> None:
        """The process dies and is started again later, or a second worker begins now."""
        if self._trouble.kind is Kind.CRASH:
            self._world.crash(first)
            self._later()
        elif others:
            _begin(others.pop())

    def _later(self) -> None:
        world = self._world
        world.set_time(world.clock.peek_ms() + self._trouble.later_ms)


def _begin(task: Task) -> None:
    assert task.play is not None
    task.begin(task.play)
