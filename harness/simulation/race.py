"""A scenario's script on the simulator: the same `Race` and `Actor`, time set instead of waited for."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from ..contract import Answer, Capability, Message, NoReply, Settings
from ..kit import Kit
from ..scenario import Actor, Call, Contact, Engaged, NotReached, Playbook, Race
from .driver import Driver
from .seat import SimSeat
from .task import State, Task
from .world import World

CALL_COSTS_MS = 1
"""What one call takes by the store's clock while agents play freely inside a script."""


class SimPending:
    """A call under way in a simulated agent."""

    def __init__(self, race: SimRace, task: Task) -> None:
        self._race = race
        self._task = task
        self._answer: Answer | None = None

    def put(self, answer: Answer) -> None:
        """Take the answer in."""
        self._answer = answer

    def answer(self) -> Answer:
        """Let agents move until the answer is there."""
        self._race.drive(lambda: self._answer is not None or self._task.state is State.DEAD)
        if self._answer is None:
            return NoReply(why="the agent died")
        return self._answer

    def is_done(self) -> bool:
        """Whether the answer is there; somebody moves, so that asking again and again ends."""
        if self._answer is None:
            self._race.driver.step()
        return self._answer is not None


class SimStop:
    """A pause, a hold or a crash aimed at a point."""

    def __init__(self, race: SimRace, task: Task, point: str, kind: str, number: int) -> None:
        self._race = race
        self._task = task
        self.point = point
        self.kind = kind
        self._id = f"{kind}:{task.id}:{number}"
        self._struck = False

    def strike(self) -> None:
        """The agent stands at the point: stop it there, or crash it."""
        self._struck = True
        world = self._race.world
        if self.kind == "kill":
            world.crash(self._task, self.point)
            return
        self._task.state = State.STOPPED
        world.fault(self._task.id, self.kind, "begin", self._id, self.point)

    def wait(self) -> None:
        """Let agents move until this one stands at the point.

        Raises:
            NotReached: Its call ended without coming by.
        """
        task = self._task
        self._race.drive(lambda: self._struck or task.state is State.IDLE)
        if not self._struck:
            task.aims.pop(self.point, None)
            raise NotReached(f"{task.id} never came to {self.point}")

    def resume(self) -> None:
        """Let the agent go on."""
        if self._task.state is State.STOPPED:
            self._race.world.fault(self._task.id, self.kind, "end", self._id, self.point)
            self._task.state = State.READY


class SimEngaged:
    """A playbook under way in a simulated agent."""

    def __init__(self, race: SimRace, task: Task) -> None:
        self._race = race
        self._task = task

    def is_done(self) -> bool:
        """Whether it ended; whoever can move does, and no time passes."""
        if self._task.state not in _ENDED and self._race.world.moves():
            self._race.drive_once()
        return self._task.state in _ENDED

    def wait(self) -> None:
        """Let agents move until it has ended."""
        self._race.drive(lambda: self._task.state in _ENDED)


_ENDED = frozenset({State.IDLE, State.DEAD})


class SimActor(Actor):
    """A simulated agent as a script moves it."""

    def __init__(self, race: SimRace, task: Task) -> None:
        self._race = race
        self._task = task
        self.id = task.id
        self._stops = 0
        self._upon_connect: list[Callable[[Kit], None]] = []

    @property
    def task(self) -> Task:
        """The agent itself."""
        return self._task

    def start(self, call: Call) -> SimPending:
        """Begin a call; it goes on when the script waits for something."""
        pending = SimPending(self._race, self._task)

        def job(task: Task) -> None:
            kit = task.kit
            assert kit is not None
            while self._upon_connect:
                self._upon_connect.pop(0)(kit)
            pending.put(kit.call(call.f, call.contact, call.args))

        self._race.drive(lambda: self._task.state in {State.IDLE, State.DEAD, State.STOPPED})
        if self._task.state is not State.IDLE:
            pending.put(NoReply(why=f"{self.id} is {self._task.state.name.lower()}"))
            return pending
        self._task.begin(job)
        return pending

    def _stop(self, point: str, kind: str) -> SimStop:
        self._stops += 1
        stop = SimStop(self._race, self._task, point, kind, self._stops)
        self._task.aims[point] = stop
        return stop

    def pause_at(self, point: str) -> SimStop:
        return self._stop(point, "pause")

    def hold_at(self, point: str) -> SimStop:
        return self._stop(point, "hold")

    def kill_at(self, point: str) -> SimStop:
        return self._stop(point, "kill")

    def kill(self) -> None:
        self._race.world.crash(self._task)

    def restart(self) -> None:
        if self._task.state is State.DEAD:
            self._race.world.restart(self._task)
            self._task.state = State.IDLE

    def lose_next_reply(self) -> None:
        self._tell(Kit.lose_next_reply)

    def slow_next_reply(self, seconds: float) -> None:
        self._tell(lambda kit: kit.slow_next_reply(seconds))

    def _tell(self, what: Callable[[Kit], None]) -> None:
        """Tell its kit; after a restart there is none until its next call."""
        if self._task.kit is not None:
            what(self._task.kit)
        else:
            self._upon_connect.append(what)

    def skew(self, offset_s: float) -> float:
        world, clock = self._race.world, self._task.clock
        assert clock is not None
        clock.offset_ms = round(offset_s * 1000)
        measured_s = (clock.now_ms() - world.clock.peek_ms()) / 1000
        for phase in ("begin", "end"):
            world.fault(
                self.id, "skew", phase, f"skew:{self.id}", wanted_s=offset_s, measured_s=measured_s
            )
        return measured_s


class SimRace(Race):
    """One variant of one scenario in a world.

    Args:
        world: The run, begun.
        driver: Who chooses.
        capabilities: What the target can do.
        rng: Seeded draws for the script.
    """

    def __init__(
        self,
        *,
        world: World,
        driver: Driver,
        name: str,
        variant: str,
        settings: Settings,
        capabilities: Set[Capability],
        rng: random.Random,
    ) -> None:
        super().__init__(
            name=name, variant=variant, settings=settings, capabilities=capabilities, rng=rng
        )
        self.world = world
        self.driver = driver
        self._actors = [SimActor(self, task) for task in world.tasks]
        self._contact_of: dict[str, str] = {}
        self._replicas: dict[SimActor, int] = {}

    @property
    def agents(self) -> Sequence[Actor]:
        return self._actors

    def replica(self, actor: Actor) -> Actor:
        """Another process of the same agent; those of earlier rounds are used again."""
        for spare, used in self._replicas.items():
            if spare.id == actor.id and used < self.round:
                self._replicas[spare] = self.round
                return spare
        made = SimActor(self, self.world.add_replica(actor.id))
        self._replicas[made] = self.round
        return made

    def mark(self, name: str, *, agent: str = "", **data: Any) -> None:
        self.world.mark(name, agent, **data)

    def drive(self, until: Any) -> None:
        """Let agents move, by choice, until something holds.

        Raises:
            Stuck: Nobody can move and it does not hold.
        """
        while not until():
            if not self.drive_once():
                break

    def drive_once(self) -> bool:
        """Make one choice, and let the faults strike it leads to; False if there is none."""
        if not self.driver.step():
            return False
        for task in self.world.tasks:
            if task.struck is not None:
                stop, task.struck = task.struck, None
                stop.strike()
        return True

    def together(self, *calls: Call) -> list[Answer]:
        pending = [call.start() for call in calls]
        return [each.answer() for each in pending]

    def pass_store_time(self, until_ms: int) -> None:
        self.world.set_time(until_ms + 1)

    def transport(self, behaviour: str) -> None:
        self.world.transport.behaviour = behaviour

    def crash_store(self) -> None:
        for phase in ("begin", "end"):
            self.world.fault("", "store_crash", phase, f"store_crash:{self.world.faults}")
            if phase == "begin":
                self.world.target.crash_store()
        self.world.faults += 1

    def message(self, contact: Contact, **options: Any) -> Message:
        message = super().message(contact, **options)
        self._contact_of[message.intent] = contact.name
        return message

    def deliveries(self, contact: Contact) -> int:
        self.drive(lambda: False)
        spellings = {spelling.lower() for spelling in contact.spellings}
        return sum(
            self._contact_of.get(event.intent) == contact.name
            or event.recipient.lower() in spellings
            for event in self.world.transport.arrived
        )

    def play(
        self, playbook: Playbook, plays: Mapping[str, Mapping[str, Any]], seconds: float
    ) -> None:
        world = self.world
        ends_ms = world.clock.peek_ms() + round(seconds * 1000)
        for task in world.tasks:
            if task.id in plays and task.state is State.IDLE:
                self._seat(task, playbook, plays[task.id], ends_ms)
        self.drive(lambda: False)

    def engage(
        self, actor: Actor, playbook: Playbook, args: Mapping[str, Any], seconds: float
    ) -> Engaged:
        """Let one agent act on its own; it moves whenever the script waits for something."""
        assert isinstance(actor, SimActor)
        ends_ms = self.world.clock.peek_ms() + round(seconds * 1000)
        self._seat(actor.task, playbook, args, ends_ms)
        return SimEngaged(self, actor.task)

    def _seat(self, task: Task, playbook: Playbook, args: Mapping[str, Any], ends_ms: int) -> None:
        seat = SimSeat(self.world, task, self.settings, self.rng.randrange(2**32))
        seat.ends_ms = ends_ms
        seat.call_costs_ms = CALL_COSTS_MS
        task.begin(_job(playbook, seat, args))


def _job(playbook: Playbook, seat: SimSeat, args: Mapping[str, Any]) -> Any:
    return lambda _task: playbook(seat, args)
