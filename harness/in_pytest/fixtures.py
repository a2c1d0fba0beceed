"""Races as fixtures: a test's body is the script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from ..contract import Settings, UsageError
from ..judging import not_applicable
from ..pytest_plugin import PREFIX
from ..scenario import NotReached, Race, Scenario, Variant
from ..verdict import Verdict
from .bench import Bench, failed, keep, left_out, report


class Stand:
    """What the fixtures give before the test runs; inside the test it is the race itself.

    Args:
        bench: The target and engines.
        engine: ``processes`` or ``simulation``.
    """

    def __init__(self, bench: Bench, engine: str) -> None:
        self.leaserace_engine = engine
        self.leaserace_bench = bench
        self.leaserace_race: Race | None = None

    def __getattr__(self, name: str) -> Any:
        if self.leaserace_race is None:
            raise AttributeError(
                f"{name!r}: the race begins when the test function is called; another fixture"
                " may keep it and use it from within the test"
            )
        return getattr(self.leaserace_race, name)


def run_function(item: pytest.Function, names: Sequence[str]) -> None:
    """Run a test function as the script of a race, then let the rules judge what was recorded."""
    if len(names) > 1:
        raise failed("ask for one of the fixtures `race` and `simulation`")
    stand = item.funcargs[names[0]]
    assert isinstance(stand, Stand)
    bench, raised = stand.leaserace_bench, list[BaseException]()
    scenario = _scenario_of(item, _script(item, stand, names[0], raised))
    variant, options = scenario.variants[0], _options(item)
    try:
        reason = not_applicable(scenario, variant, bench.target)
        if reason:
            raise left_out(reason)
        run = bench.engine(stand.leaserace_engine).run(
            scenario, variant, agents=options.get("agents", bench.agents)
        )
        kept = keep(bench, run, item.nodeid)
    except UsageError as error:
        raise failed(f"leaserace: {error}") from None
    report(item, kept)
    if raised:
        if kept.result.verdict is Verdict.INVALID:
            item.add_report_section("call", "leaserace findings", kept.text)
        raise raised[0]
    if kept.result.verdict is not Verdict.VALID:
        raise failed(kept.text)


def _options(item: pytest.Function) -> Mapping[str, Any]:
    marker = item.get_closest_marker(PREFIX)
    return marker.kwargs if marker is not None else {}


def _scenario_of(item: pytest.Function, script: Callable[[Race], None]) -> Scenario:
    options = _options(item)
    return Scenario(
        id=item.originalname,
        number=100,
        title=item.nodeid,
        spec=(),
        expected="every rule holds, and the test's own assertions",
        needs=frozenset(options.get("needs", ())),
        settings=options.get("settings", Settings()),
        variants=(Variant(name=_variant(item)),),
        rounds=options.get("rounds", 1),
        windows=(),
        masked_by="",
        script=script,
        group="own",
    )


def _variant(item: pytest.Function) -> str:
    """The test's parameters, or ``plain``."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.id) if callspec is not None else "plain"


def _script(
    item: pytest.Function, stand: Stand, name: str, raised: list[BaseException]
) -> Callable[[Race], None]:
    """The test's body as a script: what it raises is kept until the race was judged."""

    def script(race: Race) -> None:
        stand.leaserace_race = item.funcargs[name] = race
        names = item._fixtureinfo.argnames  # noqa: SLF001 - as pytest calls it itself
        try:
            answer = item.obj(**{each: item.funcargs[each] for each in names})
        except NotReached:
            raise
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            if type(error).__module__.startswith("leaserace."):
                raise
            raised.append(error)
            return
        if answer is not None:
            text = f"{item.name} returned {answer!r}: a race's test is a plain function"
            raised.append(failed(text))

    return script
