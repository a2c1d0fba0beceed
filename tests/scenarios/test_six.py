"""The six races on both engines: valid, and the same answers in the same order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

import leaserace.scenarios.six  # noqa: F401 - it registers the races
from leaserace.harness.contract import Target
from leaserace.harness.engine import Engine, RaceRun
from leaserace.harness.history import DeliveryEvent
from leaserace.harness.judging import result_of
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import REGISTRY, Scenario, Variant
from leaserace.harness.simulation.engine import SimulationEngine
from leaserace.harness.targets import load_target
from leaserace.harness.verdict import Verdict

REFERENCE = "leaserace.reference_impl.target:target"
SCENARIOS = {each.id: each for each in REGISTRY if each.group == "six"}
RACES = [(each.id, variant.name) for each in SCENARIOS.values() for variant in each.variants]
ORDER_IS_OPEN = {
    ("two_spellings", "at once"),
    ("two_spellings", "aliases"),
    ("retry_after_timeout", "two tries at once"),
}
"""Calls begin at one instant: who comes first is not for the script to say."""
FIXED = [race for race in RACES if race not in ORDER_IS_OPEN]
AGENTS = 2


@pytest.fixture(scope="module")
def reference() -> Target:
    return load_target(REFERENCE)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessEngine]:
    with ProcessEngine(REFERENCE, tmp_path_factory.mktemp("run"), seed=7) as engine:
        yield engine


def race_of(scenario_id: str, variant_name: str) -> tuple[Scenario, Variant]:
    scenario = SCENARIOS[scenario_id]
    return scenario, next(each for each in scenario.variants if each.name == variant_name)


def run(engine: Engine, scenario_id: str, variant_name: str) -> RaceRun:
    done = engine.run(*race_of(scenario_id, variant_name), agents=AGENTS, rounds=1)
    result, _ = result_of(done)
    assert result.verdict is Verdict.VALID, (result.reason, result.findings)
    return done


Told = dict[str, list[tuple[str, str, str, int]]]


def answers(done: RaceRun, contacts: int) -> Told:
    """What each agent asked and was told, in its order, and how often each message arrived.

    Kinds and codes, no times and no tokens. A script takes another contact where a crowded machine
    let a lease end too early; only the last `contacts` are what it went on with.
    """
    arrived = Counter(each.intent for each in done.history if isinstance(each, DeliveryEvent))
    operations = list(done.history.operations())
    kept = list(dict.fromkeys(op.contact for op in operations))[-contacts:]
    told: Told = defaultdict(list)
    for op in operations:
        if op.contact in kept:
            kind = "" if op.completed_ns is None else str(op.answer.get("answer", ""))
            intent = op.args.get("message", {}).get("intent", "")
            told[op.agent].append((op.f, kind, op.code or "", arrived[intent]))
    return dict(told)


def contacts_in(done: RaceRun) -> int:
    return len({op.contact for op in done.history.operations()})


@pytest.mark.parametrize("agents", [2, 3, 5])
@pytest.mark.parametrize(("scenario_id", "variant_name"), RACES)
def test_the_reference_comes_out_valid_in_the_simulator(
    reference: Target, scenario_id: str, variant_name: str, agents: int
) -> None:
    """spec: T"""
    engine = SimulationEngine(reference, seed=11)
    result, _ = result_of(engine.run(*race_of(scenario_id, variant_name), agents=agents))
    assert result.verdict is Verdict.VALID, (result.reason, result.findings)


@pytest.mark.process
@pytest.mark.parametrize(("scenario_id", "variant_name"), FIXED)
def test_both_engines_tell_the_same_answers_in_the_same_order(
    processes: ProcessEngine, reference: Target, scenario_id: str, variant_name: str
) -> None:
    """spec: T: what is found in virtual time is what happens between processes."""
    real = run(processes, scenario_id, variant_name)
    simulated = run(SimulationEngine(reference, seed=7), scenario_id, variant_name)
    contacts = contacts_in(simulated)
    assert answers(real, contacts) == answers(simulated, contacts)


@pytest.mark.process
@pytest.mark.parametrize(("scenario_id", "variant_name"), sorted(ORDER_IS_OPEN))
def test_where_the_order_is_open_both_engines_ask_the_same(
    processes: ProcessEngine, reference: Target, scenario_id: str, variant_name: str
) -> None:
    """spec: T, S10: any one order may explain the answers."""
    real = run(processes, scenario_id, variant_name)
    simulated = run(SimulationEngine(reference, seed=7), scenario_id, variant_name)
    asked = [
        {agent: told[0][0] for agent, told in answers(done, 1).items()}
        for done in (real, simulated)
    ]
    assert asked[0] == asked[1]
