"""Slices of an exploration on several cores, over any `concurrent.futures.Executor`.

What a worker is given and what it gives back is JSON text. A slice draws the same whoever runs it, so
the number of workers changes nothing but the time.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec

from ..targets import load_target
from .explore import Explorer, Plan, Statistics
from .pool import Check, pool, remaining_s

SLICE = 1_000
"""Schedules of one slice."""
SLICE_S_MAX = 2.0
"""A slice ends after so long where the budget is in seconds, so that progress is seen."""


def slices(plan: Plan, shard: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Numbers of a shard's slices and the schedules of each.

    Args:
        plan: Its `schedules` may be None: then there is no end.
        shard: Number from 1, and how many there are.
    """
    number, count = shard
    for slice_ in itertools.count(number - 1, count):
        size = SLICE
        if plan.schedules is not None:
            size = min(SLICE, plan.schedules - slice_ * SLICE)
        if size <= 0:
            return
        yield slice_, size


def run_slice(order: str, check: Check = lambda: None) -> str:
    """Run one slice in this process.

    Args:
        order: JSON of the plan under ``plan``, the slice's number and its schedules and seconds.
        check: Called now and then.

    Returns:
        JSON of the statistics.
    """
    value = json.loads(order)
    plan = msgspec.convert(value["plan"], Plan)
    plan = replace(plan, schedules=value["schedules"], seconds=value["seconds"])
    found = Explorer(
        load_target(plan.target), plan, value["slice"], on_progress=lambda _: check()
    ).run()
    return json.dumps(found.to_json())


def explore_all(
    plan: Plan,
    *,
    shard: tuple[int, int] = (1, 1),
    workers: int = 1,
    executor: concurrent.futures.Executor | None = None,
    on_progress: Callable[[Statistics], None] | None = None,
) -> Statistics:
    """Explore until the budget is spent or there is a finding.

    Args:
        plan: What to explore.
        shard: This machine's share: number from 1, and how many there are.
        workers: Processes; 1 runs everything in this one.
        executor: Where slices run, if not here or in processes of our own.
        on_progress: Told of the statistics so far.

    Raises:
        Nondeterministic: A run made twice came out differently.
        Escaped: The target does what can't be simulated.
        UsageError: The target can't be loaded.
        RuntimeError: A worker died.
    """
    if executor is not None:
        return _spread(plan, shard, executor, workers, on_progress)
    if workers > 1:
        with pool(workers) as own:
            return _spread(plan, shard, own, workers, on_progress)
    return _in_turn(plan, shard, on_progress)


def _in_turn(
    plan: Plan, shard: tuple[int, int], on_progress: Callable[[Statistics], None] | None
) -> Statistics:
    total = Statistics()
    target = load_target(plan.target)
    begun = time.perf_counter()
    for slice_, size in slices(plan, shard):
        left_s = remaining_s(plan.seconds, begun)
        if left_s is not None and left_s <= 0:
            break
        explorer = Explorer(target, replace(plan, schedules=size, seconds=left_s), slice_)
        found = explorer.run()
        total.add(found)
        total.seconds = time.perf_counter() - begun
        if on_progress is not None:
            on_progress(total)
        if total.hits and not plan.keep_going:
            break
    return total


def _spread(
    plan: Plan,
    shard: tuple[int, int],
    executor: concurrent.futures.Executor,
    workers: int,
    on_progress: Callable[[Statistics], None] | None,
) -> Statistics:
    total = Statistics()
    begun = time.perf_counter()
    coming = slices(plan, shard)
    waiting: set[concurrent.futures.Future[str]] = set()
    while True:
        is_over = bool(total.hits) and not plan.keep_going
        while len(waiting) < 2 * workers and not is_over:
            left_s = remaining_s(plan.seconds, begun)
            item = next(coming, None) if left_s is None or left_s > 0 else None
            if item is None:
                break
            waiting.add(executor.submit(run_slice, _order(plan, item, left_s)))
        if not waiting:
            break
        done, waiting = concurrent.futures.wait(
            waiting, return_when=concurrent.futures.FIRST_COMPLETED
        )
        for future in done:
            total.add(Statistics.from_json(json.loads(future.result())))
        total.seconds = time.perf_counter() - begun
        if on_progress is not None:
            on_progress(total)
        if total.hits and not plan.keep_going:
            for future in waiting:
                future.cancel()
            waiting = {future for future in waiting if not future.cancelled()}
    return total


def _order(plan: Plan, item: tuple[int, int], left_s: float | None) -> str:
    slice_, size = item
    seconds = None if left_s is None else min(left_s, SLICE_S_MAX)
    return json.dumps(
        {
            "job": "slice",
            "plan": msgspec.to_builtins(plan),
            "slice": slice_,
            "schedules": size,
            "seconds": seconds,
        }
    )
