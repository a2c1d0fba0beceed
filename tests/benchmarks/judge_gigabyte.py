"""`leaserace judge` on a generated log: lines a second, and the peak memory of every process.

Usage::

    python tests/benchmarks/judge_gigabyte.py [BYTES [JOBS [FORM]]]

The log is of a made-up system: four agents, 300,000 contacts, a lease, a send, a delivery and a release
each time, some of them wrong. The same seed gives the same bytes. FORM: ``ends`` (a line a call, when it
is decided), ``calls`` (a line when it begins and one when it ends), ``clocks`` (the same by the agents' own
clocks, with the store's time in each answer).
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


CALLS: dict[str, str | list[str]] = {
    "lease.asked": "acquire.begin",
    "release.asked": "release.begin",
    "mail.asked": "send.begin",
    **MAPPING["events"],
}
FORMS: dict[str, dict[str, Any]] = {
    "ends": MAPPING,
    "calls": MAPPING | {"events": CALLS},
    "clocks": MAPPING
    | {
        "events": CALLS,
        "time": MAPPING["time"] | {"clock": "agent"},
        "fields": MAPPING["fields"] | {"store_time": "store_time"},
    },
}
AHEAD_MS = {"support-01": 1_500, "digest-01": -700}
"""How far their clocks are ahead where agents write by their own."""


def generate(path: Path, size: int, form: str = "ends") -> None:
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
            for row in _turn(at_ms, turn, contact, token, rng.choice(AGENTS), form):
                line = json.dumps(row) + "\n"
                file.write(line)
                written += len(line)


def _turn(  # noqa: PLR0917 - the coordinates of one turn
    at_ms: int, turn: int, contact: int, token: int, agent: str, form: str
) -> list[dict[str, Any]]:
    to = f"user{contact}@customer{contact % 997}.example.com"
    base = {"service": "outreach", "host": f"worker-{turn % 16}", "level": "info"}
    base |= {"trace": f"{turn:032x}", "agent": agent, "to": to}
    mail = {"key": f"run-{turn}:send", "message_id": f"<{turn:016x}@mail.example.com>"}
    used = token - 1 if turn % WRONG_EACH == 0 else token
    told: list[tuple[int, str, dict[str, Any]]] = [
        (0, "lease.granted", {"token": token, "expires": _iso(at_ms + 60_000)}),
        (40, "mail.accepted", {"token": used, **mail, "subject": f"Offer {turn}"}),
        (90, "mail.delivered", {**mail, "smtp": "250 2.0.0 OK"}),
        (120, "lease.released", {"token": token}),
    ]
    if form != "ends":
        told = _with_begins(told)
    ahead_ms = AHEAD_MS.get(agent, 0) if form == "clocks" else 0
    rows = []
    for after_ms, event, more in told:
        row = {"ts": _iso(at_ms + after_ms + ahead_ms), **base, "event": event, **more}
        if form == "clocks" and not event.endswith("asked"):
            row["store_time"] = _iso(at_ms + after_ms - 2)
        rows.append(row)
    return rows


def _with_begins(
    told: list[tuple[int, str, dict[str, Any]]],
) -> list[tuple[int, str, dict[str, Any]]]:
    """The same with a line before each answer, in which the call begins."""
    asked = {"lease.granted": "lease", "mail.accepted": "mail", "lease.released": "release"}
    made = []
    for after_ms, event, more in told:
        if event in asked:
            names = () if event == "lease.granted" else ("token", "key", "subject")
            kept: dict[str, Any] = {name: more[name] for name in names if name in more}
            made.append((after_ms - 5, f"{asked[event]}.asked", kept))
        made.append((after_ms, event, more))
    return made


def _iso(at_ms: int) -> str:
    text = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def main() -> None:
    """Generate, judge, print."""
    size = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**9
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else None
    form = sys.argv[3] if len(sys.argv) > 3 else "ends"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        generate(path, size, form)
        begun, own = time.monotonic(), time.process_time()
        answer = judge_log(path, mapping_from(FORMS[form], "mapping"), jobs=jobs)
        wall_s = time.monotonic() - begun
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = time.process_time() - own + children.ru_utime + children.ru_stime
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = int(answer.outcome.notices[0].split(": ")[1].split()[0].replace(",", ""))
    race = answer.outcome.races[0]
    print(f"{form}: {size:,} bytes, {lines:,} lines: {answer.outcome.verdict}, {race.observed}")
    print(
        f"wall {wall_s:.1f} s, {lines / wall_s:,.0f} lines a second (load {os.getloadavg()[0]:.1f})"
    )
    print(f"processor {cpu_s:.1f} s, {1e6 * cpu_s / lines:.1f} us a line")
    print(
        f"peak memory {peak_mb:.0f} MB here, {children.ru_maxrss / 1024:.0f} MB the largest worker"
    )


if __name__ == "__main__":
    main()
