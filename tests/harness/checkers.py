"""Small checkers of other people's kinds, which know nothing of leaserace but the files it exports.

- `linearizable`: Wing and Gong's search over the lease model that ``porcupine_model.go`` holds.
- `elle_cycle`: what Elle does for list-append: version orders from the longest reads, edges of reads,
  writes and real time, and a search for a cycle.
- `set_is_whole`, `counter_is_in_bounds`: Jepsen's set and counter.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def linearizable(path: Path) -> bool:
    """Whether each contact's operations can have happened one after the other."""
    parts: dict[str, list[Row]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        parts[row["Input"]["Contact"]].append(row)
    return all(_orders(part) for part in parts.values())


def _orders(rows: list[Row]) -> bool:
    """Wing and Gong: take any operation that may come first, and go on; states met before are left."""
    met: set[Hashable] = set()
    stack: list[tuple[frozenset[int], tuple[int, str]]] = [(frozenset(range(len(rows))), (0, ""))]
    while stack:
        waiting, state = stack.pop()
        if not waiting:
            return True
        if (waiting, state) in met:
            continue
        met.add((waiting, state))
        soonest = min(rows[each]["Return"] for each in waiting)
        for each in waiting:
            row = rows[each]
            if row["Call"] > soonest:
                continue
            legal, after = _step(state, row["Input"], row["Output"])
            if legal:
                stack.append((waiting - {each}, after))
    return False


def _step(
    state: tuple[int, str], asked: Mapping[str, Any], told: Mapping[str, Any]
) -> tuple[bool, tuple[int, str]]:
    """The model: tokens rise with every grant, and only the newest renews, releases and sends."""
    if told["Unknown"] or not told["Ok"]:
        return True, state
    if asked["Op"] == "acquire":
        return told["Token"] > state[0], (told["Token"], asked["Agent"])
    same = (asked["Token"], asked["Agent"]) == state
    return same or (asked["Token"] == 0 and asked["Op"] != "renew"), state


def jepsen_history(path: Path) -> list[Row]:
    """A file's events, with what Jepsen asks of every history asserted."""
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    open_: dict[int, Row] = {}
    retired: set[int] = set()
    for place, row in enumerate(rows):
        assert row["index"] == place
        assert type(row["process"]) is int
        assert type(row["time"]) is int
        process = row["process"]
        if row["type"] == "invoke":
            assert process not in open_
            assert process not in retired
            open_[process] = row
        else:
            assert row["type"] in {"ok", "fail", "info"}
            assert open_.pop(process)["f"] == row["f"]
            if row["type"] == "info":
                retired.add(process)
    return rows


def elle_cycle(path: Path) -> list[int]:
    """Indices of transactions that can't be put into one order, none if they can."""
    rows = jepsen_history(path)
    begun: dict[int, int] = {}
    spans: list[tuple[int, int, list[list[Any]]]] = []
    for row in rows:
        assert row["f"] == "txn"
        if row["type"] == "invoke":
            begun[row["process"]] = row["index"]
        else:
            spans.append((begun.pop(row["process"]), row["index"], row["value"]))
    return _cycle(_edges(spans))


def _edges(spans: list[tuple[int, int, list[list[Any]]]]) -> dict[int, set[int]]:
    """Which transaction must come before which: by what they wrote and read, and by real time."""
    reads: dict[str, list[tuple[int, list[int]]]] = defaultdict(list)
    writer: dict[tuple[str, int], int] = {}
    for place, (_, _, value) in enumerate(spans):
        for kind, key, told in value:
            if kind == "append":
                assert (key, told) not in writer, "elements are unique"
                writer[key, told] = place
            else:
                reads[key].append((place, told))
    after: dict[int, set[int]] = defaultdict(set)
    for key, told_of in reads.items():
        order = max((told for _, told in told_of), key=len)
        for place, told in told_of:
            assert told == order[: len(told)], "reads of one list disagree"
            if told:
                after[writer[key, told[-1]]].add(place)
            if len(told) < len(order):
                after[place].add(writer[key, order[len(told)]])
        for one, two in itertools.pairwise(order):
            after[writer[key, one]].add(writer[key, two])
    for place, (_, end, _) in enumerate(spans):
        after[place] |= {other for other, (begin, _, _) in enumerate(spans) if end < begin}
    return {place: others - {place} for place, others in after.items()}


def _cycle(after: Mapping[int, Iterable[int]]) -> list[int]:
    """A cycle of a graph, or nothing."""
    done: set[int] = set()
    for start in after:
        path, ways = [start], [iter(after.get(start, ()))]
        while path:
            step = next(ways[-1], None)
            if step is None:
                done.add(path.pop())
                ways.pop()
            elif step in path:
                return path[path.index(step) :]
            elif step not in done:
                path.append(step)
                ways.append(iter(after.get(step, ())))
    return []


def set_is_whole(path: Path) -> bool:
    """Jepsen's set: all that was acknowledged is read at the end, and nothing that was never tried."""
    rows = jepsen_history(path)
    tried = {row["value"] for row in rows if row["f"] == "add" and row["type"] == "invoke"}
    done = {row["value"] for row in rows if row["f"] == "add" and row["type"] == "ok"}
    read: set[int] = set(rows[-1]["value"])
    whole: bool = done <= read <= tried
    return whole


def counter_is_in_bounds(path: Path) -> bool:
    """Jepsen's counter: not below what was acknowledged, not above what was tried and not refused."""
    rows = [row for row in jepsen_history(path) if row["f"] == "add"]
    least: int = sum(row["value"] for row in rows if row["type"] == "ok")
    refused: int = sum(row["value"] for row in rows if row["type"] == "fail")
    most: int = sum(row["value"] for row in rows if row["type"] == "invoke") - refused
    value: int = jepsen_history(path)[-1]["value"]
    return least <= value <= most
