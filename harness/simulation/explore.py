"""Many runs: subjects, policies and strategies drawn, findings kept, statistics counted.

An `Explorer` explores one slice of the draws; `workers` runs several slices at once. What a slice is
told and what it tells is JSON, so that it may run in any process.
"""

from __future__ import annotations

import gc
import random
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ..contract import Target
from .catalogue import draw_policy, draw_subject
from .doubled import doubled_in
from .driver import Bounds, Chooser
from .fence import Fence, patched
from .run import Outcome, Runner
from .schedule import Schedule, code_hash, save
from .sketch import Sketch
from .strategies.pct import Pct
from .strategies.replay import Diverged, Replay
from .strategies.uniform import Uniform
from .subjects import HABIT, Subject, parse

STRATEGIES = ("portfolio", "random", "pct", "exhaustive")
TWICE_EVERY = 512
"""Of so many runs one is run again and must come out the same."""
FENCED_EVERY = 256
"""Of so many runs one is watched for what escapes the simulation."""
FINE_EVERY = 4
"""Of so many runs one lets agents stand still inside sections too."""
COLLECT_EVERY = 256
"""Garbage is collected between runs, never inside one."""
BATCH = 64


class Nondeterministic(Exception):  # noqa: N818 - it is what was found
    """The same choices led to another history: something is not under control; exit status 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to explore.

    Args:
        target: Name of the target, as `load_target` takes it.
        strategy: ``portfolio``, ``random`` or ``pct``.
        agents: Clients of a drawn program, at most.
        faults: Faults a run may hold.
        time_steps: How often time may pass while somebody could move.
        depth: Depth of PCT.
        schedules: Runs to make; None for no bound.
        seconds: Wall-clock seconds; None for no bound.
        seed: Of all draws.
        subjects: What runs; empty for the catalogue and drawn programs.
        policies: Policy variants; empty for all.
        policy_file: A policy file of the user's, or None.
        keep_going: Go on after a finding; each rule is kept once.
        folder: Where schedules are written, or None.
    """

    target: str
    strategy: str = "portfolio"
    agents: int = 3
    faults: int = 2
    time_steps: int = 3
    depth: int = 3
    schedules: int | None = None
    seconds: float | None = None
    seed: int = 0
    subjects: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    policy_file: str | None = None
    keep_going: bool = False
    folder: str | None = None

    @property
    def bounds(self) -> Bounds:
        """How much may go wrong in a run."""
        return Bounds(faults=self.faults, time_steps=self.time_steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A run with a finding.

    Args:
        schedule: Its schedule as text.
        rules: Rules that found something.
        message: The first finding in a sentence.
        strategy: Who chose.
        policy: Policy variant.
        at: Number of the run, from 1.
        seconds: Seconds until then.
    """

    schedule: str
    rules: tuple[str, ...]
    message: str
    strategy: str
    policy: str
    at: int
    seconds: float


@dataclass(slots=True, kw_only=True)
class Statistics:
    """What exploring came to; two of them add up.

    Args:
        schedules: Runs.
        steps: Choices.
        seconds: Wall-clock seconds.
        twice: Runs made twice.
        distinct: Distinct schedules, estimated above a few hundred.
        by_policy: Runs by policy variant.
        by_strategy: Runs by strategy.
        by_rule: Runs with a finding, by the first rule.
        hits: The first run of each rule.
        doubled: Runs in which agents with habits doubled mail though no rule is broken.
        doubling: Schedule of the first of them, or "".
        problems: Why runs could not be judged, the first few.
        sketch: What `distinct` is estimated from.
    """

    schedules: int = 0
    steps: int = 0
    seconds: float = 0.0
    twice: int = 0
    distinct: int = 0
    by_policy: Counter[str] = field(default_factory=Counter)
    by_strategy: Counter[str] = field(default_factory=Counter)
    by_rule: Counter[str] = field(default_factory=Counter)
    hits: list[Hit] = field(default_factory=list)
    doubled: int = 0
    doubling: str = ""
    problems: list[str] = field(default_factory=list)
    sketch: list[int] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Schedules a second."""
        return self.schedules / self.seconds if self.seconds else 0.0

    def add(self, other: Statistics) -> None:
        """Take another slice's in; seconds ran side by side."""
        self.schedules += other.schedules
        self.steps += other.steps
        self.twice += other.twice
        self.seconds = max(self.seconds, other.seconds)
        self.by_policy += other.by_policy
        self.by_strategy += other.by_strategy
        self.by_rule += other.by_rule
        known = {rule for hit in self.hits for rule in hit.rules[:1]}
        self.hits += [hit for hit in other.hits if hit.rules[0] not in known]
        self.doubled += other.doubled
        self.doubling = self.doubling or other.doubling
        self.problems = (self.problems + other.problems)[:5]
        merged = Sketch(self.sketch)
        merged.merge(other.sketch)
        self.sketch = merged.kept()
        self.distinct = min(merged.estimate(), self.schedules)

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        return value

    @classmethod
    def from_json(cls, value: Any) -> Statistics:
        """From `to_json`'s form."""
        counts = {name: Counter(value[name]) for name in ("by_policy", "by_strategy", "by_rule")}
        hits = msgspec.convert(value["hits"], list[Hit])
        return cls(**(value | counts | {"hits": hits}))


class Explorer:
    """Explores one slice of the draws.

    Args:
        target: The system under test.
        plan: What to explore.
        slice_: Number of this share of the draws, from 0; the same share draws the same.
        on_progress: Told of the statistics now and then.
    """

    def __init__(
        self,
        target: Target,
        plan: Plan,
        slice_: int = 0,
        on_progress: Callable[[Statistics], None] | None = None,
    ) -> None:
        self._target = target
        self._plan = plan
        self._on_progress = on_progress
        self._slice = slice_
        self._rng = random.Random(f"{plan.seed}:{slice_}")
        self._choosers = choosers(plan, self._rng)
        self._code = code_hash(target)
        self._parse = lru_cache(maxsize=4096)(parse)
        self._fence = Fence()
        self._sketch = Sketch()
        self.statistics = Statistics()

    def run(self) -> Statistics:
        """Explore until the budget is spent or there is a finding.

        Raises:
            Nondeterministic: A run made twice came out differently.
            Escaped: The target blocks, sleeps, starts a thread or reads the machine's clock.
        """
        plan, found = self._plan, self.statistics
        policy_file = Path(plan.policy_file) if plan.policy_file else None
        begun = time.perf_counter()
        gc.collect()
        gc.disable()
        try:
            with (
                Runner(self._target, policy_file=policy_file) as runner,
                patched(runner.world),
            ):
                while self._has_budget(begun):
                    self._one(runner, begun)
                    if found.hits and not plan.keep_going:
                        break
                    if found.schedules % BATCH == 0:
                        self._pause(begun)
        finally:
            gc.enable()
        self._pause(begun)
        return found

    def _has_budget(self, begun: float) -> bool:
        plan, found = self._plan, self.statistics
        if plan.schedules is not None and found.schedules >= plan.schedules:
            return False
        return plan.seconds is None or time.perf_counter() - begun < plan.seconds

    def _pause(self, begun: float) -> None:
        """Between two batches: count, collect, tell."""
        found = self.statistics
        found.seconds = time.perf_counter() - begun
        found.distinct = min(self._sketch.estimate(), found.schedules)
        found.sketch = self._sketch.kept()
        if found.schedules % COLLECT_EVERY == 0:
            gc.collect(1)
        if self._on_progress is not None:
            self._on_progress(found)

    def _one(self, runner: Runner, begun: float) -> None:
        plan, found = self._plan, self.statistics
        text = _one_of(self._rng, plan.subjects) or draw_subject(self._rng, plan.agents)
        policy = _one_of(self._rng, plan.policies) or draw_policy(self._rng)
        chooser = self._choosers[found.schedules % len(self._choosers)]
        subject = self._parse(text)
        with self._fence.watching(runner.world, found.schedules % FENCED_EVERY == 0):
            coarse = found.schedules % FINE_EVERY != 0
            outcome = runner.run(subject, policy, chooser, plan.bounds, coarse=coarse)
        found.schedules += 1
        found.steps += len(outcome.trail)
        found.by_policy[policy] += 1
        found.by_strategy[chooser.name] += 1
        # Numbers only: their hash is the same in every process.
        self._sketch.add(hash((zlib.crc32(f"{text}/{policy}".encode()), *outcome.trail)))
        if outcome.problem and len(found.problems) < 5:
            found.problems.append(f"{text} under {policy}: {outcome.problem}")
        if outcome.findings or HABIT in text:
            schedule = Schedule(
                subject=text,
                policy=policy,
                code=self._code,
                choices=tuple(outcome.trail),
                coarse=coarse,
            )
            if outcome.findings:
                self._take(schedule, chooser.name, outcome, time.perf_counter() - begun)
            elif doubled_in(outcome.events):
                found.doubled += 1
                found.doubling = found.doubling or schedule.to_text()
        if found.schedules % TWICE_EVERY == 1:
            found.twice += 1
            check_twice(runner, subject, policy, outcome, coarse=coarse)

    def _take(self, schedule: Schedule, strategy: str, outcome: Outcome, seconds: float) -> None:
        """Keep a finding: its schedule is on disk before anything else is done."""
        found = self.statistics
        first = outcome.findings[0]
        found.by_rule[first.rule] += 1
        if found.by_rule[first.rule] > 1:
            return
        if self._plan.folder is not None:
            save(
                Path(self._plan.folder) / f"{first.rule}-{self._slice}.txt",
                schedule,
                target=self._plan.target,
                finding=first.message,
                trace=outcome.trace_hash(),
                rule=first.rule,
            )
        found.hits.append(
            Hit(
                schedule=schedule.to_text(),
                rules=tuple(dict.fromkeys(each.rule for each in outcome.findings)),
                message=first.message,
                strategy=strategy,
                policy=schedule.policy,
                at=found.schedules,
                seconds=seconds,
            )
        )


def check_twice(
    runner: Runner, subject: Subject, policy: str, outcome: Outcome, *, coarse: bool
) -> None:
    """Make a run's choices again; what happens must be the same.

    Raises:
        Nondeterministic: It is not; the message names the first event that differs.
    """
    try:
        again = runner.run(subject, policy, Replay(outcome.trail), Bounds(), coarse=coarse)
    except Diverged as error:
        raise Nondeterministic(
            f"hidden nondeterminism: {subject.text} under {policy}, run again with the same choices: "
            f"{error}"
        ) from error
    if again.trace_hash() == outcome.trace_hash():
        return
    pairs = zip(outcome.events, again.events, strict=False)
    number, (one, other) = next(
        ((number, pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1]),
        (min(len(outcome.events), len(again.events)) + 1, (None, None)),
    )
    raise Nondeterministic(
        f"hidden nondeterminism: {subject.text} under {policy}, run again with the same choices, "
        f"differs at event {number}: {one!r:.300} became {other!r:.300}"
    )


def choosers(plan: Plan, rng: random.Random) -> Sequence[Any]:
    """The strategies of a plan; each run takes the next."""
    uniform: Chooser = Uniform(rng)
    made: dict[str, Sequence[Any]] = {
        "random": (uniform,),
        "pct": (Pct(rng, plan.depth),),
        "portfolio": (uniform, Pct(rng, plan.depth), Uniform(rng), Pct(rng, plan.depth + 2)),
    }
    return made[plan.strategy]


def _one_of(rng: random.Random, names: Sequence[str]) -> str:
    return names[int(rng.random() * len(names))] if names else ""
