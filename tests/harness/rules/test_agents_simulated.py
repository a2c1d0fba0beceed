"""Agents under test in the simulator: bad habits are named, good agents have no finding (spec: A3)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaserace.harness.habits import HABITS
from leaserace.harness.simulation.driver import Bounds, Chooser
from leaserace.harness.simulation.fence import patched
from leaserace.harness.simulation.strategies.pct import Pct
from leaserace.harness.simulation.strategies.uniform import Uniform
from leaserace.harness.simulation.subjects import POLICIES, parse
from tests.support.under_test import Watched, seated, shown

GOOD = [name for name, habit in HABITS.items() if not habit.breaks]
BAD = [name for name, habit in HABITS.items() if habit.breaks]
SUBJECTS = [
    "play.sales.support",
    "play.sequence-3.sales",
    "play.digest.sales.optout",
    "play.support.digest.override",
    "play.sales.@sales.sequence-2",
    "play.sales.bounce",
]
BOUNDS = Bounds(faults=3, time_steps=4)
ALSO = {"blind-retry": {"old-token"}, "one-key-for-many": {"blind-retry"}}
"""What else a habit may look like: who repeats whatever was refused sends with an old token too."""


def choosers(seed: int, count: int) -> list[Chooser]:
    rng = random.Random(seed)
    return [Uniform(rng) if number % 2 else Pct(rng, 3) for number in range(count)]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(GOOD),
    st.sampled_from(SUBJECTS),
    st.sampled_from(sorted(POLICIES)),
    st.integers(0, 2**32),
)
def test_a_good_agent_has_no_finding_whatever_befalls_it(
    habit: str, text: str, policy: str, seed: int
) -> None:
    """Lost replies, crashes, a silent transport, a busy store, clocks that jump. spec: A1, A2, A3"""
    _, findings, outcomes = shown(seated(text, habit), policy, choosers(seed, 10), BOUNDS)
    assert findings == []
    assert [outcome.problem for outcome in outcomes if outcome.problem] == []


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_agent_of_a_subject_may_be_under_test(policy: str) -> None:
    """spec: A1"""
    subject = parse("play.sales.support.sequence-2")
    with Watched(*subject.agents) as runner, patched(runner.world):
        for chooser in choosers(7, 40):
            assert runner.run(subject, policy, chooser, BOUNDS, coarse=True).findings == []


@pytest.mark.parametrize("habit", BAD)
def test_a_bad_habit_is_recognised_by_its_name(habit: str) -> None:
    """spec: A3"""
    named = set()
    for text in ("play.sales.support", "play.sequence-3.sales"):
        for policy in sorted(POLICIES):
            counted, _, _ = shown(seated(text, habit), policy, choosers(3, 20), BOUNDS)
            named |= set(counted)
    assert habit in named
    assert named <= {habit} | ALSO.get(habit, set())


@pytest.mark.parametrize("habit", BAD)
def test_the_rules_that_a_habit_is_said_to_break_find_it(habit: str) -> None:
    """spec: A3"""
    rules = set()
    for policy in sorted(POLICIES):
        _, findings, _ = shown(seated(SUBJECTS[1], habit), policy, choosers(5, 20), BOUNDS)
        rules |= {finding.rule for finding in findings}
    assert set(HABITS[habit].breaks) <= rules


def test_a_finding_shows_the_operations_that_prove_it() -> None:
    """spec: A3"""
    _, findings, outcomes = shown(
        seated("play.sales.support", "uuid-per-call"), "plain", choosers(3, 30), BOUNDS
    )
    ops = {getattr(event, "op", "") for outcome in outcomes for event in outcome.events}
    assert findings
    for finding in findings:
        assert len(finding.ops) == 2
        assert set(finding.ops) <= ops
        assert finding.agents == ("sales-01",)
        assert finding.contact == "contact-1"
