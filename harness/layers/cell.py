"""The cells of the matrix: one row under one layout, with its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..habits import HABITS, Habit
from .names import Layer, Layout
from .run import Bench, Told
from .trouble import KINDS, Kind, troubles

PER = 1000
"""Figures are for so many logical sends."""
TROUBLE_OF_ITS_OWN = frozenset({"daily-after-window"})
"""Habits that are trouble enough: they work again when nothing went wrong."""
AT_ONCE = " and trouble"
"""Ends the name of a row in which two things go wrong with one send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Agents with one habit, and what happens to them.

    Args:
        name: What the row is called.
        habit: Name of the habit.
        kinds: What may go wrong, one of them with each task.
        is_two: Two things go wrong with one send: the habit's own trouble, and another.
    """

    name: str
    habit: str
    kinds: Sequence[Kind]
    is_two: bool = False


def rows_of(habits: Iterable[Habit] = HABITS.values()) -> list[Row]:
    """The rows of these habits; a habit that is trouble of its own has one with more of it besides."""
    rows: list[Row] = []
    for habit in habits:
        rows.append(Row(name=habit.name, habit=habit.name, kinds=_kinds(habit)))
        if habit.name in TROUBLE_OF_ITS_OWN:
            name = f"{habit.name}{AT_ONCE}"
            rows.append(Row(name=name, habit=habit.name, kinds=KINDS, is_two=True))
    return rows


def _kinds(habit: Habit) -> Sequence[Kind]:
    """One thing goes wrong at a time; a habit that shows after a restart is restarted."""
    if habit.restarts:
        return (Kind.CRASH,)
    return (Kind.NOTHING,) if habit.name in TROUBLE_OF_ITS_OWN else KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What came of all runs of one row under one layout.

    Args:
        row: Who sent, and what went wrong.
        layout: Which layers were on.
        sends: Logical sends.
        deliveries: Messages that reached a person.
        duplicates: Messages that reached a person who had them already.
        missing: Logical sends of which nothing arrived.
        stopped: Further tries of what had been sent, by the layer that stopped them.
        by_kind: Duplicates by what had gone wrong.
    """

    row: Row
    layout: Layout
    sends: int
    deliveries: int
    duplicates: int
    missing: int
    stopped: Mapping[Layer, int]
    by_kind: Mapping[Kind, int]

    @property
    def per_thousand(self) -> float:
        """Duplicates for each 1,000 logical sends."""
        return PER * self.duplicates / self.sends

    def stopped_per_thousand(self, layer: Layer) -> float:
        """Tries that this layer stopped, for each 1,000 logical sends."""
        return PER * self.stopped.get(layer, 0) / self.sends


def measure(bench: Bench, row: Row, layout: Layout, *, sends: int, seed: int) -> Cell:
    """Hand tasks out until so many logical sends were tried.

    Args:
        bench: Under this layout.
        row: Who sends, and what goes wrong.
        layout: Which layers are on.
        sends: Logical sends.
        seed: Of every draw; the same trouble and the same draws meet every layout.
    """
    told: list[tuple[Kind, Told]] = []
    done = 0
    for number, trouble in enumerate(troubles(sends, row.kinds, seed)):
        if done >= sends:
            break
        found = bench.run(row.habit, trouble, f"{seed}:{number}")
        told.append((trouble.kind, found))
        done += found.sends
    return _cell(row, layout, told)


def _cell(row: Row, layout: Layout, told: Sequence[tuple[Kind, Told]]) -> Cell:
    stopped: Counter[Layer] = Counter()
    by_kind: Counter[Kind] = Counter()
    for kind, each in told:
        stopped += each.stopped
        by_kind[kind] += each.duplicates
    return Cell(
        row=row,
        layout=layout,
        sends=sum(each.sends for _, each in told),
        deliveries=sum(each.deliveries for _, each in told),
        duplicates=sum(each.duplicates for _, each in told),
        missing=sum(each.missing for _, each in told),
        stopped={layer: stopped[layer] for layer in Layer if stopped[layer]},
        by_kind={kind: by_kind[kind] for kind in Kind if by_kind[kind]},
    )
