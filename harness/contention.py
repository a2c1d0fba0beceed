"""The contention round: all agents work the same contacts at once, and the rules watch (spec: T2).

An agent with a habit goes about errands of its own on these contacts instead (spec: A3, K9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .contract import Capability, Lease, Message, Settings
from .engine import RaceRun
from .habits import Habit
from .habits.assign import NONE, Assignments
from .habits.trial import trial
from .history import DeliveryEvent, Operation, OpType
from .judging import conflicts
from .outcome import Contention
from .scenario import Contact, Race, Scenario, Seat, Variant, slug

CONTENDED_SHARE_MIN = 0.2
"""Below this share of the slowest against the fastest agent, a round says little."""
RENEWALS = 0.25
WAIT_S_MAX = 0.002
WORK_S_MAX = 0.004
"""Longest time a lease is worked under before its call: without any, a quick lock is never met held."""
SHORT_S = 0.15
"""A length so short that what a habit does at its end is done within a round."""


def contend(seat: Seat, args: Mapping[str, Any]) -> None:
    """Claim a contact, write, sometimes renew, release; on a conflict turn to another contact."""
    if "habit" in args:
        trial(seat, args)
        return
    made = 0
    while seat.running():
        name, address = seat.rng.choice(args["contacts"])
        lease = seat.call("acquire", name, address=address)
        if not isinstance(lease, Lease):
            seat.wait_s(seat.rng.uniform(0.0, WAIT_S_MAX))
            continue
        seat.wait_s(seat.rng.uniform(0.0, WORK_S_MAX))
        if seat.rng.random() < RENEWALS:
            seat.call("renew", name, address=address, token=lease.token)
        if args["sends"]:
            made += 1
            intent = f"{args['prefix']}.{seat.id}.{made}"
            seat.call("send", name, message=_message(address, lease.token, intent))
        seat.call("release", name, address=address, token=lease.token)


def _message(address: str, token: int, intent: str) -> Message:
    return Message(
        to=address,
        subject=f"Contended {intent}",
        body=f"Hello again.\n\n[intent:{intent}]\n",
        token=token,
        key=f"run:{intent}:send",
        intent=intent,
    )


def contention(seconds: float, habits: Assignments = NONE) -> Scenario:
    """The contention round as a scenario.

    Args:
        seconds: How long the agents go on.
        habits: Agents with a habit; the lengths are then so short that each habit shows.
    """

    def script(race: Race) -> None:
        # As many contacts as agents: they meet often, and each finds work.
        contacts = [race.contact() for _ in race.agents]
        own = {actor.id: habits.of(actor.id) for actor in race.agents}
        again = [actor for actor in race.agents if (each := own[actor.id]) and each.restarts]
        parts = 2 if again else 1
        for part in range(parts):
            for actor in again if part else ():
                actor.kill()
                actor.restart()
            plays = {actor.id: _play(race, contacts, part, own[actor.id]) for actor in race.agents}
            race.play(contend, plays, seconds / parts)

    return Scenario(
        id="contention",
        number=7,
        title="all agents work the same contacts at once",
        spec=("T2", "T3"),
        expected="no rule is broken, whoever wins",
        needs=frozenset({Capability.LEASE}),
        settings=_lengths(habits),
        variants=(Variant(name="same contacts"),),
        rounds=1,
        windows=("agents met",),
        masked_by="nothing: cooldown is off, so that agents go on meeting",
        script=script,
        group="contention",
    )


def _lengths(habits: Assignments) -> Settings:
    """Lengths in force: long ones that nothing runs into, unless a habit is about just that."""
    if not habits:
        return Settings(lease_s=5.0, cooldown_s=0.0)
    plain = Settings(lease_s=SHORT_S, cooldown_s=0.0)
    if any(each.outlives_window for each in habits.habits):
        return replace(plain, key_window_s=SHORT_S)
    return plain


def _play(
    race: Race, contacts: Sequence[Contact], part: int, habit: Habit | None
) -> dict[str, Any]:
    """What an agent is given; one with a habit does the same errands again after a restart."""
    shared = [[contact.name, contact.address] for contact in contacts]
    if habit is not None:
        can = sorted(race.capabilities)
        return {"contacts": shared, "habit": habit.name, "run": slug(race.name), "can": can}
    prefix = f"{slug(race.name)}.{part}" if part else slug(race.name)
    return {"contacts": shared, "prefix": prefix, "sends": Capability.SEND in race.capabilities}


def doubled(run: RaceRun, habits: Assignments, duplicates: int) -> list[str]:
    """What is to be said of mail that a habit doubled though no rule of the mailbox is broken.

    Args:
        run: A contention round.
        habits: Who had which habit.
        duplicates: Messages that arrived again.
    """
    own = {agent: habits.of(agent) for agent in run.info.agents}
    said = [f"{agent} ({habit.name})" for agent, habit in own.items() if habit and habit.doubles]
    if not duplicates or not said:
        return []
    asked = f"asked for by {', '.join(said)} under another key or after its window"
    return [
        f"{run.race}: {duplicates} messages arrived again, {asked}: no mailbox joins such tries"
    ]


def figures_of(run: RaceRun) -> Contention:
    """Measure a contention round from its history."""
    operations = run.history.operations()
    acquires = [op for op in operations if op.f == "acquire"]
    grants = Counter(op.agent for op in acquires if op.type is OpType.OK)
    share = {agent: grants.get(agent, 0) for agent in run.info.agents}
    return Contention(
        race=run.race,
        agents=run.agents,
        seconds=run.seconds,
        contacts=run.agents,
        attempts=len(acquires),
        grants=sum(grants.values()),
        conflicts=conflicts(acquires),
        sends=sum(op.f == "send" and op.type is OpType.OK for op in operations),
        deliveries=sum(isinstance(event, DeliveryEvent) for event in run.history),
        share_by_agent=share,
        longest_wait_s=_longest_wait_s(acquires),
        contended=min(share.values(), default=0)
        >= CONTENDED_SHARE_MIN * max(share.values(), default=0),
    )


def _longest_wait_s(acquires: list[Operation]) -> float:
    """Longest time from an agent's first refused ask for a contact to its grant, in seconds."""
    asked: dict[tuple[str, str], int] = {}
    longest_ns = 0
    for op in acquires:
        key = (op.agent, op.contact)
        since_ns = asked.setdefault(key, op.invoked_ns)
        if op.type is OpType.OK and op.completed_ns is not None:
            longest_ns = max(longest_ns, op.completed_ns - since_ns)
            del asked[key]
    return longest_ns / 1e9
