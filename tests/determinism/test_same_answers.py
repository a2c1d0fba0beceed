"""Both engines tell the same story of a race: the same calls get the same answers in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import leaserace.scenarios.six  # noqa: F401 - registers the races
from leaserace.harness.history import DeliveryEvent, History
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import REGISTRY, Scenario, Variant
from leaserace.harness.simulation.engine import SimulationEngine
from leaserace.harness.targets import load_target

REFERENCE = "leaserace.reference_impl.target:target"
OVERLAPPING = {"at once", "aliases", "two tries at once"}
"""Variants in which two calls run at one time: who is first is a matter of luck with processes."""
RACES = [
    (scenario, variant)
    for scenario in REGISTRY
    for variant in scenario.variants
    if scenario.group == "six" and variant.name not in OVERLAPPING
]

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessEngine]:
    folder: Path = tmp_path_factory.mktemp("engine")
    with ProcessEngine(REFERENCE, folder, seed=3) as engine:
        yield engine


def told(history: History) -> list[tuple[object, ...]]:
    """What was asked and answered, in the order of the asking; times, ids and addresses aside."""
    return [
        (
            op.agent,
            op.f,
            str(op.type),
            op.code,
            op.answer.get("answer"),
            op.answer.get("token"),
            op.answer.get("status"),
            op.answer.get("replay"),
            op.answer.get("state"),
        )
        for op in history.operations()
    ]


def arrived(history: History) -> int:
    return sum(isinstance(event, DeliveryEvent) for event in history)


@pytest.mark.parametrize(
    ("scenario", "variant"), RACES, ids=[f"{one.id}[{two.name}]" for one, two in RACES]
)
def test_a_race_has_the_same_answers_on_both_engines(
    processes: ProcessEngine, scenario: Scenario, variant: Variant
) -> None:
    real = processes.run(scenario, variant, agents=2, rounds=1)
    simulated = SimulationEngine(load_target(REFERENCE), seed=3).run(
        scenario, variant, agents=2, rounds=1
    )
    assert real.problems == simulated.problems == ()
    assert told(simulated.history) == told(real.history)
    assert arrived(simulated.history) == arrived(real.history)
