"""A schedule gives one trace hash for ever: in new processes, with any hash seed, on every Python.

Interpreters to try beside this one are named in ``LEASERACE_PYTHONS``, separated by colons; each needs
leaserace installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from leaserace.harness.simulation.again import run_schedule
from leaserace.harness.simulation.explore import Explorer, Plan
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.schedule import Schedule
from leaserace.harness.targets import load_target

TWINS = (
    "without_fencing_check",
    "without_atomic_acquire",
    "without_key_before_delivery",
    "without_suppression_at_send",
    "without_renewal_limit",
)
PYTHONS = (sys.executable, *filter(None, os.environ.get("LEASERACE_PYTHONS", "").split(":")))
REPLAY = """
import sys
from leaserace.harness.simulation.again import run_schedule
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.schedule import Schedule
from leaserace.harness.targets import load_target
with Runner(load_target(sys.argv[1])) as runner:
    print(run_schedule(runner, Schedule.from_text(sys.argv[2])).trace_hash())
"""


@pytest.fixture(scope="module", params=TWINS)
def found(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """A twin, a schedule that catches it, and the hash of what happened."""
    name = f"leaserace.reference_impl.broken.{request.param}:target"
    target = load_target(name)
    hit = Explorer(target, Plan(target=name, schedules=5_000, seed=1)).run().hits[0]
    with Runner(target) as runner:
        trace = run_schedule(runner, Schedule.from_text(hit.schedule)).trace_hash()
    return name, hit.schedule, trace


def replayed(python: str, name: str, text: str, hash_seed: int) -> str:
    done = subprocess.run(
        [python, "-c", REPLAY, name, text],
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def hashes(found: tuple[str, str, str], times: int) -> set[str]:
    name, text, _ = found
    jobs = [(PYTHONS[number % len(PYTHONS)], name, text, number * 7919) for number in range(times)]
    with ThreadPoolExecutor(2) as executor:
        return set(executor.map(lambda job: replayed(*job), jobs))


@pytest.mark.process
def test_a_few_replays_in_new_processes_have_one_hash(found: tuple[str, str, str]) -> None:
    assert hashes(found, 2 * len(PYTHONS)) == {found[2]}


@pytest.mark.slow
@pytest.mark.process
def test_a_hundred_replays_in_new_processes_have_one_hash(found: tuple[str, str, str]) -> None:
    assert hashes(found, 100) == {found[2]}
