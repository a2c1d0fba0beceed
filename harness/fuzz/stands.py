"""Stands: where a plan is played. Each begins a stage, hands it out, and says what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from ..history import AnyEvent, History
from ..rules.base import Judgement, RaceInfo
from ..verdict import Finding, Verdict
from .hands import Told
from .stage import Stage
from .steps import Plan, Shape, Step

RACE = "fuzz"
"""Name of the race in a fuzzed run's history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A plan that was played to its end.

    Args:
        plan: Its shape and the steps that were made.
        told: The steps with what they were answered.
        events: What was recorded, in order.
        info: What rules must know.
        judgement: What the rules said.
        is_real: Whether it ran on real processes.
        problems: Why it can't be judged, one sentence each.
    """

    plan: Plan
    told: tuple[Told, ...]
    events: tuple[AnyEvent, ...]
    info: RaceInfo
    judgement: Judgement
    problems: tuple[str, ...] = ()
    is_real: bool = False

    def history(self) -> History:
        """What was recorded, under the one name that reports know."""
        return History(msgspec.structs.replace(event, race=RACE) for event in self.events)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the rules found."""
        return self.judgement.findings

    @property
    def verdict(self) -> Verdict:
        """Invalid with a finding, unknown with a problem, else valid."""
        judged = self.judgement.verdict
        return Verdict.UNKNOWN if judged is Verdict.VALID and self.problems else judged


class Stand(Protocol):
    """One engine with one target, for many runs one after the other."""

    is_real: bool

    def begin(self, shape: Shape) -> Stage:
        """Begin a run."""
        ...

    @property
    def findings(self) -> Sequence[Finding]:
        """What the rules have found so far in this run; empty where they judge at the end."""
        ...

    def end(self) -> Played:
        """End the run: everybody goes on, the audit log is read, the rules judge to the end."""
        ...


def play(stand: Stand, plan: Plan) -> Played:
    """Play a plan; steps that can't be made are left out of what is returned.

    Args:
        stand: Where.
        plan: What.
    """
    stage = stand.begin(plan.shape)
    for step in plan.steps:
        if stand.findings:
            break
        stage.do(step)
    return stand.end()


def made(stage: Stage, shape: Shape) -> Plan:
    """The plan of the steps that were made so far."""
    steps: list[Step] = [each.step for each in stage.told]
    return Plan(shape=shape, steps=tuple(steps))


__all__ = ["RACE", "Played", "Stand", "made", "play"]
