"""Checks all twins and tells of each: the command ``twins``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import click

from .pairs import PairFound, check_pair, pairs_with
from .twins import (
    WAYS,
    Caught,
    Row,
    TwinCheck,
    check,
    load_twins,
    masked,
    reference_is_clean,
)

HIDDEN_WAYS = ("programs", "random", "pct")
"""Ways that can be told under which policy to run."""


@dataclass(slots=True, kw_only=True)
class Told:
    """What came of all of them.

    Args:
        clean: What rules say of the reference.
        rows: Twins.
        hidden: Twins behind a layer that hides them.
        pairs: Pairs that hide each other.
    """

    clean: Caught
    rows: list[Row] = field(default_factory=list)
    hidden: list[Row] = field(default_factory=list)
    pairs: list[PairFound] = field(default_factory=list)

    @property
    def escaped(self) -> list[str]:
        """What was not caught, and pairs that do not hide each other."""
        every = [*self.rows, *self.hidden]
        names = {id(each): " and ".join(each.pair.names) for each in self.pairs}
        return [
            *(f"{row.twin.name} {row.twin.masks}" for row in every if not row.is_caught),
            *(names[id(each)] for each in self.pairs if not each.is_caught),
            *(f"{names[id(each)]}: not masked" for each in self.pairs if not each.is_masked),
        ]


def run_twins(names: Sequence[str], how: TwinCheck, *, as_json: bool) -> int:
    """Check all twins, masked ones, pairs and the reference; print; the exit status.

    Raises:
        UsageError: A name is no twin's.
    """
    twins = load_twins(names)
    told = Told(clean=reference_is_clean(how))

    def say(line: str) -> None:
        if not as_json:
            click.echo(line)

    say(_HEAD)
    for twin in twins:
        told.rows.append(check(twin, how))
        say(_line(told.rows[-1]))
    for twin in masked(twins):
        told.hidden.append(check(twin, how, HIDDEN_WAYS))
        say(_line(told.hidden[-1]))
    for pair in pairs_with(names):
        told.pairs.append(check_pair(pair, seconds=how.seconds))
        say(_pair_line(told.pairs[-1]))
    if as_json:
        click.echo(json.dumps(_to_json(told)))
    else:
        _summary(told)
    return 1 if told.escaped or told.clean.rules else 0


_HEAD = " ".join([f"{'twin':42}", *(f"{way:>15}" for way in WAYS), " first rule"])


def _line(row: Row) -> str:
    twin = row.twin
    name = f"{twin.name} [{twin.policies[0]}]" if twin.masks else twin.name
    cells = [f"{_cell(row.ways[way]) if way in row.ways else '':>15}" for way in WAYS]
    if row.first is None:
        rule = "ESCAPED"
    elif row.is_caught:
        rule = row.first.rules[0]
    else:
        rule = f"{row.first.rules[0]} (not {', '.join(twin.caught_by)})"
    return f"{name:42} {' '.join(cells)}  {rule}"


def _pair_line(found: PairFound) -> str:
    alone = sum(each.schedules for each in found.alone.values())
    rule = found.pair.rule if found.is_caught else "ESCAPED"
    told = f"{found.both.schedules} / {found.both.seconds:.2f} s"
    without = f"alone nothing in {alone}" if found.is_masked else "ALONE TOO"
    return f"{' and '.join(found.pair.names):90} {told:>15}  {without:24}  {rule}"


def _cell(caught: Caught) -> str:
    if not caught.rules:
        return f"- {caught.schedules}"
    return f"{caught.schedules} / {caught.seconds:.2f} s"


def _summary(told: Told) -> None:
    every = [*told.rows, *told.hidden]
    times = sorted(row.first.seconds for row in every if row.first is not None)
    caught = sum(row.is_caught for row in told.rows)
    behind = sum(row.is_caught for row in told.hidden)
    both = sum(each.is_caught and each.is_masked for each in told.pairs)
    click.echo(
        f"\n{caught} of {len(told.rows)} twins caught, {behind} of {len(told.hidden)} behind a layer "
        f"that hides them, {both} of {len(told.pairs)} pairs that hide each other"
    )
    if times:
        click.echo(
            f"first finding after {times[len(times) // 2]:.2f} s in the median, "
            f"{times[-1]:.2f} s at worst"
        )
    for name in told.escaped:
        click.echo(f"ESCAPED: {name}")
    clean = told.clean
    verdict = f"a finding of {', '.join(clean.rules)}" if clean.rules else "no finding"
    click.echo(f"the reference: {verdict} in {clean.schedules:,} schedules")


def _to_json(told: Told) -> dict[str, object]:
    return {
        "reference": asdict(told.clean),
        "twins": [_json(row) for row in (*told.rows, *told.hidden)],
        "pairs": [_json_pair(each) for each in told.pairs],
    }


def _json(row: Row) -> dict[str, object]:
    return {
        "twin": row.twin.name,
        "masked": row.twin.masks,
        "caught": row.is_caught,
        "ways": {way: asdict(caught) for way, caught in row.ways.items()},
    }


def _json_pair(found: PairFound) -> dict[str, object]:
    return {
        "twins": found.pair.names,
        "rule": found.pair.rule,
        "subject": found.pair.subject,
        "why": found.pair.why,
        "caught": found.is_caught,
        "masked": found.is_masked,
        "schedules": found.both.schedules,
        "alone": {name: each.schedules for name, each in found.alone.items()},
    }
