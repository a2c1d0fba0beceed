"""How soon the state machine finds each broken twin: a table.

Run it by hand: ``python tests/benchmarks/fuzz_twins.py``; ``--real`` for real processes. Seconds are
processor time of this process (wall clock with ``--real``), shrinking left out, the fastest machine
being the one nobody else uses.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from leaserace.harness.fuzz.campaign import Budget, Campaign, Case
from leaserace.harness.fuzz.real import RealStand
from leaserace.harness.fuzz.simulated import SimStand
from leaserace.harness.targets import load_target
from leaserace.reference_impl.broken import Twin, twins

SOON_S, AT_MOST_S = 10.0, 60.0


def clock(real: bool) -> float:
    return time.perf_counter() if real else time.process_time()


def stand_for(name: str, real: bool, folder: Path) -> SimStand | RealStand:
    target = load_target(name)
    return RealStand(name, target, run_dir=folder) if real else SimStand(target)


def search(
    name: str, *, real: bool, seed: int, examples: int | None, seconds: float
) -> tuple[Case | None, int, float]:
    """What was found, after how many runs and how many seconds."""
    ends: list[float] = []
    with tempfile.TemporaryDirectory() as folder, stand_for(name, real, Path(folder)) as stand:
        begun = clock(real)
        campaign = Campaign(
            stand,
            Budget(examples=examples, seconds=seconds),
            seed=seed,
            on_progress=lambda _: ends.append(clock(real)),
        )
        result = campaign.run()
    return result.case, result.reached.examples, ends[-1] - begun if ends else 0.0


def row(twin: Twin, case: Case | None, runs: int, seconds: float) -> str:
    if case is None:
        return f"{twin.name:36} {runs:6} {seconds:7.2f}  NOT FOUND"
    found = {finding.rule for finding in case.first.findings}
    named = "" if found & set(twin.caught_by) else " (another rule than its docstring names)"
    rule = case.first.findings[0].rule
    steps = f"{len(case.first.told)}→{len(case.shortest.told)}"
    return f"{twin.name:36} {runs:6} {seconds:7.2f}  {steps:>6}  {rule}{named}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, help="with --real, 20 by default")
    parser.add_argument("names", nargs="*", help="only twins whose names contain one of these")
    asked = parser.parse_args()
    examples = asked.examples or (20 if asked.real else None)
    print(f"{'twin':36} {'runs':>6} {'seconds':>7}  {'steps':>6}  rule")
    times: list[float] = []
    missed = 0
    chosen = [
        twin for twin in twins() if not asked.names or any(n in twin.name for n in asked.names)
    ]
    for twin in chosen:
        case, runs, seconds = search(
            twin.target,
            real=asked.real,
            seed=asked.seed,
            examples=examples,
            seconds=4 * AT_MOST_S,
        )
        print(row(twin, case, runs, seconds), flush=True)
        missed += case is None
        times += [seconds] if case is not None else []
    soon = sum(each <= SOON_S for each in times)
    in_time = sum(each <= AT_MOST_S for each in times)
    print(
        f"\n{len(times)} of {len(chosen)} found; {soon} within {SOON_S:g} s, "
        f"{in_time} within {AT_MOST_S:g} s; median {sorted(times)[len(times) // 2]:.2f} s, "
        f"worst {max(times):.2f} s"
    )
    return 1 if missed and not asked.real else 0


if __name__ == "__main__":
    sys.exit(main())
