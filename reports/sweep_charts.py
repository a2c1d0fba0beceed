"""A sweep as small multiples: a row for each cooldown, a column for each figure, a line for each lease.

The same sweep gives the same bytes, as with the timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from leaserace.harness.sweep.cell import Cell
from leaserace.harness.sweep.knee import Knee
from leaserace.harness.sweep.lengths import BY_POLICY, NONE
from leaserace.harness.sweep.measured import Measured
from leaserace.harness.sweep.plan import Sweep

from . import palette
from .text import count, visible
from .timeline import STYLE, image_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _MUTED, _FAINT = "#24292F", "#57606A", "#D0D7DE"
MARKERS = ("o", "s", "^", "D", "v", "P")
ROUND = "#24292F"


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One column of charts.

    Args:
        title: What it shows, with its unit.
        value: Of a cell.
        is_share: Whether the values are shares of 1.
        measured: The same of a real round, where that can be compared.
        expected: What the model gives for that round's own load.
        scale: ``linear`` or ``log``.
    """

    title: str
    value: Callable[[Cell], float]
    is_share: bool = False
    measured: Callable[[Measured], float] | None = None
    expected: Callable[[Measured], float | None] | None = None
    scale: str = "linear"


PANELS = (
    Panel(
        title="Claims refused",
        value=lambda cell: cell.conflict_rate,
        is_share=True,
        measured=lambda each: each.conflict_rate,
        expected=lambda each: each.expected_rate,
    ),
    Panel(
        title="Wait once refused, p95 (s)",
        value=lambda cell: cell.refused_wait_s["p95"],
        measured=lambda each: each.wait_p95_s,
        scale="log",
    ),
    Panel(title="Lease time idle", value=lambda cell: cell.idle_share, is_share=True),
    Panel(title="Replies blocked", value=lambda cell: cell.blocked_share, is_share=True),
    Panel(title="Bursts in the day", value=lambda cell: float(cell.bursts)),
    Panel(title="Messages sent an hour", value=lambda cell: cell.per_hour),
)


def sweep_image(found: Sweep, *, form: Literal["svg", "png"] = "svg") -> bytes:
    """The charts of a sweep.

    Args:
        found: The sweep.
        form: ``svg`` or ``png``.
    """
    from matplotlib import rc_context

    with rc_context(STYLE | {"savefig.dpi": 100}):
        return image_bytes(_figure(found), form)


def _figure(found: Sweep) -> Figure:
    from matplotlib.figure import Figure

    cooldowns = list(dict.fromkeys(cell.cooldown for cell in found.cells))
    rows = len(cooldowns)
    figure = Figure(
        figsize=(16, 1.3 + 2.6 * rows), layout="constrained", facecolor="white"
    )
    axes = figure.subplots(rows, len(PANELS), sharex=True, sharey="col", squeeze=False)
    for row, cooldown in enumerate(cooldowns):
        cells = [cell for cell in found.cells if cell.cooldown == cooldown]
        knees = [knee for knee in found.knees if knee.cooldown == cooldown]
        for column, panel in enumerate(PANELS):
            _draw(axes[row][column], panel, cells, knees)
            _rounds(axes[row][column], panel, found.measured)
            _dress(axes[row][column], panel, found, is_top=row == 0, is_bottom=row == rows - 1)
        axes[row][0].set_ylabel(_row_name(cooldown), fontsize=10, fontweight="bold", color=_INK)
    _title(figure, found)
    _legend(figure, found)
    return figure


def _row_name(cooldown: str) -> str:
    if cooldown == NONE:
        return "no cooldown"
    return "cooldown by policy" if cooldown == BY_POLICY else f"flat cooldown {cooldown}"


def _leases(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.lease for cell in cells))


def _draw(axes: Axes, panel: Panel, cells: Sequence[Cell], knees: Sequence[Knee]) -> None:
    """One line for each lease; a ring marks the knee."""
    for place, lease in enumerate(_leases(cells)):
        line = [cell for cell in cells if cell.lease == lease]
        colour = palette.agent_colour(place)
        axes.plot(
            [cell.agents for cell in line],
            [panel.value(cell) for cell in line],
            color=colour,
            marker=MARKERS[place % len(MARKERS)],
            markersize=4.5,
            linewidth=1.6,
            zorder=3 + place,
        )
        for knee in knees:
            for cell in line:
                if knee.lease == lease and knee.agents == cell.agents and not knee.is_open:
                    axes.plot(
                        [cell.agents], [panel.value(cell)], "o", markersize=12, zorder=12,
                        markerfacecolor="none", markeredgecolor=palette.VIOLATION, markeredgewidth=1.5,
                    )  # fmt: skip


def _rounds(axes: Axes, panel: Panel, measured: Sequence[Measured]) -> None:
    """Real rounds: filled what was measured, hollow what the model gives for the same load."""
    if panel.measured is None:
        return
    for each in measured:
        value = panel.measured(each)
        if panel.scale == "log" and value <= 0:
            continue
        axes.plot([each.agents], [value], "*", markersize=9, color=ROUND, zorder=14)
        expected = panel.expected(each) if panel.expected else None
        if expected is not None:
            axes.plot(
                [each.agents], [expected], "*", markersize=9, zorder=13,
                markerfacecolor="white", markeredgecolor=ROUND,
            )  # fmt: skip


def _dress(axes: Axes, panel: Panel, found: Sweep, *, is_top: bool, is_bottom: bool) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter, StrMethodFormatter

    numbers = sorted({cell.agents for cell in found.cells})
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(numbers))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if panel.scale == "log":
        axes.set_yscale("symlog", linthresh=1.0)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    elif panel.is_share:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    else:
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_ylim(bottom=0)
    axes.grid(color=_FAINT, linewidth=0.6)
    axes.tick_params(colors=_MUTED, labelsize=8, length=2)
    axes.tick_params(axis="y", labelleft=True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FAINT)
    if is_top:
        axes.set_title(panel.title, fontsize=10, color=_INK)
    if is_bottom:
        axes.set_xlabel("agents", color=_MUTED)


def _title(figure: Figure, found: Sweep) -> None:
    traffic = found.plan.traffic
    mailbox = visible(found.plan.exact_target) or "compact model of the reference"
    figure.suptitle(
        f"How many agents can this mailbox take?  {mailbox}, one working day, "
        f"{count(traffic.contacts, 'contact')}, {traffic.per_hour:g} tasks an hour and agent, "
        f"seed {traffic.seed}",
        fontsize=11,
        color=_INK,
    )


def _legend(figure: Figure, found: Sweep) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=palette.agent_colour(place), marker=MARKERS[place % len(MARKERS)],
               markersize=4.5, label=f"lease {lease}")  # fmt: skip
        for place, lease in enumerate(_leases(found.cells))
    ]
    handles.append(
        Line2D([], [], linestyle="", marker="o", markersize=10, markerfacecolor="none",
               markeredgecolor=palette.VIOLATION, markeredgewidth=1.5,
               label="knee: one more agent stops paying")  # fmt: skip
    )
    if found.measured:
        star = {"linestyle": "", "marker": "*", "markersize": 9, "markeredgecolor": ROUND}
        handles += [
            Line2D([], [], markerfacecolor=ROUND, label="real contention round", **star),
            Line2D([], [], markerfacecolor="white", label="model, for that round's load", **star),
        ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9
    )
