"""An agent under test in the simulator: the same situations, in virtual time, schedule after schedule."""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from ..contract import Target
from ..engine import RaceRun
from ..gate import versions
from ..history import History, encode
from ..judging import not_applicable, unrun
from ..outcome import AgentAnswer, AgentReport, RunOutcome
from ..scenario import Scenario, Variant
from ..simulation.engine import SimulationEngine
from ..verdict import RaceResult, Verdict
from .gate import habits_in, judge_situation
from .mailbox import CutOff
from .races import SITUATIONS, agent_scenario
from .under_test import agent_called

REAL_S = 5.0
"""How long one schedule may take in real time: an agent that calls nothing and waits for nothing hangs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be explored.

    Args:
        target: The mailbox's name.
        agent: ``module:function``.
        situations: Only these; all if empty.
        seed: Of the first schedule; each next one has the next number.
        seconds: How long, or None.
        schedules: How many of each situation, or None.
        policy_file: A policy file for the target, or None.
    """

    target: str
    agent: str
    situations: tuple[str, ...] = ()
    seed: int = 0
    seconds: float | None = None
    schedules: int | None = None
    policy_file: Path | None = None

    def again(self, situation: str, seed: int) -> str:
        """The command that runs one schedule again."""
        return self._command(["--situation", situation], seed, ["--schedules", "1"])

    def whole(self) -> str:
        """The command that runs all of it again."""
        only = [part for name in self.situations for part in ("--situation", name)]
        seconds = ["--seconds", f"{self.seconds:g}"] if self.seconds is not None else []
        count = ["--schedules", f"{self.schedules}"] if self.schedules is not None else []
        return self._command(only, self.seed, [*seconds, *count])

    def _command(self, only: Sequence[str], seed: int, much: Sequence[str]) -> str:
        policy = ["--policy", str(self.policy_file)] if self.policy_file else []
        parts = ["leaserace", "explore", "--agent", self.agent, *only, *much]
        return shlex.join([*parts, "--target", self.target, "--seed", str(seed), *policy])


@dataclass(slots=True)
class Kept:
    """What is known of one situation: the schedule that says most, and how many there were."""

    result: RaceResult
    answer: AgentAnswer
    history: History
    runs: int = 1
    habits: set[str] = field(default_factory=set)

    def take(self, other: Kept) -> None:
        """Take another schedule in; the one that says more is kept."""
        self.runs += 1
        self.habits |= other.habits
        if _weight(other.answer) > _weight(self.answer):
            self.result, self.answer, self.history = other.result, other.answer, other.history


def explore_agent(
    target: Target, plan: Plan, on_progress: Callable[[int], None] = lambda _: None
) -> tuple[RunOutcome, History]:
    """Run an agent through its situations until the time is up, every situation at least once.

    Args:
        target: The mailbox.
        plan: What is to be explored.
        on_progress: Told of the number of schedules so far.

    Returns:
        The outcome with one race a situation, and the histories of the schedules that are kept.

    Raises:
        UsageError: The agent can't be called.
    """
    agent_called(plan.agent).open().close()
    started, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    scenario = agent_scenario(plan.agent)
    variants = [v for v in scenario.variants if not plan.situations or v.name in plan.situations]
    left_out = [_left_out(scenario, v, target) for v in variants]
    variants = [v for v, result in zip(variants, left_out, strict=True) if result is None]
    kept: dict[str, Kept] = {}
    passes = 0
    while variants and (not passes or _goes_on(plan, passes, time.monotonic() - started)):
        for variant in variants:
            one = _one(target, plan, scenario, variant, plan.seed + passes)
            if variant.name in kept:
                kept[variant.name].take(one)
            else:
                kept[variant.name] = one
            on_progress(sum(each.runs for each in kept.values()))
        passes += 1
    outcome = _outcome(plan, kept, [each for each in left_out if each], started_at)
    notices = _notices(target, plan, scenario, variants, kept)
    outcome = replace(outcome, elapsed_s=time.monotonic() - started, notices=notices)
    return outcome, History([event for each in kept.values() for event in each.history])


def _goes_on(plan: Plan, passes: int, elapsed_s: float) -> bool:
    if plan.schedules is not None and passes >= plan.schedules:
        return False
    return plan.seconds is None or elapsed_s < plan.seconds


def _left_out(scenario: Scenario, variant: Variant, target: Target) -> RaceResult | None:
    reason = not_applicable(scenario, variant, target)
    if reason is None:
        return None
    return unrun(scenario, variant, agents=2, verdict=Verdict.NOT_APPLICABLE, reason=reason)


def _one(target: Target, plan: Plan, scenario: Scenario, variant: Variant, seed: int) -> Kept:
    again = plan.again(variant.name, seed)
    try:
        run = _run(target, plan, scenario, variant, seed)
    except CutOff as error:
        return _hung(scenario, variant, str(error), again)
    result, answer = judge_situation(run, again)
    return Kept(result, answer, run.history, habits=habits_in(result.findings))


def _hung(scenario: Scenario, variant: Variant, why: str, again: str) -> Kept:
    """A schedule that did not end leaves no history; that it did not is all that is known."""
    unknown = Verdict.UNKNOWN
    result = unrun(scenario, variant, agents=2, verdict=unknown, reason=why, again=again)
    situation = SITUATIONS[variant.name]
    answer = AgentAnswer(
        situation=situation.name,
        answer=situation.answer,
        f=situation.f,
        given=0,
        did=(),
        right=situation.right,
        verdict=unknown,
        why=why,
        race=result.race,
    )
    return Kept(result, answer, History())


def _run(target: Target, plan: Plan, scenario: Scenario, variant: Variant, seed: int) -> RaceRun:
    engine = SimulationEngine(target, seed=seed, policy_file=plan.policy_file)
    with _cut_off_after(REAL_S):
        return engine.run(scenario, variant, agents=2)


@contextlib.contextmanager
def _cut_off_after(seconds: float) -> Iterator[None]:
    """Take an agent out that hangs in real time; where signals can't be had it is waited for."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def cut_off(*_: object) -> NoReturn:
        raise CutOff(f"it did not return within {seconds:g} s of real time")

    before = signal.signal(signal.SIGALRM, cut_off)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _weight(answer: AgentAnswer) -> int:
    """How much a schedule says: a finding most, then what kept it from being judged, then a pass."""
    if answer.verdict is Verdict.INVALID:
        return 4
    if answer.verdict is Verdict.UNKNOWN and answer.given:
        return 3
    return 2 if answer.verdict is Verdict.VALID else 1


def _outcome(
    plan: Plan, kept: dict[str, Kept], left_out: Sequence[RaceResult], started_at: str
) -> RunOutcome:
    results = [replace(each.result, rounds=each.runs) for each in kept.values()]
    habits: dict[str, int] = {}
    for each in kept.values():
        for name in each.habits:
            habits[name] = habits.get(name, 0) + 1
    races = (*results, *left_out)
    return RunOutcome(
        command="explore",
        target=plan.target,
        seed=plan.seed,
        agents=(2, 2),
        verdict=Verdict.merge(race.verdict for race in races),
        races=races,
        again=plan.whole(),
        started_at=started_at,
        elapsed_s=0.0,
        agent=AgentReport(
            name=plan.agent, answers=tuple(each.answer for each in kept.values()), habits=habits
        ),
        versions=versions(),
    )


def _notices(
    target: Target,
    plan: Plan,
    scenario: Scenario,
    variants: Sequence[Variant],
    kept: dict[str, Kept],
) -> tuple[str, ...]:
    """How much was run, and whether the agent does the same thing twice."""
    runs = sum(each.runs for each in kept.values())
    said = [f"{runs:,} schedules in virtual time; this is a sample, no proof."]
    for variant in variants[:1]:
        twice = (_trace(_run(target, plan, scenario, variant, plan.seed)) for _ in range(2))
        if len(set(twice)) > 1:
            said.append(
                "The agent is not deterministic (random keys, its own clock?): a schedule may not"
                " come out the same way again."
            )
    return tuple(said)


def _trace(run: RaceRun) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for event in run.history:
        digest.update(encode(event))
    return digest.hexdigest()
