"""What leads an agent under test into a situation: the race, the agent, one of ours, a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ..contract import Answer, Code, Lease, Refused, Sent, Settings
from ..faults import Phase
from ..history import FaultEvent, History, MarkEvent, Operation
from ..scenario import Contact, Engaged, NotReached, Race, Stop, slug
from .playing import BEGIN, UNDER_TEST, work
from .task import AgentTask, Assignment, task_to_json

GIVEN_S = 3.0
"""How long an agent may work on one task, by the engine's time."""
SETTINGS = Settings(lease_s=1.0, cooldown_s=0.0, transport_timeout_s=0.5, breaker_minimum=0)
"""Lengths in most situations: nothing ends before an agent on a crowded machine has come to its call."""
SHORT = replace(SETTINGS, lease_s=0.5)
"""Lengths where the end of a lease is waited for."""
OPT_OUT = "Please take me off your list. Unsubscribe."
"""What a contact who opts out has written."""
GOAL = "answer the contact's question about the offer"

Given = Callable[[Operation], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One thing an agent is answered, or that happens to it.

    Args:
        name: Short; it is the race's variant.
        answer: What the agent is answered, in a few words.
        f: The mailbox method that is answered.
        right: What is right next.
        spec: Rules it shows.
        lead: Leads the agent into it: one round.
        given: Whether a call of the agent's got the answer; None where the situation is there from the
            start, so that any call is made in it.
        settings: Lengths.
        scripted: Method and code of an answer that a script gives, or None.
        fault: The fault that must have struck, or "".
        again: It is about what the agent does when its run is started once more.
    """

    name: str
    answer: str
    f: str
    right: str
    spec: tuple[str, ...]
    lead: Callable[[Stage], None]
    given: Given | None = None
    settings: Settings = SETTINGS
    scripted: tuple[str, Code] | None = None
    fault: str = ""
    again: bool = False

    def is_given(self, op: Operation) -> bool:
        """Whether this call got the answer."""
        return self.given is None or self.given(op)

    def moments(self, history: History) -> list[int] | None:
        """When it came about, in nanoseconds; None where calls alone tell it."""
        if self.fault:
            return [
                event.t
                for event in history
                if isinstance(event, FaultEvent)
                and event.fault == self.fault
                and event.phase == Phase.BEGIN
            ]
        if self.again:
            begun = (e for e in history if isinstance(e, MarkEvent) and e.name == BEGIN)
            return [event.t for event in begun][1:]
        return None


class Stage:
    """One round of a situation.

    Args:
        race: The race; its first agent is the one under test, its second is ours.
        name: The agent's name, as its user gave it.
        situation: Which situation.
    """

    def __init__(self, race: Race, name: str, situation: Situation) -> None:
        self.race = race
        self.agent, self.ours = race.agents[:2]
        self._name = name
        self._situation = situation
        self._attempts = 0
        race.mark(UNDER_TEST, agent=self.agent.id, situation=situation.name, callable=name)

    def person(self, *forms: str) -> Contact:
        """Somebody nobody wrote to yet."""
        return self.race.contact(*forms)

    # The agent.

    def engage(
        self, *people: Contact, drafting_s: float = 0.0, inbound: str = "", seconds: float = GIVEN_S
    ) -> Engaged:
        """Let the agent write to these people, one message each; the same person may stand twice.

        Called again in one round it starts the same run again.
        """
        task = self._task(people, drafting_s, inbound)
        self._attempts += 1
        args: Mapping[str, Any] = {
            "agent": self._name,
            "task": task_to_json(task),
            "contacts": [msgspec.to_builtins(each) for each in dict.fromkeys(people)],
            "scripted": self._situation.scripted,
        }
        return self.race.engage(self.agent, work, args, seconds)

    def _task(self, people: tuple[Contact, ...], drafting_s: float, inbound: str) -> AgentTask:
        run = f"{slug(self.race.name)}.{self.race.round}"
        steps = [f"step-{number + 1}" for number in range(len(people))]
        return AgentTask(
            agent=self.agent.id,
            run=run,
            thread=f"thread-{run}",
            goal=GOAL,
            attempt=self._attempts,
            messages=tuple(
                Assignment(
                    to=person.address,
                    subject=f"Your offer, {step}",
                    draft=f"Hello, this is about your offer ({step}).",
                    intent=f"{run}.{self.agent.id}.{step}",
                    step=step,
                    drafting_s=drafting_s,
                    inbound=inbound,
                )
                for person, step in zip(people, steps, strict=True)
            ),
        )

    def send_meets(
        self, change: Callable[[], object], *people: Contact, f: str = "send", **options: Any
    ) -> None:
        """Let the agent work; before its first call of `f`, something changes."""
        stop = self.agent.hold_at(f"{f}.think")
        run = self.engage(*people, **options)
        self.reach(stop, f, run)
        change()
        stop.resume()
        run.wait()

    def reach(self, stop: Stop, f: str, run: Engaged) -> None:
        """Wait until the agent stands where it is to be held; one that hangs is cut off.

        Raises:
            NotReached: It never came there.
        """
        try:
            stop.wait()
        except NotReached as error:
            run.wait()
            raise NotReached(f"the agent never called {f}") from error

    # Ours.

    def own(self, person: Contact) -> Lease:
        """Our agent claims the person.

        Raises:
            NotReached: It was refused.
        """
        lease: Lease = wanted(self.ours.acquire(person), Lease)
        return lease

    def write(self, person: Contact) -> None:
        """Our agent writes to the person and gives them back.

        Raises:
            NotReached: It could not.
        """
        lease = self.own(person)
        wanted(self.ours.send(person, self.race.message(person, lease=lease)), Sent)
        self.ours.release(person, lease)

    def let_leases_end(self) -> None:
        """Wait until every lease that is held now is over, by the store's clock."""
        scratch = self.own(self.person())
        at_ms = scratch.granted_at_ms or scratch.acquired_at_ms
        self.race.pass_store_time(at_ms + self.lease_ms)

    @property
    def lease_ms(self) -> int:
        """Length of a lease in force, in whole milliseconds, rounded up."""
        return int(self.race.settings.lease_s * 1000) + 1


def wanted(answer: Answer, kind: type[Any]) -> Any:
    """The answer, if it is what the situation needs.

    Raises:
        NotReached: It is another one; then the situation does not come about.
    """
    if not isinstance(answer, kind):
        said = answer.code if isinstance(answer, Refused) else type(answer).__name__
        raise NotReached(f"our own agent was answered {said}, not {kind.__name__}")
    return answer


def refused(f: str, *codes: Code) -> Given:
    """Whether a call of `f` was refused with one of these."""
    return lambda op: op.f == f and op.code in codes


def lost(f: str) -> Given:
    """Whether the reply to a call of `f` was lost."""
    return lambda op: op.f == f and op.code == "reply_lost"


__all__ = [
    "OPT_OUT",
    "SETTINGS",
    "SHORT",
    "Given",
    "Situation",
    "Stage",
    "lost",
    "refused",
    "wanted",
]
