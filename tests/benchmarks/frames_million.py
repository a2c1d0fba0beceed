"""Frames of a million operations: time, and peak memory above that of the imports.

Usage::

    python tests/benchmarks/frames_million.py [OPERATIONS]

The history is a stream that nobody keeps: leases, sends, deliveries, releases and refusals of two agents and
20,000 contacts. Each way to write it runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leaserace.harness.history import AnyEvent, DeliveryEvent, MarkEvent, OpEvent, OpType

WAYS = ("stream alone", "export_csv", "export_parquet", "frames")
CONTACTS = 20_000
START_NS, START_MS = 1_700_000_000 * 10**9, 1_800_000_000_000
TURN_MS = 6


def stream(operations: int) -> Iterator[AnyEvent]:
    """A history of so many operations, four a turn."""
    settings = {"settings": {"lease_s": 60.0}, "capabilities": ["lease", "send"]}
    yield MarkEvent(t=START_NS, race="r", name="race.begin", data=settings | {"agents": ["a", "b"]})
    for turn in range(operations // 4):
        yield from _turn(turn)


def _turn(turn: int) -> Iterator[AnyEvent]:
    at_ms = turn * TURN_MS
    agent, token = ("a", "b")[turn % 2], turn // CONTACTS + 1
    address = f"user{turn % CONTACTS}@example.com"
    lease = {"answer": "Lease", "key": address, "owner": agent, "token": token}
    lease |= {"granted_at_ms": START_MS + at_ms, "expires_at_ms": START_MS + at_ms + 60_000}
    message = {"to": address, "token": token, "key": f"k{turn}", "intent": f"i{turn}"}
    sent = {"answer": "Sent", "message_id": f"<{turn}@x>", "status": 201, "replay": False}
    refused = {"answer": "Refused", "code": "contact_owned", "owner": "b"}
    calls: tuple[tuple[str, OpType, dict[str, Any]], ...] = (
        ("acquire", OpType.OK, lease),
        ("send", OpType.OK, sent),
        ("release", OpType.OK, {"answer": "Released", "key": address, "token": token}),
        ("acquire", OpType.FAIL, refused),
    )
    for place, (f, kind, answer) in enumerate(calls):
        t_ns = START_NS + (at_ms + place) * 1_000_000
        args: dict[str, Any] = {"message": message} if f == "send" else {"address": address}
        op = f"{agent}:{turn}:{place}"
        common: dict[str, Any] = {"race": "r", "agent": agent, "process": f"{agent}#0", "op": op}
        common |= {"f": f, "contact": f"contact-{turn % CONTACTS}"}
        yield OpEvent(t=t_ns, type=OpType.INVOKE, value=args, **common)
        if f == "send":
            yield DeliveryEvent(
                t=t_ns + 200_000,
                race="r",
                intent=f"i{turn}",
                recipient=address,
                message_id=f"<{turn}@x>",
            )
        code = "contact_owned" if kind is OpType.FAIL else None
        yield OpEvent(t=t_ns + 500_000, type=kind, value=answer, code=code, **common)


def measure(way: str, operations: int) -> dict[str, float]:
    """Write the frames one way, in this process."""
    import pandas as pd  # noqa: F401 - counted as imports, not as frames
    import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401

    from leaserace.reports import frames

    base_mb = _peak_mb()
    begun_s, own_s = time.monotonic(), time.process_time()
    events = stream(operations)
    with tempfile.TemporaryDirectory() as folder:
        if way == "stream alone":
            for _ in events:
                pass
        elif way == "frames":
            frames.frames(events)
        else:
            getattr(frames, way)(events, Path(folder))
    return {
        "wall_s": time.monotonic() - begun_s,
        "cpu_s": time.process_time() - own_s,
        "base_mb": base_mb,
        "above_mb": _peak_mb() - base_mb,
    }


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure each way, print a line each."""
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[1]))))
        return
    operations = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    print(f"{operations:,} operations (load {os.getloadavg()[0]:.1f})")
    for way in WAYS:
        command = [sys.executable, __file__, str(operations), way]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        print(
            f"{way:15} {told['wall_s']:6.1f} s, processor {told['cpu_s']:6.1f} s, peak memory "
            f"{told['above_mb']:4.0f} MB above {told['base_mb']:.0f} MB"
        )


if __name__ == "__main__":
    main()
