"""Schedules a second of the reference's real code with all rules on, and times of exhaustive search.

Run it by hand on a quiet machine::

    python tests/benchmarks/simulation_rate.py

Rates are given a second of wall clock and of CPU time, the best of several rounds; what a machine does
beside it shows in the difference.
"""

from __future__ import annotations

import gc
import random
import time
from dataclasses import dataclass

from leaserace.harness.rules import ALL
from leaserace.harness.simulation.driver import Bounds
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.search import KINDS, search
from leaserace.harness.simulation.strategies.uniform import Uniform
from leaserace.harness.simulation.subjects import parse
from leaserace.harness.targets import load_target

REFERENCE = "leaserace.reference_impl.target:target"
ROUNDS, SCHEDULES = 5, 400
SUBJECTS = ("play.sales-1.sales-1", "prog.AS.AS", "prog.ASL.ASL", "prog.ASRL.ASRL")
SEARCHES = (
    ("play.sales-1_0.sales-1_0", 1, 1),
    ("play.sales_0.sales_0", 1, 0),
    ("prog.ASRL_0.ASRL_0", 1, 0),
    ("play.sales-1_0.sales-1_0.sales-1_0", 1, 0),
    ("play.sales-1_0.sales-1_0.sales-1_0", 1, 1),
)


@dataclass(slots=True)
class Rate:
    """Schedules a second."""

    wall: float = 0.0
    cpu: float = 0.0
    steps: float = 0.0


def rate_of(text: str) -> Rate:
    subject, bounds = parse(text), Bounds(faults=1, time_steps=2)
    best = Rate()
    with Runner(load_target(REFERENCE)) as runner:
        chooser = Uniform(random.Random(1))
        for _ in range(ROUNDS):
            gc.collect()
            gc.disable()
            steps = 0
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(SCHEDULES):
                outcome = runner.run(subject, "plain", chooser, bounds, coarse=True)
                assert not outcome.findings
                steps += len(outcome.trail)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            gc.enable()
            best = Rate(
                wall=max(best.wall, SCHEDULES / wall),
                cpu=max(best.cpu, SCHEDULES / cpu),
                steps=steps / SCHEDULES,
            )
    return best


def main() -> None:
    print(f"{len(ALL)} rules")
    for text in SUBJECTS:
        rate = rate_of(text)
        print(
            f"{text:24} {rate.wall:8,.0f}/s wall  {rate.cpu:8,.0f}/s cpu  "
            f"{rate.steps:5.1f} choices a schedule"
        )
    with Runner(load_target(REFERENCE)) as runner:
        for text, faults, deadlines in SEARCHES:
            cpu = time.process_time()
            bounds = Bounds(faults=faults, time_steps=deadlines, kinds=KINDS)
            found = search(runner, parse(text), "plain", bounds, seconds=300)
            print(
                f"{text:36} {faults} fault, {deadlines} deadline: {found.schedules:7,} schedules, "
                f"{found.states:7,} states, exhausted {found.exhausted}, {found.seconds:6.1f} s wall, "
                f"{time.process_time() - cpu:6.1f} s cpu"
            )


if __name__ == "__main__":
    main()
