"""A million schedules of the reference: no finding, memory flat, the time it took.

Run it by hand::

    python tests/benchmarks/simulation_million.py [SCHEDULES] [SEED]
"""

from __future__ import annotations

import json
import os
import sys
import time

import psutil

from leaserace.harness.simulation.explore import Plan, Statistics
from leaserace.harness.simulation.workers import explore_all

REFERENCE = "leaserace.reference_impl.target:target"
EVERY = 50_000


def main() -> None:
    schedules = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 2026
    process = psutil.Process(os.getpid())
    sizes: list[int] = []
    told: set[str] = set()
    begun = time.perf_counter()

    def show(found: Statistics) -> None:
        for hit in found.hits:
            if hit.schedule not in told:
                told.add(hit.schedule)
                print(f"{hit.rules[0]}: {hit.message}\n  {hit.schedule}", flush=True)
        if found.schedules >= (len(sizes) + 1) * EVERY:
            sizes.append(process.memory_info().rss // 1024)
            cpu_s = time.process_time()
            print(
                f"{found.schedules:>9,} schedules  {found.rate:6,.0f}/s wall  "
                f"{found.schedules / cpu_s:6,.0f}/s cpu  {sizes[-1]:,} KiB  "
                f"{sum(found.by_rule.values())} findings",
                flush=True,
            )

    plan = Plan(target=REFERENCE, schedules=schedules, seed=seed, keep_going=True)
    found = explore_all(plan, on_progress=show)
    result = {
        "schedules": found.schedules,
        "steps": found.steps,
        "twice": found.twice,
        "distinct": found.distinct,
        "findings": sum(found.by_rule.values()),
        "problems": found.problems,
        "seconds": round(time.perf_counter() - begun, 1),
        "cpu_seconds": round(time.process_time(), 1),
        "memory_kib": sizes,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
