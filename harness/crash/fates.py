"""What came of kills inside other calls than sends, counted by call; and which call was hit how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..history import History, MarkEvent
from .campaign import CALL_MARK, CALLS, SEND
from .tally import Row, drawn, total
from .trials import Fate

HEADS = {
    Fate.HELD: ("answered,", "it holds"),
    Fate.DONE: ("no answer,", "was done"),
    Fate.AGAIN: ("no answer,", "done again"),
    Fate.LOST: ("not as", "answered"),
}
"""Heads of the columns, for people."""


@dataclass(slots=True, kw_only=True)
class CallRow:
    """Kills inside one kind of call.

    Args:
        call: The mailbox method.
        fates: What became of the calls.
        points: Where their callers were killed.
    """

    call: str
    fates: Counter[Fate] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)

    @property
    def kills(self) -> int:
        """How many."""
        return self.fates.total()


def tally_calls(history: History) -> list[CallRow]:
    """One row a call, sends aside, in the order in which they are listed.

    Args:
        history: Of a kill campaign.
    """
    rows: dict[str, CallRow] = {}
    for event in history:
        if isinstance(event, MarkEvent) and event.name == CALL_MARK:
            row = rows.setdefault(event.data["call"], CallRow(call=event.data["call"]))
            row.fates[Fate(event.data["fate"])] += 1
            row.points[event.data["point"]] += 1
    return sorted(rows.values(), key=lambda row: CALLS.index(row.call))


def call_table(rows: Sequence[CallRow]) -> list[str]:
    """The counts as lines of text, a line a call and one for all."""
    whole = CallRow(call="all")
    for row in rows:
        whole.fates.update(row.fates)
    body = [
        [row.call, *(f"{count:,}" for count in (row.kills, *(row.fates[fate] for fate in Fate)))]
        for row in (*rows, whole)
    ]
    heads = zip(*(HEADS[fate] for fate in Fate), strict=True)
    above, below = (list(head) for head in heads)
    return drawn([["", "", *above], ["killed in", "kills", *below], *body])


def by_call(sends: Sequence[Row], calls: Sequence[CallRow]) -> str:
    """Which call was hit by how many kills, as one line."""
    counts = {SEND: total(sends).kills} if sends else {}
    counts |= {row.call: row.kills for row in calls}
    named = ", ".join(f"{call} {count:,}" for call, count in counts.items())
    return f"{sum(counts.values()):,} kills: {named}"


def call_figures(rows: Sequence[CallRow]) -> dict[str, float]:
    """The counts by name, for ``verdict.json``."""
    named: Counter[str] = Counter()
    for row in rows:
        named[f"kills.{row.call}"] = row.kills
        for point, count in row.points.items():
            where = point if point.startswith(f"{row.call}.") else f"{row.call} {point}"
            named[f"kills.{where}"] = count
        for fate in Fate:
            named[f"fate.{fate.name.lower()}"] += row.fates[fate]
    return {name: float(value) for name, value in named.items()}
