"""Contention charts: who waited for whom, where and for how long.

They read the frames of `leaserace.reports.frames`; rounds made to contend are drawn alone where there
are any, so that races moved by hand do not blur them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from leaserace.harness.contract import Code

from . import palette
from .frames import Frames
from .text import count, short, visible
from .timeline import STYLE, image_bytes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONTENTION = "contention"
CONTACTS_MAX = 24
BINS = 40
STEPS = 200
"""Steps of a curve; more would not be seen."""
ESCALATE_AFTER = 3
"""The same conflict so often in a row goes to a person (spec: R2)."""
INK = "#24292F"
_QUANTILES = (0.5, 0.95, 0.99)


def charts(frames: Frames, *, form: Literal["svg", "png"] = "svg") -> dict[str, bytes]:
    """All charts that have something to show, by name, in a fixed order.

    Args:
        frames: A run's frames.
        form: ``svg`` or ``png``.
    """
    from matplotlib import rc_context

    made: dict[str, bytes] = {}
    with rc_context(STYLE):
        for name, make in _CHARTS.items():
            figure = make(frames)
            if figure is not None:
                made[name] = image_bytes(figure, form)
    return made


def _contended(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of contention rounds if there are any, else all."""
    mine = frame["race"].str.startswith(CONTENTION)
    return frame[mine] if bool(mine.any()) else frame


def conflicts_of(frames: Frames) -> pd.DataFrame:
    """Refused acquires of contended rounds."""
    refusals = _contended(frames.refusals)
    return refusals[(refusals["code"] == Code.CONTACT_OWNED.value) & (refusals["f"] == "acquire")]


def _figure(height: float, width: float = 7.0) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(INK)
    axes.tick_params(colors=INK, labelsize=8)
    return figure, axes


def _titled(axes: Axes, title: str, *, x: str = "", y: str = "") -> None:
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(x, fontsize=8, color=INK)
    axes.set_ylabel(y, fontsize=8, color=INK)


def conflicts_chart(frames: Frames) -> Figure | None:
    """Refused claims by contact and time, as a heat map."""
    import numpy as np

    conflicts = conflicts_of(frames)
    if conflicts.empty:
        return None
    label = conflicts["race"] + "  " + conflicts["contact"]
    busiest = label.value_counts(sort=False).sort_values(ascending=False, kind="stable")
    names = list(busiest.index[:CONTACTS_MAX])
    shown = conflicts[label.isin(names)]
    low, high = float(shown["t_ms"].min()), float(shown["t_ms"].max())
    edges = np.linspace(low, max(high, low + 1e-6), BINS + 1)
    grid = np.zeros((len(names), BINS))
    for row, name in enumerate(names):
        grid[row] = np.histogram(shown.loc[label == name, "t_ms"], bins=edges)[0]
    figure, axes = _figure(1.1 + 0.24 * len(names))
    extent = (0.0, float(edges[-1] - low), len(names) - 0.5, -0.5)
    image = axes.imshow(grid, aspect="auto", cmap="YlOrRd", extent=extent, interpolation="nearest")
    axes.set_yticks(range(len(names)), [short(name, 40) for name in names])
    bar = figure.colorbar(image, ax=axes, pad=0.01)
    bar.ax.tick_params(colors=INK, labelsize=7)
    more = len(busiest) - len(names)
    note = f" ({count(more, 'quieter contact')} not shown)" if more else ""
    _titled(axes, f"Refused claims by contact and time{note}", x="milliseconds since the first")
    return figure


def waits_chart(frames: Frames) -> Figure | None:
    """How long agents waited for a contact and held it: the share of grants within a time."""
    leases = _contended(frames.leases)
    if leases.empty:
        return None
    figure, axes = _figure(2.9)
    series = (("waited_ms", "waited", palette.AGENTS[1]), ("held_ms", "held", palette.AGENTS[0]))
    for column, name, colour in series:
        ordered = leases[column].clip(lower=1e-3)
        shares = [place / STEPS for place in range(STEPS + 1)]
        values = ordered.quantile(shares, interpolation="lower").to_numpy()
        quantiles = ", ".join(
            f"p{share * 100:.0f} {leases[column].quantile(share):.1f} ms" for share in _QUANTILES
        )
        axes.step(values, shares, where="post", color=colour, lw=1.8, label=f"{name}: {quantiles}")
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.grid(color=palette.PAUSE, alpha=0.25, lw=0.6)
    axes.legend(fontsize=8, frameon=False, labelcolor=INK, loc="lower right")
    title = f"Wait and hold time of {count(len(leases), 'grant')}"
    _titled(axes, title, x="milliseconds", y="share of grants")
    return figure


def shares_chart(frames: Frames) -> Figure | None:
    """Grants by agent: whether one starves."""
    leases = _contended(frames.leases)
    operations = _contended(frames.operations)
    agents = list(dict.fromkeys(operations["agent"]))
    if leases.empty or len(agents) < 2:
        return None
    grants = leases["agent"].value_counts(sort=False).reindex(agents, fill_value=0)
    figure, axes = _figure(0.9 + 0.32 * len(agents))
    colours = [palette.agent_colour(place) for place in range(len(agents))]
    axes.barh(range(len(agents)), grants.astype(int).to_numpy(), color=colours)
    for place, value in enumerate(grants):
        axes.text(int(value), place, f" {int(value):,}", va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(agents)), [short(agent, 30) for agent in agents])
    axes.invert_yaxis()
    share = int(grants.min()) / max(int(grants.max()), 1)
    _titled(axes, f"Grants by agent: the slowest has {share:.0%} of the fastest's", x="grants")
    return figure


def blocks_chart(frames: Frames) -> Figure | None:
    """Who blocks whom: refused claims by who asked and who held."""
    import pandas as pd

    conflicts = conflicts_of(frames)
    conflicts = conflicts[conflicts["owner"].notna()]
    if conflicts.empty:
        return None
    table = pd.crosstab(conflicts["agent"], conflicts["owner"])
    figure, axes = _figure(1.4 + 0.32 * len(table.index))
    axes.imshow(table.to_numpy(), aspect="auto", cmap="Oranges", vmin=0)
    axes.set_xticks(range(len(table.columns)), [short(name, 18) for name in table.columns])
    axes.set_yticks(range(len(table.index)), [short(name, 18) for name in table.index])
    half = float(table.to_numpy().max()) / 2
    for row in range(len(table.index)):
        for column in range(len(table.columns)):
            value = int(table.iat[row, column])  # type: ignore[arg-type]
            ink = "white" if value > half * 1.4 else "#1f2328"
            axes.text(column, row, f"{value:,}", ha="center", va="center", fontsize=8, color=ink)
    _titled(axes, "Who blocks whom", x="held the contact", y="was refused")
    return figure


_CHARTS: Mapping[str, Callable[[Frames], Any]] = {
    "conflicts": conflicts_chart,
    "waits": waits_chart,
    "shares": shares_chart,
    "blocks": blocks_chart,
}


def to_a_person(frames: Frames, *, after: int = ESCALATE_AFTER, limit: int = 20) -> list[str]:
    """Conflicts repeated so often in a row that a person should hear of them (spec: R2).

    Args:
        frames: A run's frames.
        after: How often in a row.
        limit: Longest list; what is left out is counted in a last line.

    Returns:
        One sentence each, the worst first.
    """
    refusals = frames.refusals
    worst = (
        refusals[refusals["repeat"] >= after]
        .groupby(["agent", "contact", "race", "code"], sort=True)["repeat"]
        .max()
        .sort_values(ascending=False, kind="stable")
    )
    sentences = list(_sentences(worst.items(), limit))
    if len(worst) > limit:
        sentences.append(f"and {len(worst) - limit:,} more")
    return sentences


def _sentences(worst: Iterable[tuple[Any, Any]], limit: int) -> Iterable[str]:
    for place, ((agent, contact, race, code), times) in enumerate(worst):
        if place < limit:
            yield (
                f"{visible(agent)} was told {visible(code)} {int(times)} times in a row "
                f"for {visible(contact)} in {visible(race)}"
            )
