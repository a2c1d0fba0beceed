"""A sweep as small multiples: a row for each cooldown, a column for each figure, a line for each lease.

The same sweep gives the same bytes, as with the timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from leaserace.harness.sweep.cell import Cell
from leaserace.harness.sweep.knee import CONFLICTS_MAX, Knee
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
_STAR: Any = {"linestyle": "", "marker": "*", "markersize": 9, "color": _INK}
_RING: Any = {
    "linestyle": "",
    "marker": "o",
    "markersize": 13,
    "markerfacecolor": "none",
    "markeredgecolor": _INK,
}
LINEAR_MAX = 20
"""Numbers of agents that span more than this factor stand on a logarithmic axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One column of charts.

    Args:
        title: What it shows, with its unit.
        value: Of a cell.
        is_share: Whether the values are shares of 1.
        measured: The same of a real round, where that can be compared.
        expected: What the model gives for that round's own load.
        ticks: Of a logarithmic axis that is linear from 0 to the second; none for a linear one.
        limit: What the knee's rule allows, drawn as a dotted line; 0 for none.
        offered: What there would be if nothing stood in the way, drawn as a dotted line.
    """

    title: str
    value: Callable[[Cell], float]
    is_share: bool = False
    measured: Callable[[Measured], float] | None = None
    expected: Callable[[Measured], float | None] | None = None
    ticks: tuple[float, ...] = ()
    limit: float = 0.0
    offered: Callable[[Cell], float] | None = None


PANELS = (
    Panel(
        title="Claims refused",
        value=lambda cell: cell.conflict_rate,
        is_share=True,
        measured=lambda each: each.conflict_rate,
        expected=lambda each: each.expected_rate,
        ticks=(0.0, 0.01, 0.03, 0.1, 0.3, 1.0),
        limit=CONFLICTS_MAX,
    ),
    Panel(
        title="Wait once refused, p95 (s)",
        value=lambda cell: cell.refused_wait_s["p95"],
        measured=lambda each: each.refused_wait_p95_s,
        ticks=(0.0, 1.0, 10.0, 60.0, 300.0, 1800.0, 10_800.0),
    ),
    Panel(title="Lease time idle", value=lambda cell: cell.idle_share, is_share=True),
    Panel(title="Replies blocked", value=lambda cell: cell.blocked_share, is_share=True),
    Panel(title="Bursts in the day", value=lambda cell: float(cell.bursts)),
    Panel(
        title="Messages sent an hour",
        value=lambda cell: cell.per_hour,
        offered=lambda cell: cell.tasks / cell.hours,
    ),
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
    figure = Figure(figsize=(16, 1.3 + 2.6 * rows), layout="constrained", facecolor="white")
    axes = figure.subplots(rows, len(PANELS), sharex=True, squeeze=False)
    measured_row = cooldowns.index(NONE) if NONE in cooldowns else 0
    for row, cooldown in enumerate(cooldowns):
        cells = [cell for cell in found.cells if cell.cooldown == cooldown]
        knees = [knee for knee in found.knees if knee.cooldown == cooldown]
        for column, panel in enumerate(PANELS):
            _draw(axes[row][column], panel, cells)
            _knees(axes[row][column], knees, is_said=panel is PANELS[-1])
            if row == measured_row:
                _rounds(axes[row][column], panel, found.measured)
            _dress(axes[row][column], panel, found)
        axes[row][0].set_ylabel(_row_name(cooldown), fontsize=10, fontweight="bold", color=_INK)
    for column, panel in enumerate(PANELS):
        axes[0][column].set_title(panel.title, fontsize=10, color=_INK)
        axes[rows - 1][column].set_xlabel("agents", color=_MUTED)
    _title(figure, found)
    _legend(figure, found)
    return figure


def _row_name(cooldown: str) -> str:
    if cooldown == NONE:
        return "no cooldown"
    return "cooldown by policy" if cooldown == BY_POLICY else f"flat cooldown {cooldown}"


def _leases(cells: Sequence[Cell]) -> list[str]:
    return list(dict.fromkeys(cell.lease for cell in cells))


def _draw(axes: Axes, panel: Panel, cells: Sequence[Cell]) -> None:
    """One line for each lease, the first the widest, so that lines that coincide are all seen."""
    leases = _leases(cells)
    if panel.offered:
        line = [cell for cell in cells if cell.lease == leases[0]]
        offered = [panel.offered(cell) for cell in line]
        axes.plot([cell.agents for cell in line], offered, ":", color=_MUTED, linewidth=1.2)
    if panel.limit:
        axes.axhline(panel.limit, color=_MUTED, linestyle=":", linewidth=1.2)
    for place, lease in enumerate(leases):
        line = [cell for cell in cells if cell.lease == lease]
        size = len(leases) - place
        axes.plot(
            [cell.agents for cell in line],
            [panel.value(cell) for cell in line],
            color=palette.agent_colour(place),
            marker=MARKERS[place % len(MARKERS)],
            markersize=3.0 + 1.8 * size,
            linewidth=0.6 + 1.3 * size,
            zorder=3 + place,
        )


def _knees(axes: Axes, knees: Sequence[Knee], *, is_said: bool) -> None:
    """A dashed line where one more agent stops paying; in the last column it is said as well."""
    for agents in sorted({knee.agents for knee in knees if not knee.is_open and knee.agents}):
        axes.axvline(agents, color=palette.VIOLATION, linestyle="--", linewidth=1.2, zorder=2)
    if is_said:
        said = "\n".join(f"{knee.lease}: {_takes(knee)}" for knee in knees)
        axes.text(
            0.03, 0.97, said, transform=axes.transAxes, va="top", fontsize=8,
            color=palette.VIOLATION, zorder=20,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )  # fmt: skip


def _takes(knee: Knee) -> str:
    if knee.is_open:
        return f"{knee.agents:,} agents or more"
    return f"about {count(knee.agents, 'agent')}" if knee.agents else "fewer than these"


def _rounds(axes: Axes, panel: Panel, measured: Sequence[Measured]) -> None:
    """Real rounds, which run without a cooldown: a star as measured, a ring by the model."""
    if panel.measured is None:
        return
    for each in measured:
        axes.plot([each.agents], [panel.measured(each)], zorder=14, **_STAR)
        expected = panel.expected(each) if panel.expected else None
        if expected is not None:
            axes.plot([each.agents], [expected], zorder=13, **_RING)


def _dress(axes: Axes, panel: Panel, found: Sweep) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter, StrMethodFormatter

    plain = StrMethodFormatter("{x:,.0f}")
    numbers = sorted({cell.agents for cell in found.cells})
    if numbers[-1] > LINEAR_MAX * numbers[0]:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(numbers))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(plain)
    top = max(panel.value(cell) for cell in found.cells)
    if panel.offered:
        top = max(top, *(panel.offered(cell) for cell in found.cells))
    if panel.measured:
        top = max([top, *(panel.measured(each) for each in found.measured)])
    if panel.ticks:
        axes.set_yscale("symlog", linthresh=panel.ticks[1])
        axes.yaxis.set_major_locator(FixedLocator(panel.ticks))
        axes.yaxis.set_minor_locator(NullLocator())
        top = 1.5 * max(top, panel.limit)
    axes.set_ylim(0, 1.12 * top or 1.0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0) if panel.is_share else plain)
    axes.grid(color=_FAINT, linewidth=0.6)
    axes.tick_params(colors=_MUTED, labelsize=8, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FAINT)


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
        Line2D(
            [],
            [],
            color=palette.agent_colour(place),
            marker=MARKERS[place % len(MARKERS)],
            markersize=4.5,
            label=f"lease {lease}",
        )
        for place, lease in enumerate(_leases(found.cells))
    ]
    handles += [
        Line2D([], [], color=palette.VIOLATION, linestyle="--", linewidth=1.2,
               label="knee: one more agent stops paying"),
        Line2D([], [], color=_MUTED, linestyle=":", linewidth=1.2,
               label="limit of the rule; work there is"),
    ]  # fmt: skip
    if found.measured:
        handles += [
            Line2D([], [], label="real contention round", **_STAR),
            Line2D([], [], label="model, for that round's load", **_RING),
        ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9
    )
