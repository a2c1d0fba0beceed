"""The layer matrix as a heat map: a line for each habit, a column for each choice of layers.

The same matrix gives the same bytes, as with the timeline.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from leaserace.harness.layers.matrix import Matrix
from leaserace.harness.layers.names import ALONE, LAYOUTS, WITHOUT

from . import palette
from .timeline import STYLE, image_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _MUTED, _PAPER = "#24292F", "#57606A", "#FFFFFF"
GROUPS = ("", "one layer alone", "together", "all layers but one")
EDGES = (1, 1 + len(ALONE), len(LAYOUTS) - len(WITHOUT))
"""Columns at which the next group begins."""
GAP = 0.25
ABOVE_PT = 42
"""How far above its columns a group's name stands."""
FULL = 1000.0
"""Duplicates per 1,000 from which on the colour is full; it grows with the root, so that few show."""
DARK_FROM = 0.6
"""Share of the scale from which on figures are written in white."""


def layers_image(found: Matrix, *, form: Literal["svg", "png"] = "png") -> bytes:
    """The heat map of a matrix.

    Args:
        found: The matrix.
        form: ``svg`` or ``png``.
    """
    from matplotlib import rc_context

    with rc_context(STYLE | {"savefig.dpi": 100}):
        return image_bytes(_figure(found), form)


def _figure(found: Matrix) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(13, 2.4 + 0.36 * len(found.rows)), layout="constrained", facecolor=_PAPER
    )
    axes = figure.add_subplot()
    _cells(axes, found)
    _names(axes, found)
    figure.suptitle(
        "Which layer stops which duplicate?  Duplicates per 1,000 logical sends, "
        f"{found.sends:,} sends a cell, seed {found.seed}",
        fontsize=11,
        color=_INK,
    )
    return figure


def _x(column: int) -> float:
    """Where a column stands; a gap before each group."""
    return column + GAP * sum(column >= edge for edge in EDGES)


def _cells(axes: Axes, found: Matrix) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    colours = LinearSegmentedColormap.from_list("doubles", [_PAPER, palette.VIOLATION])
    for line, row in enumerate(found.rows):
        for column, layout in enumerate(LAYOUTS):
            rate = found.cell(row.name, layout.name).per_thousand
            share = min(1.0, math.sqrt(rate / FULL))
            axes.add_patch(
                Rectangle(
                    (_x(column), line), 1, 1, facecolor=colours(share), edgecolor="#D0D7DE", lw=0.6
                )
            )
            axes.text(
                _x(column) + 0.5,
                line + 0.5,
                f"{rate:,.0f}",
                ha="center",
                va="center",
                fontsize=8.5,
                color=_PAPER if share > DARK_FROM else (_INK if rate else _MUTED),
            )


def _names(axes: Axes, found: Matrix) -> None:
    axes.set_xlim(0, _x(len(LAYOUTS) - 1) + 1)
    axes.set_ylim(len(found.rows), 0)
    axes.set_xticks([_x(column) + 0.5 for column in range(len(LAYOUTS))])
    axes.set_xticklabels(
        [layout.name.replace(" ", "\n") for layout in LAYOUTS], fontsize=8.5, color=_INK
    )
    axes.xaxis.tick_top()
    axes.set_yticks([line + 0.5 for line in range(len(found.rows))])
    axes.set_yticklabels([row.name for row in found.rows], fontsize=9, color=_INK)
    axes.tick_params(length=0)
    for side in ("left", "right", "top", "bottom"):
        axes.spines[side].set_visible(False)
    begins = (0, *EDGES)
    for begin, end, name in zip(begins, (*EDGES, len(LAYOUTS)), GROUPS, strict=True):
        middle = (_x(begin) + _x(end - 1) + 1) / 2
        axes.annotate(
            name,
            (middle, 0),
            (0, ABOVE_PT),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            fontweight="bold",
            color=_MUTED,
            annotation_clip=False,
        )
