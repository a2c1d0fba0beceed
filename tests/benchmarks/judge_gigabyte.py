"""`leaserace judge` on a generated log: lines a second, and the peak memory of every process.

Usage::

    python tests/benchmarks/judge_gigabyte.py [BYTES [JOBS]]

The log is of a made-up system: four agents, 300,000 contacts, a lease, a send, a delivery and a release
each time, some of them wrong. The same seed gives the same bytes.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leaserace.harness.judge.mapping_file import mapping_from
from leaserace.harness.judge.run import judge_log

CONTACTS = 300_000
AGENTS = ("sales-01", "support-01", "digest-01", "billing-01")
START_MS = 1_790_000_000_000
WRONG_EACH = 20_000
"""One turn in so many sends with the token before its own."""

MAPPING: dict[str, Any] = {
    "version": 1,
    "time": {"field": "ts", "format": "iso"},
    "fields": {
        "event": "event",
        "agent": "agent",
        "recipient": "to",
        "token": "token",
        "expires_at": "expires",
        "idempotency_key": "key",
        "message_id": "message_id",
        "subject": "subject",
    },
    "events": {
        "lease.granted": "acquire.ok",
        "lease.released": "release.ok",
        "mail.accepted": "send.ok",
        "mail.delivered": "delivery",
    },
    "settings": {"lease_s": 60.0, "cooldown_s": 0.0},
}


def generate(path: Path, size: int) -> None:
    """Write a log of at least so many bytes."""
    rng = random.Random(7)
    tokens: dict[int, int] = {}
    at_ms, turn, written = START_MS, 0, 0
    with path.open("w", encoding="ascii", buffering=1 << 20) as file:
        while written < size:
            at_ms += rng.randrange(121, 140)
            turn += 1
            contact = rng.randrange(CONTACTS)
            token = tokens[contact] = tokens.get(contact, 1) + 1
            for row in _turn(at_ms, turn, contact, token, rng.choice(AGENTS)):
                line = json.dumps(row) + "\n"
                file.write(line)
                written += len(line)


def _turn(at_ms: int, turn: int, contact: int, token: int, agent: str) -> list[dict[str, Any]]:
    to = f"user{contact}@customer{contact % 997}.example.com"
    base = {"service": "outreach", "host": f"worker-{turn % 16}", "level": "info"}
    base |= {"trace": f"{turn:032x}", "agent": agent, "to": to}
    mail = {"key": f"run-{turn}:send", "message_id": f"<{turn:016x}@mail.example.com>"}
    used = token - 1 if turn % WRONG_EACH == 0 else token
    told = (
        (0, "lease.granted", {"token": token, "expires": _iso(at_ms + 60_000)}),
        (40, "mail.accepted", {"token": used, **mail, "subject": f"Offer {turn}"}),
        (90, "mail.delivered", {**mail, "smtp": "250 2.0.0 OK"}),
        (120, "lease.released", {"token": token}),
    )
    return [
        {"ts": _iso(at_ms + after_ms), **base, "event": event, **more}
        for after_ms, event, more in told
    ]


def _iso(at_ms: int) -> str:
    text = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def main() -> None:
    """Generate, judge, print."""
    size = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**9
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        generate(path, size)
        begun, own = time.monotonic(), time.process_time()
        answer = judge_log(path, mapping_from(MAPPING, "mapping"), jobs=jobs)
        wall_s = time.monotonic() - begun
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = time.process_time() - own + children.ru_utime + children.ru_stime
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = int(answer.outcome.notices[0].split(": ")[1].split()[0].replace(",", ""))
    race = answer.outcome.races[0]
    print(f"{size:,} bytes, {lines:,} lines: {answer.outcome.verdict}, {race.observed}")
    print(
        f"wall {wall_s:.1f} s, {lines / wall_s:,.0f} lines a second (load {os.getloadavg()[0]:.1f})"
    )
    print(f"processor {cpu_s:.1f} s, {1e6 * cpu_s / lines:.1f} us a line")
    print(
        f"peak memory {peak_mb:.0f} MB here, {children.ru_maxrss / 1024:.0f} MB the largest worker"
    )


if __name__ == "__main__":
    main()
