"""Agents with habits in races made on the spot, for both engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaserace.harness import Race, Settings
from leaserace.harness.contract import Answer
from leaserace.harness.engine import Engine, RaceRun
from leaserace.harness.history import DeliveryEvent, Operation
from leaserace.harness.playbooks import sales_follow_up
from leaserace.harness.scenario import Contact, Seat
from tests.support.races import PLAIN, race_of

SECONDS = 20.0
"""Longest time a playbook is given; each ends by itself long before."""


class _Losing:
    """A seat whose first reply to a send is lost."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._has_lost = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._seat, name)

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        if f == "send" and not self._has_lost:
            self._has_lost = True
            self._seat.lose_next_reply()
        return self._seat.call(f, contact, **args)


def with_a_lost_reply(seat: Seat, args: Mapping[str, Any]) -> None:
    """A playbook whose first send gets no reply."""
    losing: Any = _Losing(seat)
    sales_follow_up(losing, args)


def args_of(contact: Contact, habit: str, **more: Any) -> dict[str, Any]:
    """What a playbook is given."""
    return {
        "contact": contact.name,
        "address": contact.address,
        "run": "run",
        "habit": habit,
        **more,
    }


class Told:
    """What a race came to.

    Args:
        run: The race, run.
    """

    def __init__(self, run: RaceRun) -> None:
        assert run.problems == ()
        self.run = run
        self.operations = run.history.operations()
        self.arrived = [event for event in run.history if isinstance(event, DeliveryEvent)]

    def calls(self, *names: str, agent: str = "sales-01") -> list[Operation]:
        """An agent's calls of these methods, or all of them."""
        return [op for op in self.operations if op.agent == agent and (not names or op.f in names)]

    def seen(self, *names: str, agent: str = "sales-01") -> list[str]:
        """An agent's calls with what each came to: a code, or how it ended."""
        return [f"{op.f} {op.code or op.type}" for op in self.calls(*names, agent=agent)]

    @property
    def keys(self) -> list[str]:
        """Keys of the first agent's sends."""
        return [op.args["message"]["key"] for op in self.calls("send")]


def play(engine: Engine, habit: str, *, settings: Settings | None = None, **more: Any) -> Told:
    """One agent with the habit works on one contact, and the reply to its first send is lost."""

    def one_agent(race: Race) -> None:
        actor, contact = race.agents[0], race.contact()
        race.engage(actor, with_a_lost_reply, args_of(contact, habit, **more), SECONDS).wait()

    return told(engine, one_agent, settings)


def play_restarted(engine: Engine, habit: str, point: str, settings: Settings) -> Told:
    """One agent with the habit crashes at a point, starts again and works on the same contact."""

    def one_agent(race: Race) -> None:
        actor, contact = race.agents[0], race.contact()
        args = args_of(contact, habit)
        stop = actor.kill_at(point)
        race.engage(actor, sales_follow_up, args, SECONDS)
        stop.wait()
        actor.restart()
        race.engage(actor, sales_follow_up, args, SECONDS).wait()

    return told(engine, one_agent, settings)


def play_against(
    engine: Engine, habit: str, point: str, *, settings: Settings, **more: Any
) -> Told:
    """While the agent with the habit stands at a point, another one claims the contact and goes on."""

    def two_agents(race: Race) -> None:
        first, second = race.agents
        contact = race.contact()
        stop = first.hold_at(point)
        playing = race.engage(first, sales_follow_up, args_of(contact, habit, **more), SECONDS)
        stop.wait()
        args = args_of(contact, "well-behaved", patience=1)
        race.engage(second, sales_follow_up, args, SECONDS).wait()
        stop.resume()
        playing.wait()

    return told(engine, two_agents, settings)


def told(engine: Engine, script: Any, settings: Settings | None) -> Told:
    """Run a script as a race of two agents."""
    return Told(engine.run(race_of(script, settings=settings), PLAIN, agents=2))
