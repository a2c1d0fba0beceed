"""The six races and the race of late events on the simulator."""

from __future__ import annotations

from dataclasses import replace

import pytest

import leaserace.scenarios.beyond
import leaserace.scenarios.six  # noqa: F401 - registers the races
from leaserace.harness.contract import Answer, Code, NoReply, Refused, Target, UsageError
from leaserace.harness.judging import not_applicable, result_of
from leaserace.harness.scenario import REGISTRY, Race, Scenario, Variant
from leaserace.harness.simulation.again import run_schedule
from leaserace.harness.simulation.engine import SimulationEngine
from leaserace.harness.simulation.explore import Explorer, Plan
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.schedule import Schedule
from leaserace.harness.simulation.subjects import parse
from leaserace.harness.targets import load_target
from leaserace.harness.verdict import Verdict
from tests.support.toy import ToyTarget

REFERENCE = "leaserace.reference_impl.target:target"
RACES = [
    (scenario, variant)
    for scenario in REGISTRY
    for variant in scenario.variants
    if scenario.group in {"six", "beyond"}
]


@pytest.fixture(scope="module")
def reference() -> Target:
    return load_target(REFERENCE)


@pytest.mark.parametrize("agents", [2, 4])
@pytest.mark.parametrize(
    ("scenario", "variant"), RACES, ids=[f"{one.id}[{two.name}]" for one, two in RACES]
)
def test_the_reference_comes_out_valid_in_virtual_time(
    reference: Target, scenario: Scenario, variant: Variant, agents: int
) -> None:
    """The same scenario files run on this engine (spec: T)."""
    run = SimulationEngine(reference, seed=3).run(scenario, variant, agents=agents)
    result, _ = result_of(run)
    assert result.verdict is Verdict.VALID, (result.reason, result.findings)


def test_a_seed_gives_the_same_history_again(reference: Target) -> None:
    scenario, variant = RACES[0]
    runs = [
        SimulationEngine(reference, seed=seed).run(scenario, variant, agents=3).history
        for seed in (5, 5, 6)
    ]
    assert list(runs[0]) == list(runs[1])
    assert list(runs[0]) != list(runs[2])


def test_a_missing_fence_is_found_by_the_race_that_pauses_the_holder() -> None:
    """The toy without a fence sends under a token that is over (spec: S3)."""
    scenario = REGISTRY.get("stale_token")
    assert scenario is not None
    variant = next(each for each in scenario.variants if each.name == "before the call")
    assert not_applicable(scenario, variant, ToyTarget()) is None
    run = SimulationEngine(ToyTarget("fence"), seed=1).run(scenario, variant, agents=2)
    result, _ = result_of(run)
    assert result.verdict is Verdict.INVALID


def test_a_race_has_schedules_of_its_own() -> None:
    """One round of a script is explored, and replayed, like any other subject."""
    name = "leaserace.reference_impl.broken.without_atomic_key:target"
    subjects = ("race.retry_after_timeout.3.2",)
    target = load_target(name)
    hit = (
        Explorer(target, Plan(target=name, schedules=400, seed=1, subjects=subjects)).run().hits[0]
    )
    with Runner(target) as runner:
        outcome = run_schedule(runner, Schedule.from_text(hit.schedule))
    assert [finding.rule for finding in outcome.findings][:1] == list(hit.rules[:1])
    clean = Explorer(
        load_target(REFERENCE), Plan(target=REFERENCE, schedules=60, seed=1, subjects=subjects)
    )
    assert not clean.run().hits


@pytest.mark.parametrize(
    "text", ["race.nothing", "race.two_spellings.99", "race.two_spellings.0.9"]
)
def test_a_race_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="race"):
        parse(text)


def test_a_reply_can_be_lost_right_after_a_restart(reference: Target) -> None:
    """An agent that was started again and has not connected yet is told so when it does."""
    answers: list[Answer] = []

    def script(race: Race) -> None:
        agent, person = race.agents[0], race.contact()
        agent.kill()
        agent.restart()
        agent.lose_next_reply()
        answers.extend(agent.acquire(person) for _ in range(2))

    plain = Variant(name="plain")
    race = replace(RACES[0][0], script=script, variants=(plain,), windows=())
    SimulationEngine(reference, seed=1).run(race, plain, agents=2)
    lost, owned = answers
    assert isinstance(lost, NoReply)
    assert isinstance(owned, Refused)
    assert owned.code is Code.CONTACT_OWNED
