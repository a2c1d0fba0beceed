"""What a playbook holds in the simulator: an agent's own side of its calls."""

from __future__ import annotations

import random
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from ..answers import message_to_json
from ..contract import Answer, Capability, Lease, Mailbox, Message, NoReply, Refused, Sent, Settings

if TYPE_CHECKING:
    from ..clocks import AgentClock
    from .task import Task
    from .world import World


NEEDS = {
    "acquire": Capability.LEASE,
    "renew": Capability.LEASE,
    "release": Capability.LEASE,
    "send": Capability.SEND,
    "reply": Capability.REPLY,
    "forward": Capability.FORWARD,
    "receive": Capability.INBOUND,
    "lookup": Capability.LOOKUP,
    "cancel": Capability.CANCEL,
    "suppress": Capability.SUPPRESS,
    "unsuppress": Capability.SUPPRESS,
    "override": Capability.OVERRIDE,
    "note_contact": Capability.CONTACT_LOAD,
    "clean_up": Capability.CLEAN_UP,
}
"""Mailbox method to the capability it belongs to."""


class SimSeat:
    """A `leaserace.harness.scenario.Seat` of one simulated agent.

    Args:
        world: The run.
        task: The agent.
        settings: The lengths in force.
        seed: Seed of its own draws; the same in every schedule.
    """

    __slots__ = ("_rng", "_seed", "_task", "_world", "call_costs_ms", "ends_ms", "id", "settings")

    def __init__(self, world: World, task: Task, settings: Settings, seed: int) -> None:
        self._world = world
        self._task = task
        self._seed = seed
        self._rng: random.Random | None = None
        self.id = task.id
        self.settings = settings
        self.ends_ms: int | None = None
        self.call_costs_ms = 0

    @property
    def rng(self) -> random.Random:
        """Its own draws."""
        if self._rng is None:
            self._rng = random.Random(self._seed + self._task.incarnation)
        return self._rng

    @property
    def incarnation(self) -> int:
        """0 at first, one more after each restart."""
        return self._task.incarnation

    @property
    def kept(self) -> MutableMapping[str, str]:
        """What the agent has written down; it outlives a crash."""
        return self._task.kept

    @property
    def clock(self) -> AgentClock:
        """The agent's own clock: the store's, shifted where the agent is skewed."""
        task = self._task
        assert task.clock is not None
        task.seen.append(task.clock.now_ms())  # what it reads now may stand in its variables
        return task.clock

    def mark(self, name: str, **data: Any) -> None:
        """Write a mark of this agent's."""
        self._world.mark(name, self.id, **data)

    @property
    def one_thread(self) -> bool:
        """Greenlets can only switch in their own thread."""
        return True

    def stand_before(self, put: Callable[[Mailbox], Mailbox]) -> None:
        """Put something between this agent and its mailbox."""
        assert self._task.kit is not None
        self._task.kit.mailbox = put(self._task.kit.mailbox)

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        """One recorded call; for `send` pass ``message=``. What the target can't do is left out."""
        world, task = self._world, self._task
        message = args.get("message")
        if isinstance(message, Message):
            args = {"message": message_to_json(message)}
        need = NEEDS[args["message"].get("endpoint", f) if message else f]
        if need not in world.target.capabilities:
            return NoReply(why=f"the target does not declare {need}")
        assert task.kit is not None
        answer = task.kit.call(f, contact, args)
        task.view.append(answer)
        task.seen.clear()
        self._note(answer)
        if self.call_costs_ms:
            world.set_time(world.clock.peek_ms() + self.call_costs_ms)
        return answer

    def _note(self, answer: Answer) -> None:
        """Deadlines the answer tells of; time may pass to just before, at and after each."""
        world, settings = self._world, self.settings
        deadlines = world.deadlines
        if isinstance(answer, Lease):
            deadlines.add(answer.expires_at_ms)
        elif isinstance(answer, Sent):
            now_ms = world.clock.peek_ms()
            if settings.cooldown_s:
                deadlines.add(now_ms + round(settings.cooldown_s * 1000))
            deadlines.add(now_ms + round(settings.key_window_s * 1000))
        elif isinstance(answer, Refused) and answer.until_ms is not None:
            deadlines.add(answer.until_ms)

    def running(self) -> bool:
        """False once the time is up."""
        return self.ends_ms is None or self._world.clock.peek_ms() < self.ends_ms

    def wait_s(self, seconds: float) -> None:
        """Do nothing for so long by the store's clock, or until the time is up."""
        if self.ends_ms is not None:
            seconds = min(seconds, (self.ends_ms - self._world.clock.peek_ms()) / 1000)
        self._world.sleep(seconds)

    def lose_next_reply(self) -> None:
        """Its next call is executed, the answer is dropped."""
        assert self._task.kit is not None
        self._task.kit.lose_next_reply()
