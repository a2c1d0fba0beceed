"""Run the gate on the reference many times in a row and count the verdicts.

    python tests/benchmarks/gates_in_a_row.py            100 gates
    python tests/benchmarks/gates_in_a_row.py 30 --busy  30 gates while every core is kept busy

Prints one line a gate that is not valid, then the counts and the times. Exits 1 if any was not valid.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

GATE_S_MAX = 300


def one_gate(folder: Path, number: int, extra: list[str]) -> tuple[str, float, str]:
    """Verdict, wall-clock seconds and what was wrong."""
    started = time.monotonic()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from leaserace.harness.cli import main; main()",
            "gate",
            "--json",
            "--seed",
            str(number),
            "--report",
            str(folder),
            *extra,
        ],
        capture_output=True,
        text=True,
        timeout=GATE_S_MAX,
        check=False,
    )
    seconds = time.monotonic() - started
    if not done.stdout:
        return f"exit {done.returncode}", seconds, done.stderr.strip()[-400:]
    outcome = json.loads(done.stdout)
    wrong = [
        f"{race['race']}: {race['reason'] or race['findings'][0]['message']}"
        for race in outcome["races"]
        if race["verdict"] in ("invalid", "unknown")
    ]
    return outcome["verdict"], seconds, "; ".join(wrong + list(outcome["notices"]))


def main() -> int:
    """Run them and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gates", type=int, nargs="?", default=100)
    parser.add_argument("--busy", action="store_true", help="keep every core busy meanwhile")
    options, extra = parser.parse_known_args()
    verdicts: Counter[str] = Counter()
    times: list[float] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.busy:
            for _ in range(os.cpu_count() or 1):
                burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                stack.callback(burner.wait)
                stack.callback(burner.kill)
        for number in range(options.gates):
            verdict, seconds, wrong = one_gate(folder, number, extra)
            verdicts[verdict] += 1
            times.append(seconds)
            if verdict != "valid":
                print(f"gate {number}: {verdict}: {wrong}", flush=True)
    print(f"gates {options.gates}, busy {options.busy}: {dict(verdicts)}")
    print(
        f"wall clock s: median {statistics.median(times):.1f}, least {min(times):.1f}, most {max(times):.1f}"
    )
    return 0 if set(verdicts) == {"valid"} else 1


if __name__ == "__main__":
    sys.exit(main())
