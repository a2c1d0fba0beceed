"""The gate: order, what is left out and why, the canary, and what a user is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import leaserace.scenarios.beyond
import leaserace.scenarios.six  # noqa: F401 - it registers the races
from leaserace.harness.commands import exit_status
from leaserace.harness.engine import Engine
from leaserace.harness.gate import Canary, Plan, run_plan
from leaserace.harness.history import History
from leaserace.harness.outcome import RunOutcome
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import REGISTRY, Scenario
from leaserace.harness.verdict import Verdict

pytestmark = pytest.mark.process

REFERENCE = "leaserace.reference_impl.target:target"
WITHOUT_FENCE = "leaserace.reference_impl.broken.without_fencing_check:target"
FENCE_CANARY = Canary(
    twin="without_fencing_check",
    target=WITHOUT_FENCE,
    scenario="stale_token",
    variant="before the call",
    rule="tokens.stale_never_sends",
)

Run = Callable[..., RunOutcome]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run_(target: str, **plan: Any) -> RunOutcome:
        with ExitStack() as stack:

            def open_engine(name: str, folder: Path) -> Engine:
                return stack.enter_context(ProcessEngine(name, folder, seed=1))

            asked: dict[str, Any] = {
                "scenarios": six(),
                "agents": (2, 2),
                "seconds": 0.0,
                "rounds": 1,
            } | plan
            return run_plan(
                Plan(target_name=target, **asked), run_dir=tmp_path, open_engine=open_engine
            )

    return run_


def six(*ids: str) -> list[Scenario]:
    return [each for each in REGISTRY if each.group == "six" and (not ids or each.id in ids)]


def test_the_reference_is_valid_and_every_race_is_recorded(run: Run, tmp_path: Path) -> None:
    """spec: T, T3"""
    outcome = run(REFERENCE, rounds=None)

    assert outcome.verdict is Verdict.VALID, outcome
    assert (outcome.duplicates, outcome.double_contacts) == (0, 0)
    history = History.load(tmp_path / "history.jsonl")
    assert history.races() == [race.race for race in outcome.races]
    for race in history.races():
        acted = {op.agent for op in history.of_race(race).operations()}
        assert len(acted) >= 2 or race.startswith(("stale_token[nobody", "retry_after_timeout"))


def test_when_a_first_race_fails_the_later_ones_are_not_run_and_it_is_said_why(run: Run) -> None:
    """Neither the six nor those of X (spec: T1)."""
    further = [each for each in REGISTRY if each.quick]
    outcome = run(WITHOUT_FENCE, scenarios=[*six(), *further])

    assert outcome.verdict is Verdict.INVALID
    later = [
        race for race in outcome.races if race.scenario not in ("two_spellings", "stale_token")
    ]
    assert {race.verdict for race in later} == {Verdict.NOT_RUN}
    assert {race.scenario for race in later} > {each.id for each in further} > set()
    assert {race.reason for race in later} == {"not run: the system leaks (stale_token failed)"}


def test_agents_are_added_one_at_a_time_and_all_races_run_again(run: Run) -> None:
    """spec: T2"""
    outcome = run(REFERENCE, scenarios=six("cooldown_after_delivery"), agents=(2, 4))

    by_agents = [race.agents for race in outcome.races if race.variant == "handed on"]
    assert by_agents == [2, 3, 4]
    assert outcome.verdict is Verdict.VALID


@pytest.mark.parametrize(("every", "numbers"), [(False, [3]), (True, [2, 3])])
def test_races_of_x_run_with_the_most_agents_or_with_each_number_where_all_are_asked_for(
    run: Run, every: bool, numbers: list[int]
) -> None:
    """spec: T2, X"""
    chosen = [each for each in REGISTRY if each.id in ("cooldown_after_delivery", "look_alikes")]
    outcome = run(REFERENCE, scenarios=chosen, agents=(2, 3), every=every)

    by_agents = {race.scenario: set[int]() for race in outcome.races}
    for race in outcome.races:
        by_agents[race.scenario].add(race.agents)
    assert by_agents == {"cooldown_after_delivery": {2, 3}, "look_alikes": set(numbers)}
    assert outcome.verdict is Verdict.VALID


def test_a_canary_that_is_caught_is_reported_with_its_rule_and_time(run: Run) -> None:
    outcome = run(REFERENCE, scenarios=six("skewed_renewal"), canaries=[FENCE_CANARY])

    assert outcome.canary is not None
    assert outcome.canary.caught
    assert outcome.canary.seconds > 0
    assert exit_status(outcome) == 0


def test_a_canary_that_gets_through_makes_the_run_no_pass(run: Run) -> None:
    """The harness is at fault then: a green of it proves nothing."""
    sound = Canary(
        twin="none",
        target=REFERENCE,
        scenario="stale_token",
        variant="before the call",
        rule="tokens.stale_never_sends",
    )

    outcome = run(REFERENCE, scenarios=six("skewed_renewal"), canaries=[sound])

    assert outcome.verdict is Verdict.UNKNOWN
    assert exit_status(outcome) == 3


def test_agents_that_meet_on_the_same_contacts_break_no_rule(run: Run) -> None:
    """spec: T2, T3"""
    outcome = run(REFERENCE, scenarios=[], seconds=1.0, agents=(3, 3))

    (race,) = outcome.races
    assert race.verdict is Verdict.VALID, race
    (round_,) = outcome.contention
    assert round_.conflicts > 0
    assert round_.deliveries == round_.sends > 0


def test_a_target_that_can_do_nothing_is_not_applicable(run: Run) -> None:
    outcome = run("tests.support.gate_targets:DoesNothing")

    assert outcome.verdict is Verdict.NOT_APPLICABLE
    assert exit_status(outcome) == 5
    assert all("does not declare" in race.reason for race in outcome.races)


def test_a_target_with_leases_only_is_judged_by_what_it_can_do(run: Run) -> None:
    outcome = run("tests.support.gate_targets:LeasesOnly")

    assert outcome.verdict is Verdict.VALID
    skipped = {race.scenario for race in outcome.races if race.verdict is Verdict.NOT_APPLICABLE}
    assert {"stale_token", "suppressed_while_leased", "cooldown_after_delivery"} <= skipped


def test_a_target_that_refuses_everything_is_not_valid(run: Run) -> None:
    outcome = run("tests.support.gate_targets:RefusesEverything", scenarios=six("two_spellings"))

    assert outcome.verdict is Verdict.INVALID
    rules = {finding.rule for race in outcome.races for finding in race.findings}
    assert {"scenario.expected", "refusals.explained"} <= rules


def test_a_target_that_says_sent_and_delivers_nothing_is_not_valid(run: Run) -> None:
    outcome = run(
        "leaserace.reference_impl.broken.without_delivery:target",
        scenarios=six("retry_after_timeout"),
    )

    assert outcome.verdict is Verdict.INVALID
    rules = {finding.rule for race in outcome.races for finding in race.findings}
    assert "sends.arrived" in rules


def test_a_failing_race_names_the_command_that_runs_it_again(run: Run) -> None:
    outcome = run(WITHOUT_FENCE, scenarios=six("stale_token"))

    failed = next(race for race in outcome.races if race.verdict is Verdict.INVALID)
    assert failed.again == (
        f"leaserace run stale_token --variant '{failed.variant}' --agents 2 "
        f"--target {WITHOUT_FENCE} --seed 0"
    )


def test_an_outcome_is_the_same_after_a_way_through_json(run: Run) -> None:
    outcome = run(REFERENCE, scenarios=six("skewed_renewal"))

    assert RunOutcome.from_json(outcome.to_json()) == outcome
    assert json.loads(outcome.to_json())["verdict"] == "valid"
