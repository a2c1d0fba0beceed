"""The matrix on a terminal or in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..terminal import console_for, drawn, plain_box
from .cell import Cell
from .matrix import Matrix
from .names import ALL_ON, ALONE, NO_DRAFT, NONE_ON, THREE_ON, WITHOUT, Layer, Layout

if TYPE_CHECKING:
    from rich.console import Console

SHORT = {
    Layer.TABLE.value: "table",
    Layer.CHECKPOINTS.value: "checkp.",
    NO_DRAFT.name: "no draft",
}
TOGETHER = (NO_DRAFT, THREE_ON, ALL_ON)
_HOLDS = {True: ("holds ", "green"), False: ("FAILS ", "bold red"), None: ("-     ", "dim")}


def table_text(found: Matrix, *, width: int = 100, colour: bool = False) -> str:
    """The matrix, what stopped the rest, and the claims, ready to print.

    Args:
        found: What was measured.
        width: Columns of the terminal.
        colour: Use colours; off in a pipe.
    """
    console = console_for(max(60, width), colour=colour)
    for line in _head(found):
        console.print(line)
    _print(console, found, "one layer alone, then together", (NONE_ON, *ALONE, *TOGETHER))
    _print(console, found, "all layers but one", WITHOUT)
    _print_stopped(console, found)
    console.print()
    for claim in found.claims:
        word, style = _HOLDS[claim.holds]
        console.print(f"{word} {claim.text} ({claim.spec}): {claim.shown}", style=style)
    return drawn(console)


def _head(found: Matrix) -> Iterator[str]:
    yield (
        f"Duplicates per 1,000 logical sends; {found.sends:,} sends a cell, seed {found.seed}. "
        "With each send one thing goes wrong."
    )
    yield (
        "three: key, sent-table and checkpoints; no draft: the same, where checkpoints keep what a send "
        "came to and not what was composed."
    )


def _print(console: Console, found: Matrix, title: str, layouts: Sequence[Layout]) -> None:
    columns = [
        (SHORT.get(name, name), _rate(layout))
        for layout in layouts
        for name in (layout.name.removeprefix("no ") if layout in WITHOUT else layout.name,)
    ]
    if layouts is WITHOUT:
        columns = [(f"no {head}", shown) for head, shown in columns]
    _grid(console, found, title, columns)


def _rate(layout: Layout) -> Callable[[Matrix, str], float]:
    return lambda found, row: found.cell(row, layout.name).per_thousand


def _print_stopped(console: Console, found: Matrix) -> None:
    """Who stopped what with all layers on, and of how many sends nothing arrived."""
    columns = [(SHORT.get(layer.value, layer.value), _stopped(layer)) for layer in Layer]
    columns.append(("no mail", _all(lambda cell: 1000 * cell.missing / cell.sends)))
    title = "all layers on: further tries per 1,000 sends, by the layer that stopped them"
    _grid(console, found, title, columns)


def _stopped(layer: Layer) -> Callable[[Matrix, str], float]:
    return _all(lambda cell: cell.stopped_per_thousand(layer))


def _all(of: Callable[[Cell], float]) -> Callable[[Matrix, str], float]:
    return lambda found, row: of(found.cell(row, ALL_ON.name))


def _grid(
    console: Console,
    found: Matrix,
    title: str,
    columns: Sequence[tuple[str, Callable[[Matrix, str], float]]],
) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=plain_box(), show_edge=False, pad_edge=False)
    grid.padding = (0, 1, 0, 0)
    grid.add_column("habit", no_wrap=True)
    for head, _ in columns:
        grid.add_column(head, justify="right", no_wrap=True)
    for row in found.rows:
        values = [value(found, row.name) for _, value in columns]
        figures = [Text(f"{value:,.0f}", style="" if value else "dim") for value in values]
        grid.add_row(row.name, *figures)
    console.print()
    console.print(title, style="bold")
    console.print(grid)
