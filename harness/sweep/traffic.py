"""A working day of work for each agent, drawn once from a seed.

Every agent gets the same mix, so that one agent more is more of the same. All draws are made
beforehand, from the agent's own generator: the lease length, the cooldown and the other agents change
nothing in what an agent has to do, so that cells differ by their lengths alone.

The day has eight hours and a shape (`SHAPE`). Arrivals of a kind are a Poisson process under that shape;
sequences are started at the full hour, digests in the first and in the last hour, as schedulers do.

======== ===== ============== =====  ====================================================
kind     share message        calls  arrives
======== ===== ============== =====  ====================================================
reply     35 % transactional  1 to 3 any time; each fourth also wakes another agent (`ALSO`)
followup  35 % commercial     2 to 5 any time
sequence  20 % commercial     1 to 3 within about a minute after the full hour
digest    10 % commercial     1      within about two minutes after the begin of hour 1 or 8
======== ===== ============== =====  ====================================================

An agent thinks before it claims (exponential, mean 4 s), then makes its calls to a model or a tool one
after the other (lognormal, median 8 s, sigma 0.7). One call in a hundred hangs (exponential, mean 60 s
more); in one task of 200 the agent's process ends at a call and comes back 15 s later.

Contacts are not equally busy: contact ``floor(n * u * u)`` for a uniform ``u`` gives the busiest 1 % of
the contacts a tenth of the traffic.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from random import Random

HOUR_MS = 3_600_000
SHAPE = (1.2, 1.4, 1.2, 0.6, 0.8, 1.2, 1.0, 0.6)
"""Weight of each hour; the mean is 1."""
DAY_MS = len(SHAPE) * HOUR_MS
_REACHED = (0.0, *accumulate(SHAPE))

THINK_S = 4.0
CALL_MEDIAN_LOG_S = 2.0794415416798357
"""Natural logarithm of 8."""
CALL_SIGMA = 0.7
CALL_S_MAX = 300.0
HANG_SHARE = 0.01
HANG_S = 60.0
CRASH_SHARE = 0.005
RESTART_MS = 15_000
ALSO = 0.25
"""Share of replies whose inbound message also wakes another agent, for a follow-up."""
ALSO_S = 30.0
"""Mean delay of that follow-up."""
ASK_SPREAD_S = 2.0
"""Over how long after a told end an agent asks again, so that not all do at once."""


class Kind(StrEnum):
    """What an agent has to do."""

    REPLY = "reply"
    FOLLOW_UP = "followup"
    SEQUENCE = "sequence"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How often a kind comes and how many calls it takes.

    Args:
        share: Of an agent's tasks.
        calls: Fewest and most.
    """

    share: float
    calls: tuple[int, int]


WORK = {
    Kind.REPLY: Work(share=0.35, calls=(1, 3)),
    Kind.FOLLOW_UP: Work(share=0.35, calls=(2, 5)),
    Kind.SEQUENCE: Work(share=0.20, calls=(1, 3)),
    Kind.DIGEST: Work(share=0.10, calls=(1, 1)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a day looks like.

    Args:
        contacts: People the agents write to.
        per_hour: Tasks an agent gets in an hour.
        seed: Of every draw.
    """

    contacts: int = 1000
    per_hour: float = 20.0
    seed: int = 1


class Task:
    """One thing an agent has to do; the upper half is drawn, the lower is where it stands.

    Args:
        number: Unique in the day; the idempotency key is made from it (spec: K7).
        at_ms: When it arrives, since the begin of the day.
        kind: What it is.
        contact: Whom it is about.
        rng: Where its lengths are drawn from.
    """

    __slots__ = (
        "asked_ms",
        "at_ms",
        "calls_ms",
        "contact",
        "crash_at",
        "done",
        "ends_ms",
        "granted_ms",
        "hang_at",
        "hang_ms",
        "is_reply",
        "number",
        "spread_ms",
        "think_ms",
        "token",
        "tries",
        "was_blocked",
    )

    def __init__(self, number: int, at_ms: int, kind: Kind, contact: int, rng: Random) -> None:
        self.number = number
        self.at_ms = at_ms
        self.contact = contact
        self.is_reply = kind is Kind.REPLY
        low, high = WORK[kind].calls
        calls = low + int(rng.random() * (high - low + 1))
        self.tries = 0
        """Drafts thrown away."""
        self.calls_ms = tuple(_call_ms(rng) for _ in range(calls))
        self.think_ms = int(rng.expovariate(1 / THINK_S) * 1000)
        self.spread_ms = 1 + int(rng.random() * ASK_SPREAD_S * 1000)
        self.hang_at = int(rng.random() * calls) if rng.random() < HANG_SHARE * calls else -1
        self.hang_ms = int(rng.expovariate(1 / HANG_S) * 1000) if self.hang_at >= 0 else 0
        self.crash_at = int(rng.random() * calls) if rng.random() < CRASH_SHARE else -1
        self.asked_ms = -1
        """When it was first refused its contact in this turn, or -1."""
        self.done = 0
        """Calls made."""
        self.token = 0
        self.granted_ms = 0
        self.ends_ms = 0
        self.was_blocked = False

    def begin_again(self) -> None:
        """The draft is gone: the same number of calls, of other lengths."""
        self.tries += 1
        rng = Random(f"{self.number} again {self.tries}")
        self.calls_ms = tuple(_call_ms(rng) for _ in self.calls_ms)
        self.done = 0


def _call_ms(rng: Random) -> int:
    return int(min(rng.lognormvariate(CALL_MEDIAN_LOG_S, CALL_SIGMA), CALL_S_MAX) * 1000)


def day(traffic: Traffic, agents: int) -> list[list[Task]]:
    """The tasks of every agent, by arrival.

    Args:
        traffic: What the day looks like.
        agents: How many there are.
    """
    lists: list[list[Task]] = [[] for _ in range(agents)]
    number = 0
    for agent in range(agents):
        rng = Random(f"{traffic.seed} day {agent}")
        for kind, work in WORK.items():
            for at_ms in _arrivals(rng, kind, traffic.per_hour * work.share):
                contact = int(traffic.contacts * rng.random() ** 2)
                lists[agent].append(Task(number, at_ms, kind, contact, rng))
                number += 1
                other, also = _also(rng, kind, agent, agents)
                if also >= 0 and at_ms + also < DAY_MS:
                    lists[other].append(Task(number, at_ms + also, Kind.FOLLOW_UP, contact, rng))
                    number += 1
    for tasks in lists:
        tasks.sort(key=lambda task: (task.at_ms, task.number))
    return lists


def _also(rng: Random, kind: Kind, agent: int, agents: int) -> tuple[int, int]:
    """Who else an inbound message wakes and how many milliseconds later, or -1 for nobody."""
    if kind is not Kind.REPLY:
        return agent, -1
    draw, delay_s = rng.random(), rng.expovariate(1 / ALSO_S)
    if draw >= ALSO or agents < 2:
        return agent, -1
    other = int(draw / ALSO * (agents - 1))
    return other + (other >= agent), int(delay_s * 1000)


def _arrivals(rng: Random, kind: Kind, per_hour: float) -> Iterator[int]:
    """Milliseconds since the begin of the day at which tasks of this kind arrive."""
    reached = rng.expovariate(per_hour)
    while reached < _REACHED[-1]:
        hour = bisect_right(_REACHED, reached) - 1
        within = (reached - _REACHED[hour]) / SHAPE[hour]
        if kind is Kind.SEQUENCE:
            within = rng.expovariate(60.0)
        elif kind is Kind.DIGEST:
            hour, within = 0 if hour < 4 else 7, rng.expovariate(30.0)
        at_ms = int((hour + within) * HOUR_MS)
        if at_ms < DAY_MS:
            yield at_ms
        reached += rng.expovariate(per_hour)
