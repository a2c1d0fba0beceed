"""The gate: catch a broken twin first, then the races, one agent more at a time (spec: T, X).

It decides in which order races run, what is left out and why, and what the whole run comes to. How a
race is run is the engine's, what is said of it `judging`'s, how it is shown `reports`'.
"""

from __future__ import annotations

import platform
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from .contention import contention, doubled, figures_of
from .contract import Capability
from .engine import Engine, RaceRun
from .habits.assign import NONE, Assignments
from .history import encode
from .judging import not_applicable, result_of, unrun
from .outcome import CanaryResult, Contention, RunOutcome
from .own_scenarios import called
from .scenario import REGISTRY, Scenario, Variant
from .verdict import RaceResult, Verdict
from .watcher import Silent, Watcher

if TYPE_CHECKING:
    from .agents.gate import Told

LEAKS = "not run: the system leaks"
CUT_OFF_MAX = 3
"""Races cut off by a deadline after which the rest is left out."""
FURTHER = "beyond"
"""Group of the races that the articles do not list (spec: X)."""
FIRST_RACES = 2
"""Races that must hold before the others say anything (spec: T1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A broken twin that must be caught before a green is believed.

    Args:
        twin: Its name.
        target: Where it is, ``module:attribute``.
        scenario: Id of the scenario that shows it.
        variant: Name of the variant.
        rule: The rule that must find it.
        agent: The twin is an agent: a callable of ours that takes the seat of the one under test.
    """

    twin: str
    target: str
    scenario: str
    variant: str
    rule: str
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run is asked to do.

    Args:
        target_name: As the user named it.
        scenarios: Which scenarios, in running order.
        variant: Only the variant of this name, or "" for all.
        agents: Fewest and most agents (spec: T2).
        seconds: Length of each contention round; 0 for none.
        seed: The run's seed.
        rounds: Rounds a variant is run for; None for its own number.
        canaries: One of these is fed first; none if empty.
        policy_file: A policy file, or None.
        command: ``gate`` or ``run``.
        every: Whether the gate was asked for every race, not only for those of its default.
        agent: The agent under test, ``module:function``, or "" (spec: A).
        situations: Only these situations of its; all if empty.
        habits: Agents with a habit; they have it in the contention rounds.
    """

    target_name: str
    scenarios: Sequence[Scenario]
    variant: str = ""
    agents: tuple[int, int] = (2, 3)
    seconds: float = 0.75
    seed: int = 0
    rounds: int | None = None
    canaries: Sequence[Canary] = ()
    policy_file: Path | None = None
    command: str = "gate"
    every: bool = False
    agent: str = ""
    situations: tuple[str, ...] = ()
    habits: Assignments = NONE

    def again(self, scenario: Scenario, variant: Variant, agents: int) -> str:
        """The command that runs one race of this plan again."""
        if scenario.group == "agent":
            parts = ["leaserace", "gate", "--agent", self.agent, "--situation", variant.name]
        elif scenario.group == "contention":
            parts = ["leaserace", "gate", "--agents", f"{agents}..{agents}"]
            parts += ["--seconds", f"{self.seconds:g}", *self._habits()]
        else:
            parts = ["leaserace", "run", called(scenario), "--variant", variant.name]
            parts += ["--agents", str(agents)]
        return shlex.join([*parts, *self._common()])

    def whole(self) -> str:
        """The command that runs all of it again."""
        low, high = self.agents
        names = [called(scenario) for scenario in self.scenarios] if self.command == "run" else []
        only = ["--variant", self.variant] if self.variant else []
        parts = ["leaserace", self.command, *names, *only, "--agents", f"{low}..{high}"]
        if self.agent:
            parts += ["--agent", self.agent, *self._situations()]
        if self.every:
            parts.append("--all")
        if self.command == "gate":
            parts += ["--seconds", f"{self.seconds:g}", *self._habits()]
        return shlex.join([*parts, *self._common()])

    def _habits(self) -> list[str]:
        return [part for text in self.habits.texts for part in ("--habit", text)]

    def _situations(self) -> list[str]:
        return [part for name in self.situations for part in ("--situation", name)]

    def _common(self) -> list[str]:
        policy = ["--policy", str(self.policy_file)] if self.policy_file else []
        return ["--target", self.target_name, "--seed", str(self.seed), *policy]


@dataclass(slots=True)
class _Run:
    """A run under way."""

    plan: Plan
    engine: Engine
    run_dir: Path
    watcher: Watcher
    results: list[RaceResult] = field(default_factory=list)
    contentions: list[Contention] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    cut_off: int = 0
    never_up: bool = False
    told: Told | None = None

    @property
    def stuck(self) -> str | None:
        """Why it is no use to go on, or None: each further race would wait for its deadline too."""
        if self.never_up:
            return "not run: the target did not come up"
        if self.cut_off >= CUT_OFF_MAX:
            who = "target or the agent" if self.plan.agent else "target"
            return f"not run: the {who} hung or died in {self.cut_off} races"
        return None

    def race(self, scenario: Scenario, variant: Variant, agents: int) -> RaceResult:
        """Run or leave out one race, keep its history, take its result in."""
        again = self.plan.again(scenario, variant, agents)
        reason = not_applicable(scenario, variant, self.engine.target)
        if reason:
            result = unrun(
                scenario,
                variant,
                agents=agents,
                verdict=Verdict.NOT_APPLICABLE,
                reason=reason,
                again=again,
            )
        else:
            result = self._judged(self._raced(scenario, variant, agents), again)
        return self.take(result)

    def _judged(self, run: RaceRun, again: str) -> RaceResult:
        if run.scenario.group == "agent":
            assert self.told is not None
            return self.told.judge(run, again)
        result, _ = result_of(run, again=again)
        return self._measured(run, result) if run.scenario.group == "contention" else result

    def _raced(self, scenario: Scenario, variant: Variant, agents: int) -> RaceRun:
        run = self.engine.run(scenario, variant, agents=agents, rounds=self.plan.rounds)
        with (self.run_dir / "history.jsonl").open("ab") as file:
            for event in run.history:
                file.write(encode(event))
        self.notices += [f"{run.race}: {notice}" for notice in run.history.notices]
        self.cut_off += run.aborted
        self.never_up |= run.aborted and not run.history.operations()
        return run

    def _measured(self, run: RaceRun, result: RaceResult) -> RaceResult:
        figures = figures_of(run)
        self.contentions.append(figures)
        if Capability.SEND in run.info.capabilities and not figures.deliveries:
            reason = "; ".join(
                filter(None, [result.reason, "no message arrived: nothing was tested"])
            )
            verdict = Verdict.merge([result.verdict, Verdict.UNKNOWN])
            result = replace(result, verdict=verdict, reason=reason)
        self.notices += doubled(run, self.plan.habits, result.duplicates)
        if result.verdict is Verdict.VALID and not figures.contended and not self.plan.habits:
            self.notices.append(
                f"{run.race}: not contended, one agent had hardly a turn; its green says little"
            )
        return replace(result, rounds=figures.conflicts)

    def take(self, result: RaceResult) -> RaceResult:
        """Keep a result and tell the watcher."""
        self.results.append(result)
        self.watcher.raced(result)
        return result


def run_plan(
    plan: Plan,
    *,
    run_dir: Path,
    open_engine: Callable[[str, Path], Engine],
    watcher: Watcher | None = None,
) -> RunOutcome:
    """Carry out a plan.

    Args:
        plan: What to do.
        run_dir: The run's folder; histories are written there race by race.
        open_engine: Makes an engine for a target's name and a folder; used as it is (the caller
            closes what it opened).
        watcher: Who is told of progress.

    Returns:
        The outcome, with every race that was asked for.

    Raises:
        UsageError: The target can't be started.
    """
    started, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    watcher = watcher or Silent()
    run = _Run(plan, open_engine(plan.target_name, run_dir), run_dir, watcher)
    run.told = _told(plan.agent) if plan.agent else None
    watcher.begin(_count(plan))
    canary = _feed_canary(plan, run_dir, open_engine)
    if canary is not None:
        watcher.canary(canary)
    low, high = plan.agents
    for agents in range(low, high + 1):
        _one_more(run, agents)
    verdicts = [result.verdict for result in run.results]
    if canary is not None and not canary.caught:
        verdicts.append(Verdict.UNKNOWN)
        run.notices.append("the canary was not caught: this run can't be believed")
    return RunOutcome(
        command=plan.command,
        target=plan.target_name,
        seed=plan.seed,
        agents=plan.agents,
        verdict=Verdict.merge(verdicts),
        races=tuple(run.results),
        again=plan.whole(),
        started_at=started_at,
        elapsed_s=time.monotonic() - started,
        canary=canary,
        contention=tuple(run.contentions),
        agent=run.told.report() if run.told is not None else None,
        versions=versions(),
        policy=_policy(plan, run.engine),
        notices=tuple(dict.fromkeys(run.notices)),
    )


def _variants(plan: Plan, scenario: Scenario) -> list[Variant]:
    if scenario.group == "contention":
        return list(scenario.variants)
    if scenario.group == "agent" and plan.situations:
        return [each for each in scenario.variants if each.name in plan.situations]
    return [each for each in scenario.variants if plan.variant in ("", each.name)]


def _scenarios(plan: Plan, agents: int) -> list[Scenario]:
    """The races to run with so many agents (spec: T2).

    The six run again after each agent that is added, and so do a user's own. Unless every race is asked
    for, the gate runs the further ones once, with the most agents.
    """
    most = agents == plan.agents[1]
    all_of_them = most or plan.every or plan.command != "gate"
    chosen = [each for each in plan.scenarios if all_of_them or each.group != FURTHER]
    return [*chosen, *([contention(plan.seconds, plan.habits)] if plan.seconds else [])]


def _count(plan: Plan) -> int:
    low, high = plan.agents
    return sum(
        len(_variants(plan, scenario))
        for agents in range(low, high + 1)
        for scenario in _scenarios(plan, agents)
    )


def _one_more(run: _Run, agents: int) -> None:
    """All races with this many agents; the later ones only if the first two hold (spec: T1)."""
    plan = run.plan
    leaking: dict[str, None] = {}
    for scenario in _scenarios(plan, agents):
        for variant in _variants(plan, scenario):
            reason = run.stuck
            if leaking and scenario.number > FIRST_RACES and plan.command == "gate":
                reason = f"{LEAKS} ({' and '.join(leaking)} failed)"
            if reason:
                run.take(_left_out(plan, scenario, variant, agents, reason))
                continue
            run.watcher.racing(f"{scenario.id}[{variant.name}] with {agents} agents")
            result = run.race(scenario, variant, agents)
            if result.verdict is Verdict.INVALID and scenario.number <= FIRST_RACES:
                leaking[scenario.id] = None


def _left_out(
    plan: Plan, scenario: Scenario, variant: Variant, agents: int, reason: str
) -> RaceResult:
    return unrun(
        scenario,
        variant,
        agents=agents,
        verdict=Verdict.NOT_RUN,
        reason=reason,
        again=plan.again(scenario, variant, agents),
    )


def _feed_canary(
    plan: Plan, run_dir: Path, open_engine: Callable[[str, Path], Engine]
) -> CanaryResult | None:
    """Feed one broken twin, drawn by the seed, to the code that judges the target."""
    if not plan.canaries:
        return None
    canary = plan.canaries[plan.seed % len(plan.canaries)]
    started = time.monotonic()
    folder = run_dir / "canary"
    folder.mkdir(parents=True, exist_ok=True)
    scenario = _scenario_of(canary)
    variant = next(each for each in scenario.variants if each.name == canary.variant)
    run = open_engine(canary.target, folder).run(scenario, variant, agents=2)
    result = _told(canary.agent).judge(run, "") if canary.agent else result_of(run)[0]
    return CanaryResult.of(
        result,
        twin=canary.twin,
        rule=canary.rule,
        seconds=time.monotonic() - started,
        is_agent=bool(canary.agent),
    )


def _scenario_of(canary: Canary) -> Scenario:
    if canary.agent:
        from .agents.gate import agent_scenario

        return agent_scenario(canary.agent)
    scenario = REGISTRY.get(canary.scenario)
    assert scenario is not None
    return scenario


def _told(agent: str) -> Told:
    from .agents.gate import Told

    return Told(agent)


def versions() -> dict[str, str]:
    """Versions that matter for running it again."""
    try:
        own = version("leaserace")
    except PackageNotFoundError:
        own = "from source"
    return {
        "leaserace": own,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _policy(plan: Plan, engine: Engine) -> Mapping[str, object]:
    """The lengths each scenario asks for, and the user's policy file."""
    lengths = {scenario.id: asdict(scenario.settings) for scenario in plan.scenarios}
    file = {"file": str(plan.policy_file)} if plan.policy_file else {}
    habits = {"habits": list(plan.habits.texts)} if plan.habits else {}
    return {"settings": lengths, "fixed": dict(engine.target.fixed), **file, **habits}
