"""What came of the kills inside sends, counted by where they struck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..contract import SendState
from ..history import AuditEvent, History, MarkEvent
from .campaign import MARK
from .errand import End

HEADS: Mapping[End, tuple[str, ...]] = {
    End.RECORDED: ("was", "recorded"),
    End.SENT: ("had not left,", "sent"),
    End.FOUND: ("unknown,", "found"),
    End.SENT_AFTER: ("unknown,", "sent"),
    End.UNKNOWN: ("still", "unknown"),
    End.LOST: ("no", "answer"),
}
"""Heads of the columns, for people."""
NOTE = "kills: also those of a second try; a send is counted where its sender was killed first"
_IN_DOUBT = {End.RECORDED: End.FOUND, End.SENT: End.SENT_AFTER}


@dataclass(slots=True, kw_only=True)
class Row:
    """Sends whose sender was first killed at one point.

    Args:
        point: Where.
        kills: Kills there, also of a second try.
        ends: How the sends ended.
        duplicates: Messages that arrived beyond the first of a send.
        lost: Sends said to be delivered of which nothing arrived.
    """

    point: str
    kills: int = 0
    ends: Counter[End] = field(default_factory=Counter)
    duplicates: int = 0
    lost: int = 0

    @property
    def sends(self) -> int:
        """How many sends."""
        return self.ends.total()

    def add(self, end: End, arrived: int) -> None:
        """Count one send."""
        self.ends[end] += 1
        self.duplicates += max(0, arrived - 1)
        self.lost += arrived == 0 and end not in (End.UNKNOWN, End.LOST)


def tally(history: History) -> list[Row]:
    """One row a point, in the order of the send path as far as names tell.

    Where there is an audit log it says which sends were ever unknown; an agent that looks a key up
    when the mailbox has settled it already never hears of that.

    Args:
        history: Of a kill campaign.
    """
    doubted = _doubted(history)
    rows: dict[str, Row] = {}
    for event in history:
        if not isinstance(event, MarkEvent) or event.name != MARK:
            continue
        data = event.data
        for point in data["points"]:
            rows.setdefault(point, Row(point=point)).kills += 1
        end = End(data["end"])
        if _compared(data["key"]) in doubted:
            end = _IN_DOUBT.get(end, end)
        rows[data["points"][0]].add(end, data["arrived"])
    return sorted(rows.values(), key=lambda row: _place(row.point))


def total(rows: Iterable[Row]) -> Row:
    """All rows as one."""
    whole = Row(point="all")
    for row in rows:
        whole.kills += row.kills
        whole.ends.update(row.ends)
        whole.duplicates += row.duplicates
        whole.lost += row.lost
    return whole


def figures(rows: Sequence[Row]) -> dict[str, float]:
    """The counts by name, for ``verdict.json``."""
    whole = total(rows)
    named = {
        "kills": whole.kills,
        "sends": whole.sends,
        "duplicates": whole.duplicates,
        "lost": whole.lost,
        **{f"end.{end.name.lower()}": whole.ends[end] for end in HEADS},
        **{f"kills.{row.point}": row.kills for row in rows},
    }
    return {name: float(value) for name, value in named.items()}


def table(rows: Sequence[Row]) -> list[str]:
    """The counts as lines of text, a line a point and one for all."""
    ends = [end for end in HEADS if any(row.ends[end] for row in rows)]
    body = [
        [row.point, *(f"{count:,}" for count in _counts(row, ends))] for row in (*rows, total(rows))
    ]
    above = ["", "", *(HEADS[end][0] for end in ends), "", ""]
    heads = ["killed", "kills", *(HEADS[end][1] for end in ends), "duplicates", "lost"]
    return [*drawn([above, heads, *body]), "", NOTE]


def drawn(grid: Sequence[Sequence[str]]) -> list[str]:
    """Two lines of heads, the rows, and the last one by itself."""
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    lines = [_line(cells, widths) for cells in grid]
    rule = "-" * max(map(len, lines))
    return [*lines[:2], rule, *lines[2:-1], rule, lines[-1]]


def _counts(row: Row, ends: Iterable[End]) -> list[int]:
    return [row.kills, *(row.ends[end] for end in ends), row.duplicates, row.lost]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Names to the left, numbers to the right."""
    numbers = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([cells[0].ljust(widths[0]), *numbers]).rstrip()


def _doubted(history: History) -> set[str]:
    """Keys whose outcome the mailbox did not know for a while."""
    return {
        _compared(event.value["idempotency_key"])
        for event in history
        if isinstance(event, AuditEvent)
        and event.value.get("decision") == SendState.UNKNOWN
        and event.value.get("idempotency_key")
    }


def _compared(key: str) -> str:
    return key.strip().casefold()


_PLACES = ("think", "invoked", "normalised", "key_resolved", "checked", "recorded", "dispatching")
_LAST = ("handed_over", "settled", "returned", "after its answer", "at any instant")


def _place(point: str) -> tuple[int, str]:
    """Our own points in the order a send passes them; a target's own between those of the kit."""
    name = point.removeprefix("send.")
    if name in _PLACES:
        return _PLACES.index(name), point
    if name in _LAST:
        return 100 + _LAST.index(name), point
    return 50, point
