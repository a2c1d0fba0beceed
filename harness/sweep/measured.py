"""Contention rounds of real runs, beside which the model can be held.

A round is not a working day: its agents do nothing but claim, write and release on a few contacts, as
fast as the mailbox answers. So the model is also run on each round's own load: as many agents and
contacts, with the hold times and the pauses that the history shows, drawn at random. Where it agrees
with what was measured, conflicts come from nothing but leases that live; where it does not, something
else is in the way, such as a queue at the store.
"""

from __future__ import annotations

import importlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heappushpop
from pathlib import Path
from random import Random
from typing import Any

from ..contract import Code
from ..history import Operation, OpType
from ..outcome import Contention
from .cell import quantiles_s
from .door import Compact
from .lengths import Lengths

REFUSED = (Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED)
CLAIMS = 20_000
"""Claims the model makes for one figure: a standard error of about 0.3 %."""
LEASE_US = 3_600_000_000
"""No lease ends by itself in a round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One contention round.

    Args:
        run: Name of the run's folder.
        race: Name of the round.
        agents: How many took part.
        contacts: How many contacts they shared.
        claims: How many claims they made.
        conflict_rate: Share of claims that were refused, escalated ones included.
        expected_rate: The same by the model, run on this round's load; None without a history.
        refused_wait_p95_s: Of the grants that were refused before, 95 % came within this of the first
            ask; as in `Cell`.
        per_hour: Messages that arrived, for an hour.
    """

    run: str
    race: str
    agents: int
    contacts: int
    claims: int
    conflict_rate: float
    expected_rate: float | None
    refused_wait_p95_s: float
    per_hour: float


def read_rounds(path: Path) -> list[Measured]:
    """The contention rounds of a run.

    Args:
        path: The run's folder, or a ``latest``.

    Raises:
        UsageError: There is no run in it, or one of its files is broken.
    """
    rebuild = importlib.import_module("leaserace.reports.rebuild")
    run = rebuild.read_back(path)
    name = run.folder.resolve().name
    return [_measured(name, each, run.races.get(each.race)) for each in run.outcome.contention]


def _measured(run: str, round_: Contention, picture: Any) -> Measured:
    waits_ms = refused_waits_ms(picture.operations) if picture else array("q")
    return Measured(
        run=run,
        race=round_.race,
        agents=round_.agents,
        contacts=round_.contacts,
        claims=round_.attempts,
        conflict_rate=_conflict_rate(round_, picture),
        expected_rate=_expected(round_, picture),
        refused_wait_p95_s=quantiles_s(waits_ms)["p95"],
        per_hour=round_.deliveries / round_.seconds * 3600 if round_.seconds else 0.0,
    )


def refused_waits_ms(operations: Iterable[Operation]) -> array[int]:
    """From an agent's first refused ask for a contact to its grant, in milliseconds."""
    asked: dict[tuple[str, str], int] = {}
    waits_ms = array("q")
    for op in operations:
        if op.f != "acquire" or op.completed_ns is None:
            continue
        key = (op.agent, op.contact)
        if op.code in REFUSED:
            asked.setdefault(key, op.invoked_ns)
        elif op.type is OpType.OK and key in asked:
            waits_ms.append((op.completed_ns - asked.pop(key)) // 1_000_000)
    return waits_ms


def _conflict_rate(round_: Contention, picture: Any) -> float:
    """From the history, where there is one: a conflict that goes to a person is one too (spec: R2)."""
    claims = [op for op in picture.operations if op.f == "acquire"] if picture else []
    if claims:
        return sum(op.code in REFUSED for op in claims) / len(claims)
    return round_.conflicts / round_.attempts if round_.attempts else 0.0


def _expected(round_: Contention, picture: Any) -> float | None:
    load = load_of(picture.operations) if picture else None
    if load is None:
        return None
    contacts = len({op.contact for op in picture.operations if op.f == "acquire"})
    return expected_rate(load, agents=round_.agents, contacts=contacts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What agents of a round did, as durations in microseconds; each list has at least one.

    Args:
        holds_us: From a grant to its release.
        after_release_us: From a release to the next claim.
        after_refusal_us: From a refused claim to the next.
    """

    holds_us: list[int]
    after_release_us: list[int]
    after_refusal_us: list[int]


def load_of(operations: Iterable[Operation]) -> Load | None:
    """The load a history shows, or None if it shows no claims that were held and given back."""
    holds: list[int] = []
    released: list[int] = []
    refused: list[int] = []
    lists = {"hold": holds, "released": released, "refused": refused}
    last: dict[str, tuple[str, int]] = {}
    for op in sorted(operations, key=lambda each: each.completed_ns or 0):
        if op.f not in {"acquire", "release"} or op.completed_ns is None:
            continue
        state, since_ns = last.get(op.agent, ("", 0))
        expected = "hold" if op.f == "release" else state
        if state and state == expected:
            lists[state].append((op.completed_ns - since_ns) // 1000)
        granted = op.type is OpType.OK
        now = "released" if op.f == "release" else "hold" if granted else "refused"
        last[op.agent] = now, op.completed_ns
    if not holds or not released:
        return None
    return Load(holds_us=holds, after_release_us=released, after_refusal_us=refused or released)


def expected_rate(load: Load, *, agents: int, contacts: int, seed: int = 1) -> float:
    """Share of claims the compact model refuses under a load.

    Args:
        load: Durations, drawn from at random.
        agents: How many claim.
        contacts: How many contacts they choose from, all alike.
        seed: Of the draws.
    """
    rng = Random(f"{seed} round")
    model = Compact(Lengths(lease_ms=LEASE_US, commercial_ms=0, transactional_ms=0))
    waiting = [(rng.choice(load.after_release_us), agent, -1, 0) for agent in range(agents)]
    heapify(waiting)
    refused = 0
    for _ in range(CLAIMS):
        now_us, agent, contact, token = heappop(waiting)
        while contact >= 0:
            model.release(agent, contact, token, now_us)
            later_us = now_us + rng.choice(load.after_release_us)
            now_us, agent, contact, token = heappushpop(waiting, (later_us, agent, -1, 0))
        wanted = rng.randrange(contacts)
        answer = model.acquire(agent, wanted, now_us)
        if len(answer) == 3:
            entry = now_us + rng.choice(load.holds_us), agent, wanted, answer[0]
        else:
            refused += 1
            entry = now_us + rng.choice(load.after_refusal_us), agent, -1, 0
        heappush(waiting, entry)
    return refused / CLAIMS
