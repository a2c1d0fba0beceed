"""Contention rounds of real runs, beside which a model can be held.

A round is not a working day: its agents do nothing but claim, write and release on as many contacts
as they are, as fast as the mailbox answers. So each round also gets what the model's own idea of a
conflict gives for *its* load: an agent that asks for one of ``c`` contacts by chance finds it held with
probability ``(time the other agents hold leases) / (c * length of the round)``. Where measured and
expected agree, conflicts come from nothing but leases that live; where they do not, something else is
in the way, such as a queue at the store.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..outcome import Contention


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One contention round.

    Args:
        run: Name of the run's folder.
        race: Name of the round.
        agents: How many took part.
        contacts: How many contacts they shared.
        conflict_rate: Share of claims that were refused.
        expected_rate: The same by the model, from the lease time that was measured; None without it.
        wait_p95_s: 95 % of the grants came within this of the first ask.
        per_hour: Messages that arrived, for an hour.
    """

    run: str
    race: str
    agents: int
    contacts: int
    conflict_rate: float
    expected_rate: float | None
    wait_p95_s: float
    per_hour: float


def read_rounds(path: Path) -> list[Measured]:
    """The contention rounds of a run.

    Args:
        path: The run's folder, or a ``latest``.

    Raises:
        UsageError: There is no run in it, or one of its files is broken.
    """
    rebuild = importlib.import_module("leaserace.reports.rebuild")
    run = rebuild.read_back(path)
    name = run.folder.resolve().name
    return [_measured(name, each, run.races.get(each.race)) for each in run.outcome.contention]


def _measured(run: str, round_: Contention, picture: Any) -> Measured:
    waits = importlib.import_module("leaserace.reports.waits")
    waited = sorted(ns for _, ns in waits.waits_ns(picture.operations)) if picture else []
    p95_s = waited[min(len(waited) - 1, int(0.95 * len(waited)))] / 1e9 if waited else 0.0
    return Measured(
        run=run,
        race=round_.race,
        agents=round_.agents,
        contacts=round_.contacts,
        conflict_rate=round_.conflicts / round_.attempts if round_.attempts else 0.0,
        expected_rate=_expected_rate(round_, picture),
        wait_p95_s=p95_s,
        per_hour=round_.deliveries / round_.seconds * 3600 if round_.seconds else 0.0,
    )


def _expected_rate(round_: Contention, picture: Any) -> float | None:
    if picture is None or not picture.leases or not round_.contacts or round_.agents < 2:
        return None
    length_ns = picture.end_ns - picture.begin_ns
    held_ns = sum(span.end_ns - span.begin_ns for span in picture.leases)
    others_ns = held_ns * (round_.agents - 1) / round_.agents
    return float(min(1.0, others_ns / (round_.contacts * length_ns))) if length_ns else None
