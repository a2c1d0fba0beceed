"""What the articles say of the layers, as assertions over a matrix (spec: O1, O2, O3, K9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .cell import Cell, Row
from .names import ALL_ON, ALONE, NO_DRAFT, THREE_ON, Layer

Cells = Mapping[tuple[str, str], Cell]

BAD_KEYS: Mapping[str, str] = {
    "time-in-key": "the time of the call in the key",
    "uuid-per-call": "a fresh UUID per call",
    "model-writes-key": "the model writes the key",
    "daily-after-window": "a window shorter than the retry",
    "one-key-for-many": "one key over a step with several effects",
}
"""Habits of spec K9, in its words."""
ANEW = frozenset({"time-in-key", "uuid-per-call", "model-writes-key", "rewords-body"})
"""Habits that compose a retry anew."""
GOOD = ("well-behaved", "new-run-id-with-checkpoints")
"""Agents that do nothing wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement.

    Args:
        text: What is said.
        spec: Where.
        holds: Whether it came out so; None if the rows it needs were not measured.
        shown: The figures.
    """

    text: str
    spec: str
    holds: bool | None
    shown: str


def claims_of(rows: Sequence[Row], cells: Cells) -> tuple[Claim, ...]:
    """All claims, judged."""
    names = {row.name for row in rows}
    return tuple(make(rows, names, cells) for make in _CLAIMS)


def _alone(rows: Sequence[Row], names: set[str], cells: Cells) -> Claim:
    text = "no layer alone is enough"
    if not _complete(names):
        return _not_judged(text, "O1")
    worst = {
        layout.name: max(cells[row.name, layout.name].per_thousand for row in _single(rows))
        for layout in ALONE
    }
    return Claim(text=text, spec="O1", holds=all(worst.values()), shown=_figures(worst))


def _bad_keys(_: Sequence[Row], names: set[str], cells: Cells) -> Claim:
    text = "each bad key doubles mail where the key is all there is"
    measured = {
        name: cells[name, Layer.KEY.value].per_thousand for name in BAD_KEYS if name in names
    }
    if not measured:
        return _not_judged(text, "K9")
    return Claim(text=text, spec="K9", holds=all(measured.values()), shown=_figures(measured))


def _three(rows: Sequence[Row], _: set[str], cells: Cells) -> Claim:
    text = "key, sent-table and checkpoints together let nothing through"
    measured = _doubling(_single(rows), cells, THREE_ON.name)
    return Claim(text=text, spec="O1-O3", holds=not measured, shown=_figures(measured) or "0")


def _no_draft(rows: Sequence[Row], names: set[str], cells: Cells) -> Claim:
    text = "the three are not enough where checkpoints keep no draft"
    if not names & ANEW:
        return _not_judged(text, "O1")
    measured = _doubling(_single(rows), cells, NO_DRAFT.name)
    return Claim(text=text, spec="O1", holds=bool(measured), shown=_figures(measured) or "0")


def _good(rows: Sequence[Row], names: set[str], cells: Cells) -> Claim:
    text = "a well-behaved agent doubles nothing with all layers on"
    if not names & set(GOOD):
        return _not_judged(text, "A3")
    measured = _doubling([row for row in rows if row.name in GOOD], cells, ALL_ON.name)
    return Claim(text=text, spec="A3", holds=not measured, shown=_figures(measured) or "0")


def _two(rows: Sequence[Row], _: set[str], cells: Cells) -> Claim:
    text = "two troubles at once can pass all three"
    two = [row for row in rows if row.is_two]
    if not two:
        return _not_judged(text, "O3")
    measured = _doubling(two, cells, THREE_ON.name)
    return Claim(text=text, spec="O3", holds=bool(measured), shown=_figures(measured) or "0")


_CLAIMS: tuple[Callable[[Sequence[Row], set[str], Cells], Claim], ...] = (
    _alone,
    _bad_keys,
    _three,
    _no_draft,
    _good,
    _two,
)


def _complete(names: set[str]) -> bool:
    return names >= {*BAD_KEYS, *GOOD}


def _single(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows in which one thing goes wrong with a send."""
    return (row for row in rows if not row.is_two)


def _doubling(rows: Iterable[Row], cells: Cells, layout: str) -> dict[str, float]:
    """Rows that double mail, with how much."""
    found = {row.name: cells[row.name, layout].per_thousand for row in rows}
    return {name: rate for name, rate in found.items() if rate}


def _not_judged(text: str, spec: str) -> Claim:
    return Claim(text=text, spec=spec, holds=None, shown="not judged: these habits were left out")


def _figures(rates: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())
