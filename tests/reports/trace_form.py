"""The rules of the Trace Event form that viewers hold a file to, as a check of its bytes."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

PHASES = frozenset("MXbei")
ARGUMENTS = {
    "process_name": {"name": str},
    "thread_name": {"name": str},
    "process_sort_index": {"sort_index": int},
    "thread_sort_index": {"sort_index": int},
}
"""Metadata events to the arguments they must have."""


def check(data: bytes) -> list[dict[str, Any]]:
    """Assert that a trace keeps the form; returns its events."""
    told = json.loads(data, parse_constant=_no_constant)
    assert set(told) == {"displayTimeUnit", "traceEvents"}
    assert told["displayTimeUnit"] in {"ms", "ns"}
    events: list[dict[str, Any]] = told["traceEvents"]
    for event in events:
        _fields(event)
    _ids(events)
    _nesting(events)
    _spans(events)
    return events


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def _fields(event: dict[str, Any]) -> None:
    """What every event of its phase must carry."""
    phase = event["ph"]
    assert phase in PHASES
    assert isinstance(event["name"], str)
    assert event["name"]
    for name in ("pid", "tid"):
        assert type(event[name]) is int
        assert 0 < event[name] < 1 << 31
    assert isinstance(event.get("args", {}), dict)
    if phase == "M":
        wanted = ARGUMENTS[event["name"]]
        assert {name: type(value) for name, value in event["args"].items()} == wanted
        return
    assert type(event["ts"]) in {int, float}
    assert event["ts"] >= 0
    if phase == "X":
        assert type(event["dur"]) in {int, float}
        assert event["dur"] >= 0
    if phase in "be":
        assert isinstance(event["id"], str)
        assert event["id"]
        assert event["cat"]
    if phase == "i":
        assert event["s"] in {"g", "p", "t"}
    assert "," not in event.get("cat", ""), "a comma parts categories"


def _ids(events: list[dict[str, Any]]) -> None:
    """A thread belongs to one process, is none itself, and has a name; so has each process."""
    owners: dict[int, set[int]] = defaultdict(set)
    for event in events:
        owners[event["tid"]].add(event["pid"])
    assert all(len(pids) == 1 for pids in owners.values())
    assert not owners.keys() & {event["pid"] for event in events}
    named = [event["tid"] for event in events if event["name"] == "thread_name"]
    assert len(named) == len(set(named))
    assert {event["tid"] for event in events} == set(named)
    processes = [event["pid"] for event in events if event["name"] == "process_name"]
    assert sorted(processes) == sorted({event["pid"] for event in events})


def _nesting(events: list[dict[str, Any]]) -> None:
    """Complete events of one thread lie inside one another or apart; never do they half overlap."""
    lanes: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            lanes[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in lanes.values():
        open_ends: list[float] = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


def _spans(events: list[dict[str, Any]]) -> None:
    """Each async span begins once and ends once, later, under one name."""
    spans: dict[tuple[int, str, str], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        if event["ph"] in "be":
            spans[event["pid"], event["cat"], event["id"]].append(event)
    for begin, *rest in spans.values():
        (end,) = rest
        assert (begin["ph"], end["ph"]) == ("b", "e")
        assert begin["name"] == end["name"]
        assert begin["ts"] <= end["ts"]
