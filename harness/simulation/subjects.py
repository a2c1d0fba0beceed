"""What a schedule runs: agents with playbooks, or with a program, on one person.

A subject has a short text that stands in its schedules: ``play.sales.sales`` is two agents with the
playbook ``sales`` (``sales-1``: one try or step; ``sales_0``: in the first spelling, ``sales_3``: to
another person; ``sales~uuid-per-call``: with this habit); ``prog.ASRL.ASL`` is two clients that make the
calls their letters name, whatever they are answered. A mailbox must hold against both. ``@`` before a
name makes it a second process under the first agent's id. ``race.stale_token.0.2`` is one round of a
scenario's script: its first variant, two agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..contract import Settings, UsageError
from ..habits import habit
from ..playbooks import PERSONS, PLAYBOOKS, TO_MANY
from ..scenario import REGISTRY, Playbook, Scenario, Variant
from .choices import AGENTS_MAX
from .programs import LETTERS, program

AGENT_IDS = ("sales-01", "support-01", "digest-01", "sequence-01", "billing-01")
"""Names of the agents, in the order in which they are added."""

PEOPLE = ("contact-1", "contact-2", "contact-3")
IN_ASCII = 2
"""So many of them have addresses in ASCII only."""
SPELLINGS = (
    "jane.doe@gmail.com",
    "Jane.Doe@Gmail.COM",
    "janedoe+news@googlemail.com",
    "john.roe@gmail.com",
    "John.Roe@Gmail.COM",
    "johnroe+news@googlemail.com",
    "z\u00f6e@m\u00fcnchen.example.com",
    "zo\u0308e@m\u00fcnchen.example.com",
    "z\u00f6e@xn--mnchen-3ya.example.com",
)
"""Three spellings of each person; agent n uses the n-th of the first person unless it is told another.

The last person's differ in how an accent is composed, and in the form of the domain.
"""
HABIT = "~"
"""Stands before an agent's habit."""
EACH = 3
"""Spellings of one person."""

POLICIES: Mapping[str, Settings] = {
    "plain": Settings(lease_s=60.0, cooldown_s=0.0),
    "cooldown": Settings(lease_s=60.0, cooldown_s=300.0),
    "short-key": Settings(lease_s=60.0, cooldown_s=0.0, key_window_s=30.0, breaker_minimum=1.0),
    "short-lease": Settings(lease_s=2.0, cooldown_s=5.0, key_window_s=60.0),
}
"""Policy variants: each takes one layer away or makes one short, so that none hides another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPlan:
    """One agent of a subject.

    Args:
        agent: Agent id.
        playbook: What it does.
        args: The playbook's JSON.
        optional: It need not happen: something that comes in from outside.
        kind: Agents of one kind on one spelling may be exchanged for one another.
    """

    agent: str
    playbook: Playbook
    args: Mapping[str, Any]
    optional: bool
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RacePlan:
    """One round of a scenario.

    Args:
        scenario: Which one.
        variant: Which of its variants.
        agents: How many agents take part.
    """

    scenario: Scenario
    variant: Variant
    agents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What runs.

    Args:
        text: How schedules call it.
        seats: The agents.
        contacts: Names of the persons written to, with their spellings.
        race: The scenario's round that runs instead, or None.
    """

    text: str
    seats: tuple[SeatPlan, ...]
    contacts: Mapping[str, tuple[str, ...]]
    race: RacePlan | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """Agent ids in the order of their letters."""
        if self.race is not None:
            return AGENT_IDS[: self.race.agents]
        return tuple(seat.agent for seat in self.seats)


def parse(text: str) -> Subject:
    """The subject of this text.

    Raises:
        UsageError: There is none.
    """
    kind, _, rest = text.partition(".")
    if kind == "race":
        return Subject(text=text, seats=(), contacts={}, race=_race(text, rest))
    names = rest.split(".") if rest else []
    make = _MAKERS.get(kind)
    if make is None or not 1 <= len(names) <= AGENTS_MAX:
        raise UsageError(
            f"subject {text!r}: give play.NAME.NAME, with names of {', '.join(PLAYBOOKS)}, "
            "prog.LETTERS.LETTERS, or race.SCENARIO.VARIANT.AGENTS"
        )
    seats = tuple(
        _as_replica(make(text, index, name[1:]))
        if name.startswith("@")
        else make(text, index, name)
        for index, name in enumerate(names)
    )
    names_used = dict.fromkeys(name for seat in seats for name in _contacts(seat.args))
    contacts = {name: spellings_of(PEOPLE.index(name)) for name in names_used}
    return Subject(text=text, seats=seats, contacts=contacts)


def _race(text: str, rest: str) -> RacePlan:
    """The scenario's round; scenarios are found as the other commands find them."""
    from ..commands import load_scenarios

    name, _, numbers = rest.partition(".")
    variant, _, agents = numbers.partition(".")
    known = {scenario.id: scenario for scenario in load_scenarios()}
    scenario = known.get(name) or REGISTRY.get(name)
    if scenario is None:
        raise UsageError(f"subject {text!r}: no race is called {name!r}")
    place, count = _number(text, variant or "0"), _number(text, agents or "2")
    if place >= len(scenario.variants) or not 2 <= count <= len(AGENT_IDS):
        raise UsageError(
            f"subject {text!r}: {name} has variants 0 to {len(scenario.variants) - 1} and is run "
            f"with 2 to {len(AGENT_IDS)} agents"
        )
    return RacePlan(scenario=scenario, variant=scenario.variants[place], agents=count)


def _as_replica(seat: SeatPlan) -> SeatPlan:
    return replace(seat, agent=AGENT_IDS[0], kind=f"@{seat.kind}")


def play_of(names: tuple[str, ...]) -> str:
    """The text of agents with playbooks."""
    return "play." + ".".join(names)


def program_of(programs: tuple[str, ...]) -> str:
    """The text of clients with programs."""
    return "prog." + ".".join(programs)


def _agent_id(index: int) -> str:
    return AGENT_IDS[index] if index < len(AGENT_IDS) else f"agent-{index + 1:02d}"


def spellings_of(person: int) -> tuple[str, ...]:
    """All spellings of a person, by number."""
    return SPELLINGS[person * EACH : (person + 1) * EACH]


def _args(text: str, index: int, spelling: str) -> dict[str, Any]:
    place = _number(text, spelling) if spelling else index % EACH
    if place >= len(SPELLINGS):
        raise UsageError(f"subject {text!r}: there is no spelling {place}")
    return {
        "contact": PEOPLE[place // EACH],
        "address": SPELLINGS[place],
        "spellings": spellings_of(place // EACH),
        "run": "run",
        "first": AGENT_IDS[0],
    }


def _contacts(args: Mapping[str, Any]) -> list[str]:
    """Everybody an agent writes to."""
    return [args["contact"], *(contact for contact, _ in args.get("others", ()))]


def _play_seat(text: str, index: int, name: str) -> SeatPlan:
    named, tilde, habit_name = name.partition(HABIT)
    name, _, spelling = named.partition("_")
    word, _, options = name.partition("-")
    playbook = PLAYBOOKS.get(word)
    if playbook is None:
        raise UsageError(f"subject {text!r}: no playbook is called {word!r}")
    args = _args(text, index, spelling)
    if options:
        number = _number(text, options)
        args |= {"patience": number, "steps": number, "times": number}
    if word in TO_MANY:
        args["others"] = [list(pair) for pair in _others(args["contact"])]
    if tilde:
        args["habit"] = habit(habit_name).name
    person = word in PERSONS
    agent = f"{word}-in" if person else _agent_id(index)
    return SeatPlan(
        agent=agent,
        playbook=playbook,
        args=args,
        optional=person,
        kind=f"{name}{tilde}{habit_name} {args['address']}",
    )


def _others(contact: str) -> list[tuple[str, str]]:
    """The other persons and their first spellings."""
    return [
        (name, spellings_of(person)[0])
        for person, name in enumerate(PEOPLE[:IN_ASCII])
        if name != contact
    ]


def _program_seat(text: str, index: int, letters: str) -> SeatPlan:
    letters, _, spelling = letters.partition("_")
    wrong = sorted(set(letters) - set(LETTERS))
    if wrong or not letters:
        raise UsageError(f"subject {text!r}: {''.join(wrong)!r} is no letter of {''.join(LETTERS)}")
    args = _args(text, index, spelling) | {"program": letters}
    return SeatPlan(
        agent=_agent_id(index),
        playbook=program,
        args=args,
        optional=False,
        kind=f"{letters} {args['address']}",
    )


def _number(text: str, digits: str) -> int:
    if not digits.isdigit() or len(digits) > 3:
        raise UsageError(f"subject {text!r}: {digits!r} is no number of tries, steps or spelling")
    return int(digits)


_MAKERS: Mapping[str, Callable[[str, int, str], SeatPlan]] = {
    "play": _play_seat,
    "prog": _program_seat,
}
