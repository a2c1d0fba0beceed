"""What the fuzzer's tests share."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import HealthCheck, settings

from leaserace.harness.contract import Target
from leaserace.harness.fuzz.simulated import SimStand
from leaserace.harness.fuzz.stands import Played, play
from leaserace.harness.fuzz.steps import Plan, Shape, Step
from leaserace.harness.targets import load_target

REFERENCE = "leaserace.reference_impl.target:target"

EXPLICIT = settings(
    max_examples=100,
    database=None,
    deadline=None,
    derandomize=False,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)
"""Under CI Hypothesis would load a profile of its own."""


def twin(safeguard: str) -> str:
    return f"leaserace.reference_impl.broken.without_{safeguard}:target"


def plan_of(text: str, shape: Shape | None = None) -> Plan:
    steps = tuple(Step.from_text(each) for each in text.split(","))
    return Plan(shape=shape or Shape(), steps=steps)


def played(text: str, target: str | Target = REFERENCE, shape: Shape | None = None) -> Played:
    found = load_target(target) if isinstance(target, str) else target
    with SimStand(found) as stand:
        return play(stand, plan_of(text, shape))


def answers(run: Played) -> list[str]:
    """Code or kind of each step's answer, "" where there is none."""
    return [
        "" if told.answer is None else getattr(told.answer, "code", type(told.answer).__name__)
        for told in run.told
    ]


def rules(run: Played) -> set[str]:
    return {finding.rule for finding in run.findings}


def texts(steps: Iterable[Step]) -> list[str]:
    return [step.to_text() for step in steps]
