"""One simulated agent: a greenlet that is moved from one point to the next."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from greenlet import GreenletExit, greenlet

if TYPE_CHECKING:
    from ..clocks import OffsetClock
    from ..contract import AgentContext
    from ..kit import Kit
    from .world import World


class Crash(BaseException):
    """Thrown into an agent that crashes: no target may take it for an error and go on."""


class State(IntEnum):
    """What an agent is doing."""

    IDLE = 0
    """It has nothing to do, or is done."""
    READY = 1
    """It stands at a point and can be moved, unless it waits for a section."""
    DORMANT = 2
    """It has not begun, and need not."""
    SLEEPING = 3
    """It waits for the store's clock to reach `Task.wake_ms`."""
    STOPPED = 4
    """A script paused or holds it."""
    DEAD = 5
    """It crashed; moving it starts its next incarnation."""


IDLE, READY, DORMANT, SLEEPING, STOPPED, DEAD = State
"""The states by themselves: looking one up in its class costs at every step."""

Job = Callable[["Task"], None]


class Task:
    """One agent of a run.

    Attributes:
        index: Its place, and its letter in a schedule.
        id: Agent id.
        seat: Name of this process; another than the id where two share it.
        state: What it is doing.
        point: The point it stands at.
        touches: What its next step may touch, as the target said.
        waits_for: The section it waits for, or None.
        timed_out: Its wait for the section is over: it was not had in time.
        holds: How many sections it holds.
        wake_ms: When it wakes (state `SLEEPING`).
        fate: What the transport does with its next hand-over, or "".
        unwinding: It is being taken down: its points are no choices and it records nothing.
        stepped: Its last step did something shared.
        touched: It did something shared since it was last chosen among others.
        fresh: A crash would make another difference now than when one was last thought of.
        view: Answers it got so far, for the key of a visited state.
        kept: What it has written down; it outlives a crash.
        seen: What it saw of the store during the call that is under way.
    """

    __slots__ = (
        "aims",
        "clock",
        "context",
        "error",
        "fate",
        "fresh",
        "greenlet",
        "holds",
        "id",
        "in_job",
        "incarnation",
        "index",
        "job",
        "kept",
        "kit",
        "play",
        "point",
        "seat",
        "seen",
        "state",
        "stepped",
        "struck",
        "timed_out",
        "touched",
        "touches",
        "unwinding",
        "view",
        "waits_for",
        "wake_ms",
        "world",
    )

    def __init__(self, world: World, index: int) -> None:
        self.world = world
        self.index = index
        self.greenlet = greenlet(self._loop)
        self.in_job = False
        self.reset("")

    def reset(self, agent: str) -> None:
        """Make it a fresh agent called `agent`."""
        self.id = agent
        self.seat = agent
        self.state = IDLE
        self.incarnation = 0
        self.kit: Kit | None = None
        self.clock: OffsetClock | None = None
        self.context: AgentContext | None = None
        self.job: Job | None = None
        self.play: Job | None = None
        self.error: BaseException | None = None
        self.aims: dict[str, Any] = {}
        self.struck: Any = None
        self.view: list[Any] = []
        self.kept: dict[str, str] = {}
        self.seen: list[int] = []
        self.settle()

    def settle(self) -> None:
        """Forget where it stood: a job has ended or a new incarnation begins."""
        self.point = "start"
        self.touches: tuple[str, ...] = ()
        self.waits_for: str | None = None
        self.timed_out = False
        self.holds = 0
        self.wake_ms = 0
        self.fate = ""
        self.unwinding = False
        self.stepped = False
        self.touched = False
        self.fresh = False

    def begin(self, job: Job) -> None:
        """Give it something to do; it starts when it is moved."""
        self.job = job
        self.point = "start"
        self.state = READY

    def unwind(self) -> None:
        """Throw `Crash` into it, so that its transactions roll back and its memory is gone."""
        if self.in_job:
            self.unwinding = True
            self.world.current, before = self, self.world.current
            try:
                self.greenlet.throw(Crash)
            finally:
                self.world.current = before
        self.job = None
        self.settle()

    def _loop(self) -> None:
        """Run one job after the other; between two the hub has the word."""
        switch = self.world.hub.switch
        while True:
            job = self.job
            if job is not None:
                self.in_job = True
                try:
                    if self.kit is None:
                        self.world.connect(self)
                    job(self)
                except Crash:
                    pass
                except GreenletExit:
                    raise
                except BaseException as error:  # noqa: BLE001 - the hub raises it
                    self.error = error
                self.in_job = False
                self.job = None
                if not self.unwinding:
                    self.state = IDLE
                    if self.error is None and self._hand_on():
                        continue
            switch()

    def _hand_on(self) -> bool:
        """Its job is done: let the next agent go on without the way round by the hub."""
        world = self.world
        if world.ask is None or not world.hands_on:
            return False
        other = world.ask()
        if other is None:
            return False
        world.current = other
        other.greenlet.switch()
        return True
