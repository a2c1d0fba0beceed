"""The whole matrix: every row under every layout, and its files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ..habits import HABITS
from .cell import AT_ONCE, Cell, Row, measure
from .claims import Claim, claims_of
from .names import LAYOUTS, Layer
from .parts import Parts
from .run import bench

VERSION = 1
Tell = Callable[[str, float], None]
"""Told what is under way and the share that is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """All cells, and what they show.

    Args:
        sends: Logical sends a cell.
        seed: Of every draw.
        rows: Who sent.
        cells: By row and layout, by their names.
        claims: What the articles say, and whether it came out so.
    """

    sends: int
    seed: int
    rows: Sequence[Row]
    cells: Mapping[tuple[str, str], Cell]
    claims: Sequence[Claim]

    def cell(self, row: str, layout: str) -> Cell:
        """The cell of this row and layout."""
        return self.cells[row, layout]


def measured(
    parts: Parts, rows: Sequence[Row], *, sends: int, seed: int, tell: Tell = lambda *_: None
) -> Matrix:
    """Measure every row under every layout.

    Args:
        parts: What is measured.
        rows: Who sends.
        sends: Logical sends a cell.
        seed: Of every draw.
        tell: Hears how far it is.
    """
    cells: dict[tuple[str, str], Cell] = {}
    for layout in LAYOUTS:
        with bench(parts, layout) as open_bench:
            for row in rows:
                tell(layout.name, len(cells) / (len(LAYOUTS) * len(rows)))
                cell = measure(open_bench, row, layout, sends=sends, seed=seed)
                cells[row.name, layout.name] = cell
    claims = claims_of(rows, cells)
    return Matrix(sends=sends, seed=seed, rows=rows, cells=cells, claims=claims)


def to_dict(found: Matrix) -> dict[str, Any]:
    """The matrix as plain values, for JSON."""
    return {
        "version": VERSION,
        "sends": found.sends,
        "seed": found.seed,
        "layouts": [
            {"name": each.name, "on": _on(each.on), "keeps_drafts": each.keeps_drafts}
            for each in LAYOUTS
        ],
        "rows": [_row(row) for row in found.rows],
        "cells": [
            _cell(found.cells[row.name, each.name]) for row in found.rows for each in LAYOUTS
        ],
        "claims": [msgspec.to_builtins(claim) for claim in found.claims],
    }


def to_json(found: Matrix) -> bytes:
    """The same as indented JSON, the same bytes each time."""
    return msgspec.json.format(msgspec.json.encode(to_dict(found)), indent=2) + b"\n"


def to_csv(found: Matrix) -> str:
    """One line a cell."""
    lines = []
    for cell in to_dict(found)["cells"]:
        on, stopped = set(cell.pop("on")), cell.pop("stopped")
        del cell["by_trouble"]
        line = {"row": cell.pop("row"), "layout": cell.pop("layout")}
        line |= {f"{layer}_on".replace("-", "_"): int(layer in on) for layer in Layer}
        line |= cell | {"keeps_drafts": int(cell["keeps_drafts"])}
        line |= {f"stopped_by_{layer}".replace("-", "_"): stopped.get(layer, 0) for layer in Layer}
        lines.append(line)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _on(layers: frozenset[Layer]) -> list[str]:
    return [layer.value for layer in Layer if layer in layers]


def _row(row: Row) -> dict[str, Any]:
    summary = HABITS[row.habit].summary
    more = f", and something else goes wrong as well ({AT_ONCE.strip()})" if row.is_two else ""
    return {
        "name": row.name,
        "habit": row.habit,
        "summary": summary + more,
        "trouble": [kind.value for kind in row.kinds],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "row": cell.row.name,
        "layout": cell.layout.name,
        "on": _on(cell.layout.on),
        "keeps_drafts": cell.layout.keeps_drafts,
        "sends": cell.sends,
        "deliveries": cell.deliveries,
        "duplicates": cell.duplicates,
        "duplicates_per_1000": round(cell.per_thousand, 3),
        "missing": cell.missing,
        "stopped": {layer.value: count for layer, count in cell.stopped.items()},
        "by_trouble": {kind.value: count for kind, count in cell.by_kind.items()},
    }
