"""Races as test items: one for each variant of each scenario."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ..contract import UsageError
from ..judging import not_applicable
from ..pytest_plugin import ASKED, PREFIX, bench_of
from ..scenario import Scenario, Variant
from ..verdict import Verdict
from .bench import failed, keep, left_out, report


class RaceItem(pytest.Item):
    """One variant of one scenario on one engine.

    Args:
        scenario: The scenario.
        variant: The variant.
        engine: ``processes`` or ``simulation``.
    """

    def __init__(self, *, scenario: Scenario, variant: Variant, engine: str, **more: Any) -> None:
        super().__init__(**more)
        self.scenario = scenario
        self.variant = variant
        self.engine = engine
        self.add_marker(
            pytest.mark.leaserace(
                scenario=scenario.id,
                variant=variant.name,
                engine=engine,
                group=scenario.group,
                number=scenario.number,
            )
        )
        self.extra_keyword_matches.update((scenario.group, engine))

    def runtest(self) -> None:
        """Run the race; anything but valid is no pass."""
        bench = bench_of(self.config)
        try:
            reason = not_applicable(self.scenario, self.variant, bench.target)
            if reason:
                self.user_properties.append(("leaserace_verdict", str(Verdict.NOT_APPLICABLE)))
                raise left_out(reason)
            run = bench.engine(self.engine).run(
                self.scenario, self.variant, agents=bench.agents, rounds=bench.rounds
            )
            kept = keep(bench, run, self.nodeid)
        except UsageError as error:
            raise failed(f"leaserace: {error}") from None
        report(self, kept)
        if kept.result.verdict is not Verdict.VALID:
            raise failed(kept.text)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the scenario is written."""
        code = self.scenario.script.__code__
        return Path(code.co_filename), code.co_firstlineno - 1, self.name


class Races(pytest.Collector):
    """All races that are registered, as one branch of the collection's tree."""

    def collect(self) -> Iterable[pytest.Item]:
        """One item a variant, in running order."""
        commands = importlib.import_module("leaserace.harness.commands")
        try:
            scenarios = commands.load_scenarios()
        except UsageError as error:
            raise self.CollectError(str(error)) from error
        known = self.config.stash.get(_COLLECTED, set())
        return items_of(self, [each for each in scenarios if each.id not in known])


_COLLECTED = pytest.StashKey[set[str]]()


def items_of(parent: pytest.Collector, scenarios: Iterable[Scenario]) -> list[pytest.Item]:
    """One item for each variant, and engine where both are asked for."""
    wanted = parent.config.stash[ASKED].engine
    engines = ("processes", "simulation") if wanted == "both" else (wanted,)
    return [
        RaceItem.from_parent(
            parent,
            name=f"{scenario.id}[{variant.name}{f', {engine}' if len(engines) > 1 else ''}]",
            scenario=scenario,
            variant=variant,
            engine=engine,
        )
        for scenario in scenarios
        for variant in scenario.variants
        for engine in engines
    ]


def add_races(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Collect the registered races behind what was collected from files.

    Raises:
        pytest.UsageError: A race was asked for by an id that does not exist.
    """
    session.config.stash[_COLLECTED] = {
        item.scenario.id for item in items if isinstance(item, RaceItem)
    }
    races: Races = Races.from_parent(session, name=PREFIX, nodeid=PREFIX)
    found = session.ihook.pytest_make_collect_report(collector=races)
    chosen = session.config.stash[ASKED].chosen
    found.result = _chosen(found.result or [], chosen)
    session.ihook.pytest_collectreport(report=found)
    for item in found.result:
        session.ihook.pytest_itemcollected(item=item)
    items += found.result


def _chosen(items: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Those asked for by id; all where none was, or where ``leaserace`` alone was."""
    if not names or "" in names:
        return list(items)
    for name in names:
        if not any(name in (item.name, item.scenario.id) for item in items):
            ids = ", ".join(dict.fromkeys(item.scenario.id for item in items))
            raise pytest.UsageError(f"leaserace: no race is called {name!r}; there are {ids}")
    return [item for item in items if {item.name, item.scenario.id} & set(names)]
