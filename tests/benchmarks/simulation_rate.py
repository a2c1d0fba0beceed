"""Schedules a second of the reference's real code with all rules on, where the time goes, and times of
exhaustive search.

Run it by hand on a quiet machine::

    python tests/benchmarks/simulation_rate.py

Rates are given a second of wall clock and of CPU time, the best of several rounds; what a machine does
beside it shows in the difference. Where the time goes is sampled: each sample counts for the innermost
piece of ours that it finds, so that the standard library's work counts for whoever asked for it.
"""

from __future__ import annotations

import gc
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from types import FrameType

from leaserace.harness.rules import ALL
from leaserace.harness.simulation.driver import Bounds
from leaserace.harness.simulation.explore import Explorer, Plan
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.search import KINDS, search
from leaserace.harness.simulation.strategies.uniform import Uniform
from leaserace.harness.simulation.subjects import parse
from leaserace.harness.targets import load_target

REFERENCE = "leaserace.reference_impl.target:target"
ROUNDS, SCHEDULES = 20, 400
SUBJECTS = (
    "prog.A.A",
    "prog.AL.AL",
    "prog.S.S",
    "play.sales-1.sales-1",
    "prog.AS.AS",
    "prog.ASL.ASL",
    "prog.ASRL.ASRL",
)
"""From two agents that claim one contact, to two that claim, send, send again and release."""
MIXED = 6_000
SAMPLE_S = 0.002
PIECES = (
    ("/reference_impl/stores/", "reference: store"),
    ("/reference_impl/", "reference"),
    ("/harness/rules/", "rules"),
    ("/harness/kit.py", "recording of calls"),
    ("/harness/answers.py", "recording of calls"),
    ("/harness/history.py", "recording of calls"),
    ("/harness/simulation/programs.py", "agents"),
    ("/harness/simulation/seat.py", "agents"),
    ("/harness/errand.py", "agents"),
    ("/harness/playbooks.py", "agents"),
    ("/harness/", "scheduler, points, transport"),
)
"""Part of a file's path to what it is; the first that fits."""
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
    """The best of several rounds, warm, without garbage collection inside, as exploring does it."""
    subject, bounds = parse(text), Bounds(faults=1, time_steps=2)
    best = Rate()
    gc.disable()
    with Runner(load_target(REFERENCE)) as runner:
        chooser = Uniform(random.Random(1))
        for _ in range(1 + ROUNDS):
            gc.collect(1)
            steps = 0
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(SCHEDULES):
                outcome = runner.run(subject, "plain", chooser, bounds, coarse=True)
                assert not outcome.findings
                steps += len(outcome.trail)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            best = Rate(
                wall=max(best.wall, SCHEDULES / wall),
                cpu=max(best.cpu, SCHEDULES / cpu),
                steps=steps / SCHEDULES,
            )
    gc.enable()
    return best


def mix_of() -> tuple[float, float, Counter[str]]:
    """The default draws: schedules and choices a second of CPU time, and samples by piece."""
    samples: Counter[str] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        samples[_piece(frame)] += 1

    plan = Plan(target=REFERENCE, schedules=MIXED, seed=1, keep_going=True)
    explorer = Explorer(load_target(REFERENCE), plan)
    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, SAMPLE_S, SAMPLE_S)
    cpu = time.process_time()
    found = explorer.run()
    cpu = time.process_time() - cpu
    signal.setitimer(signal.ITIMER_PROF, 0)
    assert not found.hits
    return found.schedules / cpu, found.steps / cpu, samples


def _piece(frame: FrameType | None) -> str:
    while frame is not None:
        name = frame.f_code.co_filename
        for part, piece in PIECES:
            if part in name:
                return piece
        frame = frame.f_back
    return "else"


def main() -> None:
    print(f"{len(ALL)} rules")
    for text in SUBJECTS:
        rate = rate_of(text)
        print(
            f"{text:24} {rate.wall:8,.0f}/s wall  {rate.cpu:8,.0f}/s cpu  "
            f"{rate.steps:5.1f} choices a schedule"
        )
    schedules, steps, samples = mix_of()
    print(f"{'the default mix':24} {schedules:8,.0f}/s cpu, {steps:,.0f} choices a second")
    for piece, count in samples.most_common():
        print(f"    {count / samples.total():6.1%}  {piece}")
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
