"""Simulated runs of an agent under test: any habit in the first seat, judged by the agent rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from leaserace.harness.history import AnyEvent, MarkEvent
from leaserace.harness.rules.agents import AGENT_RULES, UNDER_TEST, habit_in
from leaserace.harness.rules.base import RaceInfo
from leaserace.harness.simulation.driver import Bounds, Chooser
from leaserace.harness.simulation.fence import patched
from leaserace.harness.simulation.run import Outcome, Runner
from leaserace.harness.simulation.subjects import Subject, parse
from leaserace.harness.verdict import Finding
from leaserace.reference_impl.target import ReferenceTarget


class Watched(Runner):
    """Runs in which agents are under test.

    Args:
        watched: Their ids.
    """

    def __init__(self, *watched: str) -> None:
        super().__init__(ReferenceTarget(), rules=AGENT_RULES)
        self._watched = watched

    def _marks(self, subject: Subject, policy: str, info: RaceInfo) -> list[AnyEvent]:
        marks = super()._marks(subject, policy, info)
        now_ns = self.world.now_ns()
        named = [MarkEvent(t=now_ns, name=UNDER_TEST, agent=agent) for agent in self._watched]
        return [*marks, *named]


def seated(text: str, habit: str, **more: Any) -> Subject:
    """A subject whose first agent has a habit."""
    subject = parse(text)
    first, *others = subject.seats
    first = replace(first, args={**first.args, "habit": habit, **more})
    return replace(subject, text=f"{text}+{habit}", seats=(first, *others))


def shown(
    subject: Subject, policy: str, choosers: Sequence[Chooser], bounds: Bounds
) -> tuple[Counter[str], list[Finding], list[Outcome]]:
    """Run a subject once with each chooser.

    Returns:
        How often each habit was named, all findings, and the runs.
    """
    with Watched(subject.seats[0].agent) as runner, patched(runner.world):
        outcomes = [
            runner.run(subject, policy, chooser, bounds, coarse=True) for chooser in choosers
        ]
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    return Counter(habit for habit in map(habit_in, findings) if habit), findings, outcomes
