"""Small logs for the tests: written line by line, judged by a mapping of a few tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from leaserace.harness.judge.mapping import Mapping
from leaserace.harness.judge.mapping_file import mapping_from
from leaserace.harness.judge.run import Answer, judge_log

T0_MS = 1_796_000_000_000
SAMPLES = Path(__file__).resolve().parents[2] / "samples"

TABLES: dict[str, Any] = {
    "version": 1,
    "time": {"field": "t", "format": "unix_ms"},
    "fields": {
        "event": "e",
        "agent": "who",
        "recipient": "to",
        "token": "token",
        "expires_at": "until",
        "idempotency_key": "key",
        "message_id": "mid",
    },
    "events": {
        "granted": "acquire.ok",
        "denied": "acquire.fail:contact_owned",
        "renewed": "renew.ok",
        "released": "release.ok",
        "sent": "send.ok",
        "replayed": "send.replay",
        "arrived": "delivery",
        "optout": "suppress.ok",
    },
    "settings": {"lease_s": 60.0, "cooldown_s": 0.0},
    "lenient": True,
}


def mapping(**changes: Any) -> Mapping:
    """`TABLES` with some tables changed key by key, or replaced."""
    tables = dict(TABLES)
    for name, value in changes.items():
        old = tables.get(name)
        tables[name] = old | value if isinstance(old, dict) and isinstance(value, dict) else value
    return mapping_from(tables, "mapping.toml")


def row(at_ms: int, event: str, who: str, to: Any = "jane@acme.com", **more: Any) -> dict[str, Any]:
    """One line; times count from `T0_MS`."""
    if event in {"granted", "renewed"}:
        more.setdefault("until", T0_MS + at_ms + 60_000)
    return {"t": T0_MS + at_ms, "e": event, "who": who, "to": to, **more}


def write(path: Path, *rows: dict[str, Any] | str | bytes) -> Path:
    """Write lines: objects as JSON, text and bytes as they are."""
    with path.open("wb") as file:
        for each in rows:
            data = each if isinstance(each, bytes) else None
            if data is None:
                data = (each if isinstance(each, str) else json.dumps(each)).encode()
            file.write(data + b"\n")
    return path


def judged(tmp_path: Path, *rows: dict[str, Any] | str | bytes, **changes: Any) -> Answer:
    """Write a log and judge it."""
    path = write(tmp_path / "log.jsonl", *rows)
    return judge_log(path, mapping(**changes), jobs=1)


def rules(answer: Answer) -> list[str]:
    """Rules that found something."""
    return [finding.rule for race in answer.outcome.races for finding in race.findings]


GOOD = (
    row(0, "granted", "sales-01", token=1),
    row(1_000, "sent", "sales-01", token=1, key="k1", mid="<m1@x>"),
    row(1_500, "arrived", "sales-01", mid="<m1@x>"),
    row(2_000, "released", "sales-01", token=1),
    row(3_000, "granted", "support-01", token=2),
    row(4_000, "sent", "support-01", token=2, key="k2", mid="<m2@x>"),
    row(4_500, "arrived", "support-01", mid="<m2@x>"),
    row(5_000, "released", "support-01", token=2),
    row(200_000, "granted", "sales-01", "omar@example.com", token=1),
)
"""Two agents, one after the other; the log goes on long enough for all mail to have arrived."""
