"""An agent's process: it waits on its pipe between calls and at armed points, and nowhere else.

There is one thread on purpose. A second one that read commands would go on inside a paused or skewed
agent, or be stopped half-way through a message.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .. import points
from ..answers import to_json
from ..clocks import HostClock, monotonic_ns
from ..contract import AgentContext, Environment, Mailbox, Settings, UsageError
from ..history import MarkEvent, Writer
from ..kit import Kit
from . import wire

if TYPE_CHECKING:
    from .kept import Kept

_SPIN_NS = 1_000_000
"""How long before a common start an agent spins instead of sleeping."""


class Orders(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent is told when it starts.

    Args:
        target: The target's name.
        agent: Agent id.
        seat: Name of this process; differs from the id where two share one.
        incarnation: 0 at first.
        events: File its events go to.
        env: The environment as JSON (`environment_to_json`).
    """

    target: str
    agent: str
    seat: str
    incarnation: int
    events: str
    env: Mapping[str, Any]


def environment_to_json(env: Environment) -> dict[str, Any]:
    """What of an environment crosses to a process."""
    return {
        "workdir": str(env.workdir),
        "smtp": list(env.smtp),
        "settings": msgspec.to_builtins(env.settings),
        "policy_file": None if env.policy_file is None else str(env.policy_file),
        "facts": dict(env.facts),
    }


def environment_from_json(value: Mapping[str, Any]) -> Environment:
    """The environment from `environment_to_json`'s form."""
    host, port = value["smtp"]
    policy_file = value["policy_file"]
    return Environment(
        workdir=Path(value["workdir"]),
        smtp=(host, port),
        settings=msgspec.convert(value["settings"], Settings),
        policy_file=None if policy_file is None else Path(policy_file),
        facts=value["facts"],
    )


def reason(what: str, error: BaseException) -> wire.Failed:
    """One line that says which of the target's methods raised what."""
    if isinstance(error, UsageError):
        return wire.Failed(why=str(error), usage=True)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return wire.Failed(why=f"{what} raised {text}")


class Agent:
    """Obeys the coordinator, calls the mailbox, stands still at armed points."""

    def __init__(self, connection: wire.Connection, orders: Orders, mailbox: Mailbox) -> None:
        self._connection = connection
        self._orders = orders
        self._mailbox = mailbox
        self._writer = Writer(Path(orders.events))
        self._armed: dict[str, list[int]] = {}
        self._reading = threading.Lock()
        self._is_calling = False
        self._kept: deque[wire.Command] = deque()
        self._sections: dict[str, threading.Lock] = {}
        self.incarnation = orders.incarnation
        self.settings = environment_from_json(orders.env).settings
        self.kit = Kit(
            mailbox=mailbox,
            agent=orders.agent,
            incarnation=orders.incarnation,
            record=self._writer,
            now_ns=monotonic_ns,
            seat=orders.seat,
        )
        self.kit.wait_s = time.sleep

    @cached_property
    def kept(self) -> Kept:
        """What this agent has written down, this incarnation or an earlier one."""
        from .kept import Kept

        return Kept(Path(self._orders.events).with_name(f"{self._orders.seat}.kept"))

    # What an engine listens to.

    def reached(self, name: str, touches: tuple[str, ...]) -> None:  # noqa: ARG002 - the listener's form
        """Stand still at an armed point until told to go on.

        A thread of the target's may come here too, while a call waits for it. One that comes between
        calls is let by: then the pipe is being read for the next command.
        """
        if not self._armed.get(name) or not self._is_calling:
            return
        with self._reading:
            stops = self._armed.get(name)
            if not stops:
                return
            self._say(wire.Reached(stop=stops.pop(0), t=monotonic_ns()))
            while not isinstance(command := self._read(), wire.Go):
                if isinstance(command, wire.Call | wire.Learn | wire.Play | wire.End):
                    self._kept.append(command)  # for the main thread, when it is back
                else:
                    self._obey_small(command)

    def enter(self, resource: str, deadline_s: float) -> bool:
        """Take a section inside this process."""
        return self._section(resource).acquire(timeout=deadline_s)

    def leave(self, resource: str) -> None:
        """Give it back."""
        self._section(resource).release()

    def _section(self, resource: str) -> threading.Lock:
        return self._sections.setdefault(resource, threading.Lock())

    # What the coordinator says.

    def serve(self) -> None:
        """Obey until told to end."""
        while not isinstance(command := self._next(), wire.End):
            match command:
                case wire.Call():
                    self._call(command)
                case wire.Learn() | wire.Play():
                    self._play(command)
                case _:
                    self._obey_small(command)
        self._say(wire.Ended(problem=self._close()))

    def mark(self, name: str, data: Mapping[str, Any]) -> None:
        """Write a mark of this agent's."""
        self._writer(MarkEvent(t=monotonic_ns(), name=name, agent=self._orders.agent, data=data))

    def has_news(self) -> bool:
        """Whether the coordinator said something, or is gone."""
        return self._connection.poll(0.0)

    def _next(self) -> wire.Command:
        """What the main thread is to do next; it waits while another thread stands at a point."""
        with self._reading:
            return self._kept.popleft() if self._kept else self._read()

    def _read(self) -> wire.Command:
        try:
            return wire.next_command(self._connection)
        except EOFError:
            os._exit(1)  # the coordinator is gone: a call that stands at a point must not go on

    def _say(self, message: wire.Reply) -> None:
        try:
            wire.send(self._connection, message)
        except OSError:
            os._exit(1)

    def _obey_small(self, command: wire.Command) -> None:
        """What can be told between calls and at a point alike."""
        match command:
            case wire.Arm(stop=stop, point=point):
                self._armed.setdefault(point, []).append(stop)
            case wire.Disarm(stop=stop):
                for stops in self._armed.values():
                    if stop in stops:
                        stops.remove(stop)
            case wire.LoseReply():
                self.kit.lose_next_reply()
            case wire.SlowReply(seconds=seconds):
                self.kit.slow_next_reply(seconds)
            case wire.Skew(offset_s=offset_s):
                self._skew(offset_s)
            case _:
                pass

    def _call(self, command: wire.Call) -> None:
        if command.at_ns is not None:
            wait_until(command.at_ns)
        self._is_calling = True
        answer = self.kit.call(command.f, command.contact, command.args)
        self._is_calling = False
        self._say(wire.Answered(call=command.call, value=to_json(answer)))

    def _play(self, command: wire.Learn | wire.Play) -> None:
        from . import seat

        if isinstance(command, wire.Learn):
            self._say(seat.learn(command.playbook))
        else:
            self._is_calling = True
            played = seat.play(self, self._orders.agent, command)
            self._is_calling = False
            self._say(played)

    def _skew(self, offset_s: float) -> None:
        from . import skew

        self._say(skew.skew(offset_s))

    def _close(self) -> str:
        """Close the mailbox; what goes wrong is said, since what was recorded still counts."""
        try:
            self._mailbox.close()
        except Exception as error:  # noqa: BLE001 - a target's own
            return reason("close()", error).why
        finally:
            self._writer.close()
        return ""


def wait_until(at_ns: int) -> None:
    """Wait for a monotonic instant, spinning at the end."""
    while (left_ns := at_ns - monotonic_ns()) > 0:
        if left_ns > 2 * _SPIN_NS:
            time.sleep((left_ns - _SPIN_NS) / 1e9)


def main(connection: wire.Connection, orders: Mapping[str, Any]) -> None:
    """Connect to the target, then serve."""
    from . import preload

    told = msgspec.convert(orders, Orders)
    try:
        target = preload.target(told.target)
        context = AgentContext(
            id=told.agent,
            incarnation=told.incarnation,
            env=environment_from_json(told.env),
            clock=HostClock(),
        )
        mailbox = target.connect(context)
    except Exception as error:  # noqa: BLE001 - a target's own; it is named to the user
        wire.send(connection, reason("connect()", error))
        return
    agent = Agent(connection, told, mailbox)
    points.listen(agent)
    wire.send(connection, wire.Ready())
    agent.serve()
