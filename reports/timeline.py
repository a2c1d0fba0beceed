"""The conflict timeline as an image: a lane per agent, what was held, what struck, where it broke.

The same history gives the same bytes: a fixed salt for ids, no date, no fonts but those named.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from leaserace.harness.history import Operation, OpType
from leaserace.harness.verdict import Finding

from . import palette
from .leases import LeaseSpan
from .picture import COOLDOWN, Band, FaultSpan, Picture, token_of
from .text import count, short, skew_words, visible
from .view import View, view

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANDS_MAX = 4
SALT = "leaserace"
STYLE: Any = {
    "svg.hashsalt": SALT,
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "path.simplify": False,
    "figure.dpi": 100,
    "savefig.dpi": 150,
}
_UNITS = ((3_600_000, "hours"), (60_000, "minutes"), (1_000, "seconds"), (1, "milliseconds"))
LEAST = 20
"""Units a picture is long at least; else the next smaller one is taken."""
_INK, _FAINT, _LANE = "#24292F", "#D0D7DE", "#F6F8FA"


def timeline_image(
    picture: Picture, findings: Sequence[Finding] = (), *, form: Literal["svg", "png"] = "svg"
) -> bytes:
    """The timeline of a race as an image.

    Args:
        picture: The race.
        findings: Its findings; the first is pinned.
        form: ``svg`` or ``png``.
    """
    from matplotlib import rc_context

    shown = view(picture, findings)
    with rc_context(STYLE):
        return image_bytes(_figure(shown), form)


def image_bytes(figure: Figure, form: Literal["svg", "png"]) -> bytes:
    """The figure's bytes, the same each time; call it inside ``rc_context(STYLE)``."""
    file = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    figure.savefig(file, format=form, metadata=metadata)
    return file.getvalue()


def _figure(shown: View) -> Figure:
    from matplotlib.figure import Figure

    bands = _bands(shown)
    lanes = len(shown.picture.agents) + 1 + len(bands)
    figure = Figure(figsize=(12, 1.5 + 0.78 * lanes), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    painter = _Painter(shown, axes, bands)
    painter.paint()
    _legend(figure)
    return figure


def _legend(figure: Figure) -> None:
    """What the marks mean, below the picture."""
    from matplotlib.lines import Line2D

    marks = (
        ("s", palette.AGENTS[0], palette.AGENTS[0], "lease, from grant to end"),
        ("|", _INK, _INK, "lease call"),
        ("o", palette.OK, palette.OK, "send accepted"),
        ("o", palette.VIOLATION, palette.VIOLATION, "send in the proof"),
        ("x", palette.REFUSED, palette.REFUSED, "refused"),
        ("D", "white", palette.UNKNOWN, "no reply"),
        ("v", palette.OK, palette.OK, "arrived"),
        ("v", palette.VIOLATION, palette.VIOLATION, "arrived again"),
    )
    handles = [
        Line2D([], [], ls="none", marker=marker, mfc=face, mec=edge, ms=6, mew=1.6, label=label)
        for marker, face, edge, label in marks
    ]
    figure.legend(
        handles=handles, loc="outside lower left", ncols=len(handles), fontsize=7, frameon=False
    )


def _bands(shown: View) -> dict[str, list[Band]]:
    """Bands by contact, the first few contacts that have any."""
    wanted = {op.contact for op in shown.operations}
    made: dict[str, list[Band]] = {}
    for band in shown.picture.bands:
        if band.contact in wanted and shown.shows(band.begin_ns, band.end_ns):
            made.setdefault(band.contact, []).append(band)
    return dict(list(made.items())[:BANDS_MAX])


@dataclass(slots=True)
class _Painter:
    """Draws one view; lane 0 is on top."""

    shown: View
    axes: Axes
    bands: dict[str, list[Band]]
    free: dict[tuple[int, int], float] = field(default_factory=dict)
    unlabelled: int = 0

    def paint(self) -> None:
        """Draw everything, back to front."""
        picture = self.shown.picture
        for lane, agent in enumerate(picture.agents):
            self.lane(lane, visible(agent), palette.agent_colour(lane))
            for fault in picture.faults:
                if fault.agent == agent:
                    self.fault(lane, fault)
        contacts = {op.contact for op in self.shown.operations}
        for span in picture.leases:
            if span.contact in contacts and self.shown.shows(span.begin_ns, span.end_ns):
                self.lease(picture.agents.index(span.agent), span)
        for op in self.shown.operations:
            self.operation(picture.agents.index(op.agent), op)
        self.mailbox(len(picture.agents))
        for number, (contact, bands) in enumerate(self.bands.items()):
            self.contact(len(picture.agents) + 1 + number, contact, bands)
        self.pin()
        self.frame(len(picture.agents) + 1 + len(self.bands))

    def lane(self, lane: int, name: str, colour: str) -> None:
        """A lane's ground and its name."""
        ground = _LANE if lane % 2 == 0 else "white"
        self.axes.axhspan(-lane - 0.5, -lane + 0.5, color=ground, zorder=0, linewidth=0)
        self.axes.text(
            -0.008,
            -lane,
            short(name, 22),
            transform=self.axes.get_yaxis_transform(),
            ha="right",
            va="center",
            color=colour,
            fontweight="bold",
        )

    def lease(self, lane: int, span: LeaseSpan) -> None:
        """A bar with its token, a tick a renewal, the end marked by how it ended."""
        begin, end = self.shown.x(span.begin_ns), self.shown.x(span.end_ns)
        colour = palette.agent_colour(lane)
        self.axes.barh(
            -lane + 0.22,
            max(end - begin, self.shown.width / 800),
            left=begin,
            height=0.3,
            color=colour,
            alpha=0.85,
            edgecolor=palette.VIOLATION if span.overlaps else colour,
            linewidth=1.6 if span.overlaps else 0.5,
            zorder=3,
        )
        for t_ns in span.renewals_ns:
            x = self.shown.x(t_ns)
            self.axes.plot([x, x], [-lane + 0.09, -lane + 0.35], color="white", lw=1.4, zorder=4)
        left, right = max(begin, 0), min(end, self.shown.width)
        if right - left > self.shown.width / 60:
            self.axes.text(
                (left + right) / 2,
                -lane + 0.22,
                f"token {span.token}" if right - left > self.shown.width / 14 else f"{span.token}",
                ha="center",
                va="center_baseline",
                color="white",
                fontsize=8,
                zorder=5,
            )
        if span.ended_by == "expired" and span.end_ns <= self.shown.end_ns:
            self.axes.plot(
                [end, end], [-lane + 0.0, -lane + 0.42], color=_INK, lw=1, ls=":", zorder=4
            )

    def operation(self, lane: int, op: Operation) -> None:
        """A line from invoke to completion, and a mark that says how it ended."""
        begin = self.shown.x(op.invoked_ns)
        open_ = op.completed_ns is None
        end = self.shown.width if open_ else self.shown.x(op.completed_ns or 0)
        colour, marker = _mark(op)
        if op.op in self.shown.proof and op.f == "send" and op.type is OpType.OK:
            colour = palette.VIOLATION
        y = -lane - 0.12
        self.axes.plot([begin, end], [y, y], color=colour, lw=2, alpha=0.6, zorder=5)
        if not open_:
            face = colour if op.type is OpType.OK else "white"
            self.axes.plot(end, y, marker, ms=6, mfc=face, mec=colour, mew=1.4, zorder=6, ls="none")
        label = _label(op)
        if label:
            self.label(lane, end, label, colour)

    def label(self, lane: int, x: float, text: str, colour: str) -> None:
        """Text beneath a mark, on the first line where it has room."""
        width = self.shown.width * 0.0068 * len(text)
        left = max(0.0, min(x - width / 2, self.shown.width - width))
        for line in (0, 1):
            if left >= self.free.get((lane, line), -1.0):
                self.free[lane, line] = left + width + self.shown.width * 0.004
                y = -lane - 0.24 - 0.14 * line
                self.axes.text(left, y, text, fontsize=7, color=colour, va="center", zorder=7)
                return
        self.unlabelled += 1

    def fault(self, lane: int, span: FaultSpan) -> None:
        """A pause, a crash or a hold as a shade over the lane; a skew as a note at its begin."""
        end_ns = self.shown.picture.end_ns if span.end_ns is None else span.end_ns
        if not self.shown.shows(span.begin_ns, end_ns):
            return
        begin, end = self.shown.x(span.begin_ns), self.shown.x(end_ns)
        begin, end = max(begin, 0.0), min(end, self.shown.width)
        text = {"pause": "paused", "crash": "down", "hold": "held"}.get(span.fault)
        if span.fault == "skew":
            text = f"clock {skew_words(span.detail)}"
            self.axes.text(
                begin, -lane + 0.43, text, fontsize=7, color=palette.UNKNOWN, va="center", zorder=7
            )
            return
        if text is None:
            return
        self.axes.fill_between(
            [begin, end],
            -lane - 0.48,
            -lane + 0.48,
            facecolor=palette.PAUSE,
            alpha=0.22,
            hatch="////",
            edgecolor=palette.PAUSE,
            linewidth=0,
            zorder=1,
        )
        if end - begin > self.shown.width / 14:
            where = f" at {visible(span.point)}" if span.point else ""
            self.axes.text(
                (begin + end) / 2,
                -lane - 0.12,
                text + where,
                ha="center",
                va="center",
                fontsize=8,
                color=_INK,
                zorder=4,
                bbox={"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1.5},
            )

    def mailbox(self, lane: int) -> None:
        """What arrived; the second of an intent in red."""
        self.lane(lane, "receiving mailbox", _INK)
        contacts = {op.contact for op in self.shown.operations}
        for arrival in self.shown.picture.arrivals:
            if arrival.contact and arrival.contact not in contacts:
                continue
            if not self.shown.shows(arrival.t_ns, arrival.t_ns):
                continue
            again = arrival.number > 1
            colour = palette.VIOLATION if again else palette.OK
            x = self.shown.x(arrival.t_ns)
            self.axes.plot(x, -lane - 0.05, "v", ms=9, color=colour, zorder=6, ls="none")
            words = f"copy {arrival.number}" if again else visible(arrival.agent)
            self.label(lane, x, words if arrival.replied else f"{words}, reply lost", colour)

    def contact(self, lane: int, contact: str, bands: Iterable[Band]) -> None:
        """Cooldowns and suppressions of one contact."""
        self.lane(lane, visible(contact), _INK)
        for band in bands:
            begin, end = self.shown.x(band.begin_ns), self.shown.x(band.end_ns)
            begin, end = max(begin, 0.0), min(end, self.shown.width)
            colour = palette.COOLDOWN if band.kind == COOLDOWN else palette.SUPPRESSION
            self.axes.barh(-lane, end - begin, left=begin, height=0.34, color=colour, zorder=3)
            if end - begin > self.shown.width / 14:
                self.axes.text(
                    (begin + end) / 2,
                    -lane,
                    band.kind,
                    ha="center",
                    va="center_baseline",
                    color="white",
                    fontsize=8,
                    zorder=5,
                )

    def pin(self) -> None:
        """A red line where the rule was broken."""
        finding = self.shown.finding
        if finding is None or not finding.t or not self.shown.shows(finding.t, finding.t):
            return
        x = self.shown.x(finding.t)
        self.axes.axvline(x, color=palette.VIOLATION, lw=1.5, zorder=2)
        right = x > self.shown.width / 2
        self.axes.text(
            x,
            0.5,
            f"{visible(finding.rule)} " if right else f" {visible(finding.rule)}",
            ha="right" if right else "left",
            va="bottom",
            color=palette.VIOLATION,
            fontsize=8,
            fontweight="bold",
        )

    def frame(self, lanes: int) -> None:
        """Axes, title and what was left out."""
        axes = self.axes
        axes.set_xlim(0, max(self.shown.width, 1e-6))
        axes.set_ylim(-lanes + 0.5, 0.5)
        axes.set_yticks([])
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.grid(axis="x", color=_FAINT, lw=0.6, zorder=1)
        axes.set_axisbelow(True)
        unit = self.unit()
        axes.set_xlabel("  ".join([unit, *self.notes()]), fontsize=8, color=_INK)
        axes.set_title(_title(self.shown), loc="left", fontsize=10, pad=16, color=_INK)

    def unit(self) -> str:
        """Number the axis in what its length is best told in; the unit's name."""
        from matplotlib.ticker import MultipleLocator

        width_ms = self.shown.width
        unit_ms, name = next(each for each in _UNITS if width_ms >= LEAST * each[0] or each[0] == 1)
        if unit_ms > 1:
            step = 10 ** math.floor(math.log10(width_ms / unit_ms / 2))
            step *= next(each for each in (5, 2, 1) if width_ms / unit_ms >= each * step * 2)
            self.axes.xaxis.set_major_locator(MultipleLocator(step * unit_ms))
            self.axes.xaxis.set_major_formatter(lambda value, _: f"{value / unit_ms:,.0f}")
        return name

    def notes(self) -> Iterator[str]:
        """What the image does not show."""
        if self.shown.left_out:
            yield f"({count(self.shown.left_out, 'operation')} of this race not shown)"
        if self.unlabelled:
            yield f"({count(self.unlabelled, 'label')} left out for room)"


def _mark(op: Operation) -> tuple[str, str]:
    """Colour and marker of how an operation ended."""
    if op.type is OpType.OK:
        return (palette.OK, "o") if op.f == "send" else (_INK, "|")
    if op.type is OpType.FAIL:
        return palette.REFUSED, "x"
    return palette.UNKNOWN, "D"


_NAMED = frozenset({"suppress", "unsuppress", "override", "receive", "cancel", "clean_up"})


def _label(op: Operation) -> str:
    """What stands beneath a mark: a send's token, a refusal's code, a lost reply."""
    if op.type is OpType.FAIL:
        return visible(op.code or "refused")
    if op.type is not OpType.OK:
        return "no reply" if op.code in {None, "reply_lost"} else visible(op.code)
    if op.f == "send":
        again = "replayed" if op.answer.get("replay") else "send"
        token = token_of(op)
        return again if token is None else f"{again} {token}"
    return op.f.replace("_", " ") if op.f in _NAMED else ""


def _title(shown: View) -> str:
    race = visible(shown.picture.race) or "the whole history"
    if shown.finding is None:
        return race
    return f"{short(shown.finding.message, 130)}\n{race}"
