"""Exhaustive search over several subjects and policies, one after the other or on all cores.

One search is one process's work: it knows by the states it visited what it need not run. With several
workers several searches run side by side.
"""

from __future__ import annotations

import concurrent.futures
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path

import msgspec

from ..targets import load_target
from .again import run_schedule
from .choices import NAMES
from .driver import Bounds
from .fence import Fence, patched
from .pool import Check, pool, remaining_s
from .run import Outcome, Runner
from .schedule import Schedule, code_hash, save
from .search import KINDS, SearchResult, search
from .strategies.uniform import Uniform
from .subjects import parse

EXIT_FOUND, EXIT_UNKNOWN = 1, 4
NOT_TRIED = "a busy store, a refusing transport, clocks that step back, time inside a transaction"
"""What lies outside every bound; the other strategies draw it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searches:
    """What is to be searched: every subject under every policy.

    Args:
        target: Name of the target, as `load_target` takes it.
        subjects: What runs.
        policies: Policy variants.
        faults: Faults of a run, at most.
        deadlines: How often time may pass to a deadline while somebody could move.
        schedules: Each search is given up after so many; None for no limit.
        seconds: All are given up after so long; None for no limit.
        policy_file: A policy file of the user's, or None.
        folder: Where schedules with a finding are written, or None.
    """

    target: str
    subjects: tuple[str, ...]
    policies: tuple[str, ...]
    faults: int = 1
    deadlines: int = 1
    schedules: int | None = None
    seconds: float | None = None
    policy_file: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """The first run that broke a rule.

    Args:
        rule: The rule.
        message: The finding in a sentence.
        schedule: Its schedule as text.
    """

    rule: str
    message: str
    schedule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What one search came to; figures as in `SearchResult`.

    Args:
        begun: False if the time was up before.
        hits: The first run of each rule that was broken.
    """

    subject: str
    policy: str
    faults: int
    deadlines: int
    begun: bool = True
    calls: int = 0
    schedules: int = 0
    states: int = 0
    pruned: int = 0
    asleep: int = 0
    exhausted: bool = False
    compared: bool = True
    seconds: float = 0.0
    hits: tuple[SearchHit, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """Its share of the exit status: what was not searched to its end is not known."""
        if self.hits:
            return EXIT_FOUND
        return 0 if self.exhausted and not self.problems else EXIT_UNKNOWN


def exhaust(
    searches: Searches,
    *,
    shard: tuple[int, int] = (1, 1),
    workers: int = 1,
    show: Callable[[Searched], None],
    on_progress: Callable[[str], None] = lambda _: None,
) -> int:
    """Search every subject under every policy.

    Args:
        searches: What is to be searched.
        shard: This machine's share: number from 1, and how many there are.
        workers: Processes; 1 runs everything in this one.
        show: Given what each search came to, as they end.
        on_progress: Told in words how far it is.

    Returns:
        The exit status: 1 with a finding, 4 if something within the bound was left out, else 0.

    Raises:
        Escaped: The target does what can't be simulated.
        RuntimeError: A worker died.
    """
    number, count = shard
    pairs = list(islice(product(searches.subjects, searches.policies), number - 1, None, count))
    statuses = set()
    results = (
        _spread(searches, pairs, workers, on_progress)
        if workers > 1
        else _in_turn(searches, pairs, on_progress)
    )
    for searched in results:
        show(searched)
        statuses.add(searched.status)
    return EXIT_FOUND if EXIT_FOUND in statuses else max(statuses, default=0)


def run_search(
    order: str, check: Check = lambda: None, on_progress: Callable[[int, int], None] | None = None
) -> str:
    """Make one search in this process.

    Args:
        order: JSON of the searches under ``searches``, with one subject and one policy.
        check: Called now and then.
        on_progress: Told of schedules and states now and then.

    Returns:
        JSON of what it came to.

    Raises:
        Escaped: The target does what can't be simulated.
    """
    searches = msgspec.convert(json.loads(order)["searches"], Searches)
    target = load_target(searches.target)
    policy_file = Path(searches.policy_file) if searches.policy_file else None

    def tick(schedules: int, states: int) -> None:
        check()
        if on_progress is not None:
            on_progress(schedules, states)

    subject, policy = parse(searches.subjects[0]), searches.policies[0]
    bounds = Bounds(faults=searches.faults, time_steps=searches.deadlines, kinds=KINDS)
    with Runner(target, policy_file=policy_file) as runner, patched(runner.world):
        with Fence().watching(runner.world, closely=True):
            runner.run(subject, policy, Uniform(random.Random(0)), bounds)
        result = search(
            runner,
            subject,
            policy,
            bounds,
            stop_at_finding=False,
            schedules=searches.schedules,
            seconds=searches.seconds,
            on_progress=tick,
        )
        hits = [_kept(searches, runner, result, outcome) for outcome in result.found]
    first = {hit.rule: hit for hit in reversed(hits)}
    return msgspec.json.encode(_searched(searches, result, tuple(first.values()))).decode()


def _searched(searches: Searches, result: SearchResult, hits: tuple[SearchHit, ...]) -> Searched:
    return Searched(
        subject=result.subject,
        policy=result.policy,
        faults=searches.faults,
        deadlines=searches.deadlines,
        calls=result.calls_max,
        schedules=result.schedules,
        states=result.states,
        pruned=result.pruned,
        asleep=result.asleep,
        exhausted=result.exhausted,
        compared=result.is_pruning,
        seconds=result.seconds,
        hits=hits,
        problems=tuple(result.problems),
    )


def _kept(searches: Searches, runner: Runner, result: SearchResult, outcome: Outcome) -> SearchHit:
    """A run with a finding; its schedule is on disk before anything is said of it.

    The search judges the audit log as it grows and stops there; a run that is replayed has it at its
    end. So what is kept is that run, made once to its end, with what is found in it.
    """
    schedule = Schedule(
        subject=result.subject,
        policy=result.policy,
        code=code_hash(runner.target),
        choices=tuple(outcome.trail),
    )
    whole = run_schedule(runner, schedule, strict=False)
    schedule = replace(schedule, choices=tuple(whole.trail))
    finding = (whole.findings or outcome.findings)[0]
    if searches.folder is not None:
        name = f"{finding.rule}-{result.subject}-{result.policy}.txt"
        save(
            Path(searches.folder) / name.replace("/", "_"),
            schedule,
            target=searches.target,
            finding=finding.message,
            trace=whole.trace_hash(),
            rule=finding.rule,
        )
    return SearchHit(rule=finding.rule, message=finding.message, schedule=schedule.to_text())


# -- one after the other, or several at once ---------------------------------------------------


def _order(searches: Searches, pair: tuple[str, str], left_s: float | None) -> str:
    subject, policy = pair
    one = {"subjects": (subject,), "policies": (policy,), "seconds": left_s}
    return json.dumps({"job": "search", "searches": msgspec.to_builtins(searches) | one})


def _not_begun(searches: Searches, pair: tuple[str, str]) -> Searched:
    return Searched(
        subject=pair[0],
        policy=pair[1],
        faults=searches.faults,
        deadlines=searches.deadlines,
        begun=False,
    )


def _in_turn(
    searches: Searches, pairs: list[tuple[str, str]], on_progress: Callable[[str], None]
) -> Iterator[Searched]:
    begun = time.perf_counter()
    for place, pair in enumerate(pairs, start=1):
        left_s = remaining_s(searches.seconds, begun)
        if left_s is not None and left_s <= 0:
            yield _not_begun(searches, pair)
            continue
        name = f"search {place} of {len(pairs)}, {pair[0]} under {pair[1]}"

        def tell(schedules: int, states: int, name: str = name) -> None:
            on_progress(f"{name}: {schedules:,} schedules, {states:,} states")

        found = run_search(_order(searches, pair, left_s), on_progress=tell)
        yield msgspec.json.decode(found, type=Searched)


def _spread(
    searches: Searches,
    pairs: list[tuple[str, str]],
    workers: int,
    on_progress: Callable[[str], None],
) -> Iterator[Searched]:
    """No worker has a search that waits: how long one may take is known when it begins."""
    begun = time.perf_counter()
    coming = iter(pairs)
    waiting: set[concurrent.futures.Future[str]] = set()
    ended = 0
    with pool(min(workers, max(1, len(pairs)))) as executor:
        while True:
            while len(waiting) < workers:
                left_s = remaining_s(searches.seconds, begun)
                pair = next(coming, None) if left_s is None or left_s > 0 else None
                if pair is None:
                    break
                waiting.add(executor.submit(run_search, _order(searches, pair, left_s)))
            if not waiting:
                break
            on_progress(f"{ended} of {len(pairs)} searches ended, {len(waiting)} under way")
            done, waiting = concurrent.futures.wait(
                waiting, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                ended += 1
                yield msgspec.json.decode(future.result(), type=Searched)
    for pair in coming:
        yield _not_begun(searches, pair)


def bound_of(searched: Searched) -> str:
    """The bound in words."""
    agents = len(parse(searched.subject).seats)
    kinds = ", ".join(NAMES[kind] for kind in sorted(KINDS))
    faults, deadlines = span_of(searched).split(", ")
    return (
        f"bound {agents} agents, {faults} ({kinds}), time to {deadlines}, {searched.calls} calls; "
        f"not tried: {NOT_TRIED}"
    )


def span_of(searched: Searched) -> str:
    """How many faults and deadlines: ``1 fault, 2 deadlines``."""
    faults, deadlines = searched.faults, searched.deadlines
    return (
        f"{faults} fault{'' if faults == 1 else 's'}, "
        f"{deadlines} deadline{'' if deadlines == 1 else 's'}"
    )


__all__ = ["Searched", "Searches", "bound_of", "exhaust", "run_search", "span_of"]
