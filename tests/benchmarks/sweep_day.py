"""One day of many agents in the compact model: python tests/benchmarks/sweep_day.py [AGENTS CONTACTS].

Prints the seconds it took and the most memory the process had; 1,000 agents and 100,000 contacts unless
told otherwise. Nothing is asserted: the figures are for notes and for comparing machines.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

from leaserace.harness.sweep.lengths import PolicyFile, cooldown_of, seconds_of
from leaserace.harness.sweep.plan import Plan, run_cell
from leaserace.harness.sweep.traffic import Traffic


def main() -> None:
    """Run one cell and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", type=int, nargs="?", default=1_000)
    parser.add_argument("contacts", type=int, nargs="?", default=100_000)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--lease", default="60s")
    parser.add_argument("--cooldown", default="by-policy")
    options = parser.parse_args()
    rule = cooldown_of(options.cooldown, PolicyFile())
    lease = (options.lease, seconds_of(options.lease))
    plan = Plan(
        agents=(options.agents,),
        leases=(lease,),
        cooldowns=(rule,),
        traffic=Traffic(contacts=options.contacts, per_hour=options.rate),
        policy=PolicyFile(),
    )
    wall_s, cpu_s = time.monotonic(), time.process_time()
    cell = run_cell(plan, rule, lease, options.agents)
    wall_s, cpu_s = time.monotonic() - wall_s, time.process_time() - cpu_s
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(
        f"{options.agents:,} agents, {options.contacts:,} contacts, {options.rate:g} tasks an hour, "
        f"lease {options.lease}, cooldown {options.cooldown}"
    )
    print(f"  {wall_s:.1f} s wall clock, {cpu_s:.1f} s of one core, {peak_mb:.0f} MB at most")
    print(
        f"  {cell.tasks:,} tasks, {cell.attempts:,} claims, {cell.conflict_rate:.1%} refused, "
        f"{cell.delivered:,} messages sent"
    )


if __name__ == "__main__":
    main()
