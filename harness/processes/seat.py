"""A playbook's seat in an agent's process."""

from __future__ import annotations

import contextlib
import importlib
import random
import time
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from ..answers import message_to_json
from ..clocks import HostClock, monotonic_ns
from ..contract import Answer, Mailbox, Message, Settings, UsageError
from ..scenario import Playbook
from . import wire

if TYPE_CHECKING:
    from .agent import Agent

_LOOK_NS = 20_000_000
"""How often a running playbook looks whether it is to end early."""


class ProcessSeat:
    """What a playbook holds.

    Args:
        agent: The process it sits in.
        agent_id: Agent id.
        command: What was ordered.
    """

    def __init__(self, agent: Agent, agent_id: str, command: wire.Play) -> None:
        self._agent = agent
        self._id = agent_id
        self._until_ns = command.until_ns
        self._rng = random.Random(command.seed)
        self._looked_ns = monotonic_ns()
        self._interrupted = False
        self.calls = 0
        self.longest_ns = 0

    @property
    def id(self) -> str:
        """Agent id."""
        return self._id

    @property
    def rng(self) -> random.Random:
        """Draws of its own, from the run's seed."""
        return self._rng

    @property
    def settings(self) -> Settings:
        """The lengths in force."""
        return self._agent.settings

    @property
    def incarnation(self) -> int:
        """0 at first, one more after each restart."""
        return self._agent.incarnation

    @property
    def kept(self) -> MutableMapping[str, str]:
        """What the agent has written down; it outlives its process."""
        return self._agent.kept

    @property
    def clock(self) -> HostClock:
        """The agent's own clock, skewed where its process is."""
        return HostClock()

    def mark(self, name: str, **data: Any) -> None:
        """Write a mark of this agent's."""
        self._agent.mark(name, data)

    @property
    def one_thread(self) -> bool:
        """Processes may have any number."""
        return False

    def stand_before(self, put: Callable[[Mailbox], Mailbox]) -> None:
        """Put something between this agent and its mailbox."""
        self._agent.kit.mailbox = put(self._agent.kit.mailbox)

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        """One recorded call."""
        if isinstance(args.get("message"), Message):
            args["message"] = message_to_json(args["message"])
        begun_ns = monotonic_ns()
        answer = self._agent.kit.call(f, contact, args)
        self.calls += 1
        self.longest_ns = max(self.longest_ns, monotonic_ns() - begun_ns)
        return answer

    def running(self) -> bool:
        """False once the time is up or the run is being ended."""
        now_ns = monotonic_ns()
        if now_ns - self._looked_ns > _LOOK_NS:
            self._looked_ns = now_ns
            self._interrupted = self._interrupted or self._agent.has_news()
        return now_ns < self._until_ns and not self._interrupted

    def wait_s(self, seconds: float) -> None:
        """Do nothing for so long, or until the time is up."""
        left_s = (self._until_ns - monotonic_ns()) / 1e9
        time.sleep(max(0.0, min(seconds, left_s)))

    def lose_next_reply(self) -> None:
        """Its next call is executed, the answer is dropped."""
        self._agent.kit.lose_next_reply()


def learn(name: str) -> wire.Told:
    """Import a playbook; what goes wrong is said when it is played."""
    with contextlib.suppress(Exception):
        _find(name)
    return wire.Told()


def play(agent: Agent, agent_id: str, command: wire.Play) -> wire.Played:
    """Run a playbook to its end and say how it went."""
    from .agent import wait_until

    seat = ProcessSeat(agent, agent_id, command)
    problem = ""
    try:
        playbook = _find(command.playbook)
        wait_until(command.at_ns)
        playbook(seat, command.data)
    except Exception as error:  # noqa: BLE001 - a playbook's own; it is said
        problem = f"the playbook raised {type(error).__name__}: {error}"
    return wire.Played(calls=seat.calls, longest_s=seat.longest_ns / 1e9, problem=problem)


def name_of(playbook: Playbook) -> str:
    """``module:qualname``, by which another process finds it.

    Raises:
        UsageError: No other process can find it.
    """
    if playbook.__module__ == "__main__" or "<" in playbook.__qualname__:
        raise UsageError(
            f"playbook {playbook.__qualname__!r} can't be found by an agent's process: make it a"
            " function of a module that can be imported"
        )
    return f"{playbook.__module__}:{playbook.__qualname__}"


def _find(name: str) -> Playbook:
    module, _, qualname = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    playbook: Playbook = found
    return playbook
