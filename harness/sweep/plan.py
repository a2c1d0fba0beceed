"""A sweep: every number of agents with every lease length and every cooldown, a day each."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from .cell import Cell
from .day import BURST_ABOVE, Day
from .door import Compact, Door
from .knee import Knee, knees_of
from .lengths import Cooldown, PolicyFile, lengths_of, ms
from .measured import Measured
from .traffic import Traffic, day

VERSION = 1
Tell = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is swept.

    Args:
        agents: Numbers of agents.
        leases: Lease lengths as written, and in seconds.
        cooldowns: Rules for cooldowns.
        traffic: The day.
        policy: What the policy file says.
        policy_file: The file itself, for an exact run.
        exact_target: Name of the target to run for real, or "" for the compact model.
        burst_above: Messages to one contact in an hour that are still no burst.
    """

    agents: tuple[int, ...]
    leases: tuple[tuple[str, float], ...]
    cooldowns: tuple[Cooldown, ...]
    traffic: Traffic
    policy: PolicyFile
    policy_file: Path | None = None
    exact_target: str = ""
    burst_above: int = BURST_ABOVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What came of it.

    Args:
        plan: What was swept.
        cells: The figures, by cooldown, lease and number of agents.
        knees: One answer for each cooldown and lease.
        measured: Contention rounds of real runs, to compare with.
    """

    plan: Plan
    cells: tuple[Cell, ...]
    knees: tuple[Knee, ...]
    measured: tuple[Measured, ...] = ()


def sweep(plan: Plan, *, tell: Tell = lambda *_: None, measured: Sequence[Measured] = ()) -> Sweep:
    """Run every cell.

    Args:
        plan: What to sweep.
        tell: Told what runs and which share is done.
        measured: Real rounds, passed on.
    """
    combinations = [
        (cooldown, lease, agents)
        for cooldown in plan.cooldowns
        for lease in plan.leases
        for agents in plan.agents
    ]
    cells = []
    for place, (cooldown, lease, agents) in enumerate(combinations):
        tell(f"{agents} agents", place / len(combinations))
        cells.append(run_cell(plan, cooldown, lease, agents))
    return Sweep(
        plan=plan, cells=tuple(cells), knees=tuple(knees_of(cells)), measured=tuple(measured)
    )


def run_cell(plan: Plan, cooldown: Cooldown, lease: tuple[str, float], agents: int) -> Cell:
    """Run one day."""
    name, lease_s = lease
    with _door(plan, cooldown, lease_s, agents) as door:
        run = Day(
            door,
            day(plan.traffic, agents),
            lease_ms=ms(lease_s),
            burst_above=plan.burst_above,
        )
        run.run()
    return run.cell(lease=name, cooldown=cooldown.name, lease_s=lease_s, agents=agents)


@contextmanager
def _door(plan: Plan, cooldown: Cooldown, lease_s: float, agents: int) -> Iterator[Door]:
    if not plan.exact_target:
        yield Compact(lengths_of(lease_s, cooldown, plan.policy))
        return
    from ..targets import load_target
    from .exact import Exact

    with Exact(
        load_target(plan.exact_target),
        lease_s=lease_s,
        cooldown=cooldown,
        agents=agents,
        policy_file=plan.policy_file,
    ) as door:
        yield door


def to_dict(found: Sweep) -> dict[str, Any]:
    """The sweep as plain values, for JSON."""
    plan = found.plan
    return {
        "version": VERSION,
        "mailbox": plan.exact_target or "compact model of the reference",
        "traffic": asdict(plan.traffic),
        "burst_above": plan.burst_above,
        "cells": [asdict(cell) | _derived(cell) for cell in found.cells],
        "knees": [asdict(knee) for knee in found.knees],
        "measured": [asdict(each) for each in found.measured],
    }


def to_json(found: Sweep) -> bytes:
    """The same as indented JSON, the same bytes each time."""
    return msgspec.json.format(msgspec.json.encode(to_dict(found)), indent=2) + b"\n"


def to_csv(found: Sweep) -> str:
    """One row a cell; the units are in the names."""
    rows = []
    for cell in found.cells:
        row: dict[str, Any] = {}
        for name, value in (asdict(cell) | _derived(cell)).items():
            if isinstance(value, dict):
                row |= {f"{name[:-2]}_{part}_s": each for part, each in value.items()}
            else:
                row[name] = value
        rows.append(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _derived(cell: Cell) -> dict[str, float]:
    derived = {
        "conflict_rate": cell.conflict_rate,
        "idle_share": cell.idle_share,
        "blocked_share": cell.blocked_share,
        "per_hour": cell.per_hour,
    }
    assert all(map(math.isfinite, derived.values()))
    return {name: round(value, 6) for name, value in derived.items()}
