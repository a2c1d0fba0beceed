"""Contention charts as SVG written by hand: who waited for whom, where and for how long.

They need neither pandas nor matplotlib, so that each gate can draw them; colours are the page's where
there is one, and fixed ones where a chart stands alone. Rounds made to contend are drawn alone where
there are any, so that races moved by hand do not blur them.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaserace.harness.contract import Code

from .picture import Picture
from .text import count, short
from .waits import refusals, waits_ns

CONTENTION = "contention"
CONTACTS_MAX = 20
BINS = 48
GRANTS_MIN = 10
"""Fewer grants of a race say nothing about who starves."""
STEPS = 200
"""Steps of a curve; more would not be seen."""
WIDTH = 640
_QUANTILES = (0.5, 0.95, 0.99)
_AGENTS = (
    "#0072b2",
    "#a35f00",
    "#00805f",
    "#a8508f",
    "#2672ab",
    "#766800",
    "#6a50b4",
    "#51656f",
)
_INK = "var(--ink,#1f2328)"
_MUTED = "var(--muted,#57606a)"
_LINE = "var(--line,#d5dbe1)"
_HEAT = "var(--no,#b3460b)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """One refused claim: who asked, who held, for whom, when."""

    race: str
    contact: str
    agent: str
    owner: str
    t_ns: int


def charts(races: Mapping[str, Picture]) -> dict[str, str]:
    """All charts that have something to show, by name, in a fixed order, as SVG text.

    Args:
        races: Race name to its picture.
    """
    mine = {name: each for name, each in races.items() if name.startswith(CONTENTION)} or races
    made = {name: make(mine) for name, make in _CHARTS.items()}
    return {name: svg for name, svg in made.items() if svg}


def conflicts_of(races: Mapping[str, Picture]) -> list[Conflict]:
    """Refused claims, race by race."""
    return [
        Conflict(
            race=race,
            contact=op.contact,
            agent=op.agent,
            owner=str(op.answer.get("owner") or ""),
            t_ns=op.completed_ns or op.invoked_ns,
        )
        for race, picture in races.items()
        for op, _ in refusals(picture.operations)
        if op.f == "acquire" and op.code == Code.CONTACT_OWNED
    ]


def conflicts_chart(races: Mapping[str, Picture]) -> str:
    """Refused claims by contact and time, as a heat map; each race has its own zero."""
    conflicts = conflicts_of(races)
    if not conflicts:
        return ""
    names = Counter((each.race, each.contact) for each in conflicts)
    rows = [name for name, _ in sorted(names.items(), key=lambda item: (-item[1], item[0]))]
    shown = rows[:CONTACTS_MAX]
    zero_ns = {race: picture.begin_ns for race, picture in races.items()}
    whole_ns = max(picture.end_ns - picture.begin_ns for picture in races.values()) + 1
    cells: Counter[tuple[int, int]] = Counter()
    places = {name: place for place, name in enumerate(shown)}
    for each in conflicts:
        place = places.get((each.race, each.contact))
        if place is not None:
            cells[place, (each.t_ns - zero_ns[each.race]) * BINS // whole_ns] += 1
    most, left, wide = max(cells.values()), 190, (WIDTH - 200) / BINS
    body = [
        _text(left - 8, 52 + 20 * row, short(f"{contact} {race}", 28), anchor="end")
        for row, (race, contact) in enumerate(shown)
    ]
    body += [
        _rect(left + wide * column, 40 + 20 * row, wide, 18, _HEAT, 0.12 + 0.88 * value / most)
        for (row, column), value in sorted(cells.items())
    ]
    bottom = 40 + 20 * len(shown)
    body += _ms_axis(left, WIDTH - 10, bottom, whole_ns)
    hidden = len(rows) - len(shown)
    note = f", {count(hidden, 'quieter contact')} not shown" if hidden else ""
    title = f"Refused claims by contact and time (darkest: {most}{note})"
    return _svg(title, bottom + 36, body)


def waits_chart(races: Mapping[str, Picture]) -> str:
    """How long agents waited for a contact and held it: the share of grants within a time."""
    waited = [ns for each in races.values() for _, ns in waits_ns(each.operations)]
    held = [span.end_ns - span.begin_ns for each in races.values() for span in each.leases]
    if not waited or not held:
        return ""
    low = math.floor(math.log10(max(min(*waited, *held), 1_000)))
    high = math.ceil(math.log10(max(*waited, *held, 10_000)))
    left, right, top, bottom = 46, WIDTH - 24, 64, 244

    def x(ns: float) -> float:
        share = (math.log10(max(ns, 10**low)) - low) / max(high - low, 1)
        return left + share * (right - left)

    def y(share: float) -> float:
        return bottom - share * (bottom - top)

    body = []
    for power in range(low, high + 1):
        body += _tick(x(10**power), top, bottom, f"{10**power / 1e6:g}")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        body.append(_line(left, y(share), right, y(share)))
        body.append(_text(left - 6, y(share) + 4, f"{share:.0%}", anchor="end"))
    for place, (name, values) in enumerate((("waited", waited), ("held", held))):
        colour = _agent(1 - place)
        body.append(_curve([(x(ns), y(share)) for ns, share in _steps(values)], colour))
        body.append(_text(left + 4 + 290 * place, 46, f"{name}: {_quantiles(values)}", fill=colour))
    body.append(_text((left + right) / 2, bottom + 34, "milliseconds", anchor="middle"))
    return _svg(f"Wait and hold time of {count(len(held), 'grant')}", bottom + 44, body)


def _steps(values: Iterable[int]) -> list[tuple[float, float]]:
    """Points of the share of values up to each, at most a few hundred."""
    ordered = sorted(values)
    ranks = sorted({max(1, round(len(ordered) * step / STEPS)) for step in range(1, STEPS + 1)})
    points, before = [(float(ordered[0]), 0.0)], 0.0
    for rank in ranks:
        value, share = float(ordered[rank - 1]), rank / len(ordered)
        points += [(value, before), (value, share)]
        before = share
    return points


def _quantiles(values: Sequence[int]) -> str:
    ordered = sorted(values)
    at = (min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1) for share in _QUANTILES)
    pairs = zip(_QUANTILES, at, strict=True)
    return ", ".join(f"p{share * 100:.0f} {ordered[place] / 1e6:,.1f}" for share, place in pairs)


def shares_chart(races: Mapping[str, Picture]) -> str:
    """Grants by agent where most of them took part: whether one starves."""
    crowded = max(races.values(), key=lambda picture: len(picture.agents), default=None)
    if crowded is None or len(crowded.agents) < 2 or len(crowded.leases) < GRANTS_MIN:
        return ""
    grants = Counter(dict.fromkeys(crowded.agents, 0))
    grants.update(span.agent for span in crowded.leases)
    most, body = max(grants.values()), []
    for place, (agent, value) in enumerate(grants.items()):
        y = 40 + 26 * place
        body.append(_text(122, y + 14, short(agent, 18), anchor="end"))
        body.append(_rect(130, y, (WIDTH - 200) * value / most, 20, _agent(place), 1.0))
        body.append(_text(136 + (WIDTH - 200) * value / most, y + 14, f"{value:,}"))
    share = min(grants.values()) / most
    title = f"Grants by agent of {len(grants)}: the slowest has {share:.0%} of the fastest's"
    return _svg(title, 52 + 26 * len(grants), body)


def blocks_chart(races: Mapping[str, Picture]) -> str:
    """Who blocks whom: refused claims by who asked and who held."""
    pairs = Counter((each.agent, each.owner) for each in conflicts_of(races) if each.owner)
    if not pairs:
        return ""
    asked = sorted({agent for agent, _ in pairs})
    held = sorted({owner for _, owner in pairs})
    most, left = max(pairs.values()), 130
    wide = min(110.0, (WIDTH - left - 10) / len(held))
    body = [_text(left - 8, 54, "refused / held by", anchor="end")]
    for column, owner in enumerate(held):
        name = short(owner, max(4, int(wide / 7)))
        body.append(_text(left + wide * (column + 0.5), 54, name, anchor="middle"))
    for row, agent in enumerate(asked):
        y = 64 + 28 * row
        body.append(_text(left - 8, y + 18, short(agent, 18), anchor="end"))
        for column, owner in enumerate(held):
            value, x = pairs[agent, owner], left + wide * column
            body.append(_rect(x + 1, y, wide - 2, 26, _HEAT, 0.06 + 0.5 * value / most))
            body.append(_text(x + wide / 2, y + 17, f"{value:,}", anchor="middle", fill=_INK))
    return _svg("Who blocks whom: refused claims", 76 + 28 * len(asked), body)


def _ms_axis(left: float, right: float, y: float, whole_ns: int) -> list[str]:
    """Ticks at round milliseconds below a chart."""
    step = 10 ** math.floor(math.log10(max(whole_ns / 1e6, 1e-3)))
    step = step / 2 if whole_ns / 1e6 / step < 3 else step
    body = []
    for number in range(int(whole_ns / 1e6 / step) + 1):
        x = left + (right - left) * number * step * 1e6 / whole_ns
        body.append(_line(x, y, x, y + 4))
        body.append(_text(x, y + 18, f"{number * step:g}", anchor="middle"))
    body.append(_text(left - 8, y + 18, "milliseconds", anchor="end"))
    return body


def _agent(place: int) -> str:
    place %= len(_AGENTS)
    return f"var(--a{place},{_AGENTS[place]})"


def _tick(x: float, top: float, bottom: float, text: str) -> list[str]:
    return [_line(x, top, x, bottom), _text(x, bottom + 16, text, anchor="middle")]


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = _MUTED) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {where} style="fill:{fill}">{html.escape(text)}</text>'


def _rect(  # noqa: PLR0917 - a shape's own order
    x: float, y: float, width: float, height: float, fill: str, opacity: float
) -> str:
    box = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}"'
    return f'<rect {box} style="fill:{fill};fill-opacity:{opacity:.2f}"/>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} style="stroke:{_LINE}"/>'


def _curve(points: Iterable[tuple[float, float]], colour: str) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" style="fill:none;stroke:{colour};stroke-width:2"/>'


def _svg(title: str, height: float, body: Iterable[str]) -> str:
    plain = html.escape(title)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{plain}" font-family="system-ui,\'DejaVu Sans\',sans-serif" font-size="12">'
    )
    top = f'<text x="0" y="18" font-size="14" font-weight="600" style="fill:{_INK}">{plain}</text>'
    return "\n".join([head, top, *body, "</svg>\n"])


_CHARTS: Mapping[str, Callable[[Mapping[str, Picture]], str]] = {
    "conflicts": conflicts_chart,
    "waits": waits_chart,
    "shares": shares_chart,
    "blocks": blocks_chart,
}
