"""The agent's part of a gate: which canaries are fed, how a situation is judged, what is reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..engine import RaceRun
from ..faults import FaultKind, Phase
from ..history import AnyEvent, FaultEvent, History, MarkEvent
from ..judging import result_of
from ..outcome import AgentAnswer, AgentReport
from ..rules.agents import habit_in
from ..verdict import Finding, RaceResult, Verdict
from .playing import END
from .races import SITUATIONS, agent_scenario
from .told import judged, rules_for

_OURS = "leaserace.harness.agents.ours"

CANARY_AGENTS = (
    ("uuid-per-call", f"{_OURS}:uuid_per_call", "lost_send"),
    ("blind-retry", f"{_OURS}:blind_retry", "suppressed"),
    ("old-token", f"{_OURS}:old_token", "lease_expired"),
    ("opt-out-late", f"{_OURS}:opt_out_late", "lost_send"),
)
"""Agents of ours with a bad habit, by name, callable and the situation that shows it."""
CANARY_RULE = "agent.habits"


@dataclass(slots=True)
class Told:
    """What the agent under test did so far.

    Args:
        name: The agent, as its user named it.
    """

    name: str
    answers: list[AgentAnswer] = field(default_factory=list)
    habits: Counter[str] = field(default_factory=Counter)

    def judge(self, run: RaceRun, again: str) -> RaceResult:
        """Judge a situation and keep what the agent's author is told.

        Args:
            run: The situation, run.
            again: The command that runs it again.
        """
        result, answer = judge_situation(run, again)
        self.answers.append(answer)
        self.habits.update(habits_in(result.findings))
        return result

    def report(self) -> AgentReport:
        """All of it."""
        return AgentReport(
            name=self.name, answers=tuple(self.answers), habits=dict(self.habits.most_common())
        )


def judge_situation(run: RaceRun, again: str = "") -> tuple[RaceResult, AgentAnswer]:
    """Judge one situation by the rules that apply to it.

    Args:
        run: The situation, run.
        again: The command that runs it again.
    """
    rules = rules_for(SITUATIONS[run.variant.name])
    taken_out = replace(run, history=History(_until_cut_off(run.history), run.history.notices))
    result, _ = result_of(taken_out, again=again, rules=rules)
    return judged(run, result)


def _until_cut_off(history: History) -> Iterator[AnyEvent]:
    """Being cut off is a crash: what an agent left undone because of it is no fault of its own."""
    for event in history:
        yield event
        if isinstance(event, MarkEvent) and event.name == END and event.data.get("cut_off"):
            yield FaultEvent(
                t=event.t,
                race=event.race,
                agent=event.agent,
                fault=FaultKind.CRASH,
                phase=Phase.BEGIN,
                id="crash:cut off",
            )


def habits_in(findings: Sequence[Finding]) -> set[str]:
    """Habits that findings name."""
    return {habit for habit in map(habit_in, findings) if habit}


def merged(answers: Sequence[AgentAnswer]) -> Verdict:
    """The verdict of all situations."""
    return Verdict.merge(answer.verdict for answer in answers)


__all__ = ["CANARY_AGENTS", "CANARY_RULE", "Told", "agent_scenario", "judge_situation", "merged"]
