"""How long each race takes, slowest last: the ground on which a race is marked ``quick``.

    leaserace gate --all --json | python tests/benchmarks/race_times.py

A quick race waits for no length to end: its rounds take about as long as starting its processes.
"""

from __future__ import annotations

import sys
from collections import defaultdict

from leaserace.harness.commands import load_scenarios
from leaserace.harness.outcome import RunOutcome


def main() -> None:
    """Read a verdict and print a line a race."""
    outcome = RunOutcome.from_json(sys.stdin.read())
    seconds: dict[str, list[float]] = defaultdict(list)
    for race in outcome.races:
        seconds[race.scenario].append(race.figures.get("seconds", 0.0))
    default = {each.id for each in load_scenarios() if each.by_default} | {"contention"}
    print(f"{'race':<28}{'races':>6}{'sum s':>8}{'mean s':>8}{'max s':>8}  by default")
    for name, took in sorted(seconds.items(), key=lambda item: max(item[1])):
        mean = sum(took) / len(took)
        mark = "yes" if name in default else ""
        print(f"{name:<28}{len(took):>6}{sum(took):>8.2f}{mean:>8.2f}{max(took):>8.2f}  {mark}")
    print(f"{outcome.verdict}: {len(outcome.races)} races in {outcome.elapsed_s:.1f} s")


if __name__ == "__main__":
    main()
