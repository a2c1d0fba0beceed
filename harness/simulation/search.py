"""Exhaustive search: every schedule of one subject within a bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..history import OpEvent
from .choices import CRASH, LOSE, SILENT
from .driver import Bounds
from .run import Outcome, Runner
from .states import Watcher, content_reader
from .strategies.exhaustive import Exhaustive, Pruned, Relearn
from .subjects import Subject

KINDS = frozenset({CRASH, LOSE, SILENT})
"""Faults an exhaustive search tries unless told otherwise."""


@dataclass(slots=True, kw_only=True)
class SearchResult:
    """What a search came to.

    Args:
        subject: What ran.
        policy: Policy variant.
        bounds: The bound.
        schedules: Schedules run.
        states: Distinct states at which there was a choice.
        pruned: Schedules cut off in a state explored before.
        asleep: Choices left out because they commute with one explored before.
        exhausted: Nothing within the bound is left.
        found: Runs with a finding, the first of each rule.
        problems: Why runs could not be judged, the first few.
        seconds: Wall-clock seconds.
        is_pruning: States could be compared: the target shows its content.
        calls_max: Calls of the longest run.
    """

    subject: str
    policy: str
    bounds: Bounds
    schedules: int = 0
    states: int = 0
    pruned: int = 0
    asleep: int = 0
    exhausted: bool = False
    found: list[Outcome] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    is_pruning: bool = True
    calls_max: int = 0


def search(
    runner: Runner,
    subject: Subject,
    policy: str,
    bounds: Bounds,
    *,
    reduce: bool = True,
    stop_at_finding: bool = True,
    schedules: int | None = None,
    seconds: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Run every schedule within the bound.

    Args:
        runner: Entered.
        subject: What runs.
        policy: Policy variant.
        bounds: The bound.
        reduce: Leave out what can't matter.
        stop_at_finding: End at the first run with a finding.
        schedules: Give up after so many.
        seconds: Give up after so long.
        on_progress: Told of schedules and states now and then.
    """
    begun = time.perf_counter()
    content = content_reader(runner.target)
    chooser = Exhaustive(
        content=content,
        reduce=reduce,
        kinds=tuple(seat.kind for seat in subject.seats),
    )
    result = SearchResult(
        subject=subject.text,
        policy=policy,
        bounds=bounds,
        is_pruning=content is not None and reduce,
    )
    world = runner.world
    world.watch = Watcher(world, content) if result.is_pruning and content is not None else None
    try:
        while _one(runner, subject, policy, bounds, chooser, result):
            if result.found and stop_at_finding:
                break
            count = chooser.count.schedules
            if schedules is not None and count >= schedules:
                break
            if count % 64 == 0:
                if on_progress is not None:
                    on_progress(count, len(chooser.visited))
                if seconds is not None and time.perf_counter() - begun > seconds:
                    break
    finally:
        world.watch = None
    result.schedules = chooser.count.schedules
    result.states = len(chooser.visited)
    result.asleep = chooser.count.asleep
    result.pruned = chooser.count.pruned
    result.exhausted = chooser.is_exhausted
    result.seconds = time.perf_counter() - begun
    return result


def _one(  # noqa: PLR0917 - one step of the search above
    runner: Runner,
    subject: Subject,
    policy: str,
    bounds: Bounds,
    chooser: Exhaustive,
    result: SearchResult,
) -> bool:
    """Run one schedule; False if there is no further one."""

    def on_begin(judge: object) -> None:
        chooser.judge = judge  # type: ignore[assignment]

    try:
        outcome = runner.run(subject, policy, chooser, bounds, on_begin=on_begin)
    except Pruned:
        chooser.count.pruned += 1
    except Relearn:
        chooser.restart()
        return True
    else:
        _take(result, outcome)
    return chooser.advance()


def _take(result: SearchResult, outcome: Outcome) -> None:
    calls = sum(isinstance(event, OpEvent) and event.type == "invoke" for event in outcome.events)
    result.calls_max = max(result.calls_max, calls)
    if outcome.problem and len(result.problems) < 5:
        result.problems.append(outcome.problem)
    known = {finding.rule for each in result.found for finding in each.findings}
    if any(finding.rule not in known for finding in outcome.findings):
        result.found.append(outcome)
