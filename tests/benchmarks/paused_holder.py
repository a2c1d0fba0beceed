"""How soon a holder that paused past its lease and then sent is caught, on real processes.

    python -m tests.benchmarks.paused_holder [RUNS]

Each run races the reference without its fencing check: start of the race to the rule's finding, with
everything between (start of the target and two agents, the lease's length, the judge), and the same
less the wait for the lease to end. Exits 1 if one run missed it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import leaserace.scenarios.six  # noqa: F401 - it registers the races
from leaserace.harness.judging import result_of
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import REGISTRY

TARGET = "leaserace.reference_impl.broken.without_fencing_check:target"
RULE = "tokens.stale_never_sends"


def main() -> int:
    """Run them and print the figures."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    scenario = REGISTRY.get("stale_token")
    assert scenario is not None
    variant = scenario.variants[0]
    lease_s = (variant.settings or scenario.settings).lease_s
    caught: list[float] = []
    confirmed_us: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessEngine(TARGET, Path(folder), seed=1) as engine,
    ):
        for _ in range(runs):
            started = time.monotonic()
            run = engine.run(scenario, variant, agents=2)
            result, _ = result_of(run)
            if RULE in {finding.rule for finding in result.findings}:
                caught.append(time.monotonic() - started)
            confirmed_us.append(run.figures["pause_confirmed_us"])
    print(f"caught {len(caught)} of {runs} with a lease of {lease_s:g} s")
    print(
        f"race start to finding: median {statistics.median(caught):.3f} s, worst {max(caught):.3f} s"
    )
    print(
        f"without the wait for the lease: median {statistics.median(caught) - lease_s:.3f} s,"
        f" worst {max(caught) - lease_s:.3f} s"
    )
    print(
        f"SIGSTOP confirmed: median {statistics.median(confirmed_us):.0f} us,"
        f" worst {max(confirmed_us):.0f} us"
    )
    return 0 if len(caught) == runs else 1


if __name__ == "__main__":
    sys.exit(main())
