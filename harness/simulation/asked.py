"""What ``explore`` was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..agents.option import AgentRun
from ..habits.assign import Assignments
from ..run_folder import run_folder, seed_or_drawn
from .catalogue import EXHAUSTIVE, SMALL
from .driver import Bounds
from .exhaust import Searches
from .explore import Plan
from .habits import subjects_with
from .subjects import POLICIES, parse

SECONDS = 10.0
FAULTS, DEADLINES = 2, 3
"""What may go wrong in a drawn run, unless it is said."""
SEARCH_SHARE = 0.2
"""How much of its time a portfolio searches, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of ``leaserace explore``, under their names."""

    target: str
    policy_file: Path | None
    strategy: str
    agents: int
    faults: int | None
    deadlines: int | None
    depth: int
    schedules: int | None
    seconds: float | None
    seed: int | None
    workers: int
    shard: tuple[int, int]
    subjects: tuple[str, ...]
    habit_texts: tuple[str, ...]
    agent: str | None
    situations: tuple[str, ...]
    policies: tuple[str, ...]
    keep_going: bool
    report_dir: Path
    as_json: bool

    @property
    def limit_s(self) -> float | None:
        """How long; the default only where nothing else ends it."""
        return SECONDS if self.seconds is None and self.schedules is None else self.seconds

    def bounds(self, *, faults: int, deadlines: int) -> Bounds:
        """How much may go wrong, where nothing is said as much as given here."""
        return Bounds(
            faults=faults if self.faults is None else self.faults,
            time_steps=deadlines if self.deadlines is None else self.deadlines,
        )

    def what_runs(self) -> tuple[str, ...]:
        """The subjects, with habits; empty for those that are drawn.

        Raises:
            UsageError: One can't be, or a habit is nobody's.
        """
        for subject in self.subjects:
            parse(subject)
        return subjects_with(Assignments(self.habit_texts), self.subjects)

    def plan(self, subjects: tuple[str, ...]) -> Plan:
        """What to draw."""
        seed = seed_or_drawn(self.seed)
        bounds = self.bounds(faults=FAULTS, deadlines=DEADLINES)
        return Plan(
            target=self.target,
            strategy=self.strategy,
            agents=self.agents,
            faults=bounds.faults,
            time_steps=bounds.time_steps,
            depth=self.depth,
            schedules=self.schedules,
            seconds=self.limit_s,
            seed=seed,
            subjects=subjects,
            policies=self.policies,
            policy_file=self._policy_text,
            keep_going=self.keep_going,
            folder=self._folder(seed),
        )

    @property
    def _policy_text(self) -> str | None:
        """The policy file, as an order to a worker names it."""
        return None if self.policy_file is None else str(self.policy_file)

    def _folder(self, seed: int) -> str:
        """Where the schedules of a run that begins now are written."""
        return str(run_folder(self.report_dir, "explore", seed) / "schedules")

    def searches(self, subjects: tuple[str, ...]) -> Searches:
        """What to search to its end; with no limit unless one is given."""
        bounds = self.bounds(faults=1, deadlines=1)
        few = tuple(text for text in EXHAUSTIVE if len(parse(text).seats) <= self.agents)
        return Searches(
            target=self.target,
            subjects=subjects or few,
            policies=self.policies or tuple(POLICIES),
            faults=bounds.faults,
            deadlines=bounds.time_steps,
            schedules=self.schedules,
            seconds=self.seconds,
            policy_file=self._policy_text,
            folder=self._folder(0),
        )

    @property
    def has_small_searches(self) -> bool:
        """Whether a portfolio begins with searches: where time bounds it and nothing else is asked."""
        asks_time = self.schedules is None and self.shard[0] == 1
        return (
            self.strategy == "portfolio"
            and asks_time
            and not self.subjects
            and not self.habit_texts
        )

    def small_searches(self, plan: Plan) -> Searches:
        """The small searches of a portfolio, within a small bound and a share of its time."""
        searches = self.searches(SMALL)
        assert plan.seconds is not None
        return replace(
            searches,
            faults=min(searches.faults, 1),
            deadlines=min(searches.deadlines, 1),
            seconds=plan.seconds * SEARCH_SHARE,
            folder=plan.folder,
        )

    def agent_run(self) -> AgentRun:
        """What is asked of an agent under test."""
        others = {
            "--subject": self.subjects,
            "--variant": self.policies,
            "--habit": self.habit_texts,
        }
        return AgentRun(
            agent=self.agent,
            target=self.target,
            situations=self.situations,
            seed=self.seed,
            seconds=self.seconds,
            schedules=self.schedules,
            policy_file=self.policy_file,
            report_dir=self.report_dir,
            as_json=self.as_json,
            refused=tuple(flag for flag, given in others.items() if given),
        )


__all__ = ["Asked"]
