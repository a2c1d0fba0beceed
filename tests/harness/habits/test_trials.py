"""Agents with habits in contention rounds: replies are lost, agents restart, mail is doubled or not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from leaserace.harness import Race, Settings
from leaserace.harness.contention import contention, doubled
from leaserace.harness.engine import Engine, RaceRun
from leaserace.harness.habits import HABITS
from leaserace.harness.habits.assign import Assignments
from leaserace.harness.habits.trial import NEEDS, trial
from leaserace.harness.history import FaultEvent
from leaserace.harness.judging import result_of
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.simulation.engine import SimulationEngine
from leaserace.harness.targets import load_target
from leaserace.harness.verdict import Verdict
from tests.support.habits import SECONDS, told


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessEngine]:
    with ProcessEngine("reference", tmp_path_factory.mktemp("run"), seed=4) as started:
        yield started


@pytest.fixture
def simulation() -> SimulationEngine:
    return SimulationEngine(load_target("reference"), seed=4)


def contend(engine: Engine, *texts: str, seconds: float = 0.75) -> RaceRun:
    scenario = contention(seconds, Assignments(texts))
    return engine.run(scenario, scenario.variants[0], agents=2)


@pytest.mark.parametrize("name", HABITS)
def test_a_round_shows_which_habit_doubles_mail_and_breaks_no_rule(
    simulation: SimulationEngine, name: str
) -> None:
    """spec: K9, O1, A3: some the mailbox stops, some it can't."""
    run = contend(simulation, f"sales={name}")
    result, _ = result_of(run)
    assert result.verdict is Verdict.VALID, result
    assert bool(result.duplicates) == HABITS[name].doubles


def test_doubled_mail_is_said_to_be_asked_for(simulation: SimulationEngine) -> None:
    """spec: K9: the notice names the agent and its habit."""
    habits = Assignments(["sales=uuid-per-call"])
    run = contend(simulation, *habits.texts)
    (said,) = doubled(run, habits, 7)
    assert "7 messages arrived again, asked for by sales-01 (uuid-per-call)" in said
    assert doubled(run, habits, 0) == []
    assert doubled(run, Assignments(["sales=old-token"]), 7) == []
    assert doubled(run, Assignments(), 7) == []


def crashes(run: RaceRun) -> list[str]:
    return [
        event.agent
        for event in run.history
        if isinstance(event, FaultEvent) and (event.fault, event.phase) == ("crash", "begin")
    ]


def test_an_agent_whose_habit_shows_after_a_restart_is_restarted(
    simulation: SimulationEngine,
) -> None:
    """spec: O2"""
    assert crashes(contend(simulation, "support=new-run-id")) == ["support-01"]
    assert crashes(contend(simulation, "support=uuid-per-call")) == []


@pytest.mark.process
def test_a_process_is_restarted_too(processes: ProcessEngine) -> None:
    """spec: O2, T3"""
    run = contend(processes, "sales=new-run-id", seconds=0.4)
    assert run.problems == ()
    assert crashes(run) == ["sales-01"]
    result, _ = result_of(run)
    assert result.findings == ()


@pytest.mark.parametrize(
    "engine", ["simulation", pytest.param("processes", marks=pytest.mark.process)]
)
def test_each_lost_reply_of_a_fresh_key_is_one_duplicate(
    engine: str, request: pytest.FixtureRequest
) -> None:
    """spec: K9: with every reply lost, each errand arrives twice."""

    def three_errands(race: Race) -> None:
        contact = race.contact()
        args = {
            "contacts": [[contact.name, contact.address]],
            "run": "run",
            "habit": "uuid-per-call",
            "can": sorted(race.capabilities),
            "steps": 3,
            "losses": 1.0,
        }
        race.engage(race.agents[0], trial, args, SECONDS).wait()

    seen = told(request.getfixturevalue(engine), three_errands, Settings(cooldown_s=0.0))
    assert len(seen.arrived) == 6
    assert seen.seen("send") == ["send reply_lost"] * 6


def test_what_a_target_can_not_do_is_not_called(simulation: SimulationEngine) -> None:
    """spec: K9: a target without look-up is not asked what became of a send."""

    def without_lookup(race: Race) -> None:
        contact = race.contact()
        can = sorted(race.capabilities - {NEEDS["lookup"]})
        args = {
            "contacts": [[contact.name, contact.address]],
            "run": "run",
            "habit": "well-behaved",
            "can": can,
            "steps": 1,
            "losses": 1.0,
        }
        race.engage(race.agents[0], trial, args, SECONDS).wait()

    seen = told(simulation, without_lookup, Settings(cooldown_s=0.0))
    assert seen.seen() == ["acquire ok", "send reply_lost", "release ok"]
