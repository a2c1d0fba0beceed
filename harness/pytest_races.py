"""What the pytest plugin does once a target is named: races as items, races as fixtures."""

from __future__ import annotations

import contextlib
import importlib
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from .contract import Settings, Target, UsageError
from .engine import Engine, RaceRun
from .gate import versions
from .history import History
from .judging import not_applicable, result_of
from .outcome import RunOutcome
from .pytest_plugin import ASKED, PREFIX, bench_of
from .scenario import NotReached, Race, Scenario, Variant
from .targets import load_target
from .verdict import RaceResult, Verdict

NO_TARGET = (
    "no mailbox is named: give --leaserace-target MODULE:ATTR, or the ini option leaserace_target"
)
STORIES_MAX = 3
LIGHT = ("verdict.json", "junit.xml", "summary.md")
"""Files written at once; the page and the charts can be made from the folder later."""


class Bench:
    """The target and the engines of one pytest process, made when first used.

    Args:
        config: pytest's configuration, with the plugin's choices.
    """

    def __init__(self, config: pytest.Config) -> None:
        asked = config.stash[ASKED]
        self.target_name = asked.target
        self.agents = asked.agents
        self.rounds = asked.rounds
        self.seed = asked.seed
        self.folder = Path(asked.folder)
        self.policy_file = Path(asked.policy) if asked.policy else None
        self._worker = getattr(config, "workerinput", {}).get("workerid", "main")
        self._target: Target | None = None
        self._engines: dict[str, Engine] = {}
        self._stack = contextlib.ExitStack()

    @property
    def target(self) -> Target:
        """The mailbox under test.

        Raises:
            UsageError: None is named, or it can't be loaded.
        """
        if self.target_name is None:
            raise UsageError(NO_TARGET)
        if self._target is None:
            self._target = load_target(self.target_name)
        return self._target

    def check(self) -> None:
        """Load the target now.

        Raises:
            pytest.UsageError: It can't be loaded; one line says why.
        """
        try:
            _ = self.target
        except UsageError as error:
            raise pytest.UsageError(f"leaserace: {error}") from error
        if self.policy_file is not None and not self.policy_file.is_file():
            raise pytest.UsageError(f"leaserace: no policy file {str(self.policy_file)!r}")

    def engine(self, kind: str) -> Engine:
        """The engine of this kind, started once."""
        if kind not in self._engines:
            self._engines[kind] = self._started(kind)
        return self._engines[kind]

    def _started(self, kind: str) -> Engine:
        target = self.target
        assert self.target_name is not None
        if kind == "simulation":
            from .simulation.engine import SimulationEngine

            return SimulationEngine(target, seed=self.seed, policy_file=self.policy_file)
        from .processes.engine import ProcessEngine

        folder = self.folder / f"processes-{self._worker}"
        folder.mkdir(parents=True, exist_ok=True)
        engine: Engine = self._stack.enter_context(
            ProcessEngine(
                target=self.target_name,
                run_dir=folder,
                seed=self.seed,
                policy_file=self.policy_file,
            )
        )
        return engine

    def close(self) -> None:
        """End what the engines started."""
        self._engines.clear()
        self._stack.close()

    def again(self, nodeid: str) -> str:
        """The command that runs one item again."""
        policy = ["--leaserace-policy", str(self.policy_file)] if self.policy_file else []
        parts = ["pytest", nodeid, "--leaserace-target", str(self.target_name)]
        if self.agents != 2:
            parts += ["--leaserace-agents", str(self.agents)]
        return shlex.join([*parts, "--leaserace-seed", str(self.seed), *policy])


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A race that was run, judged and written down."""

    result: RaceResult
    history: History
    folder: Path

    @property
    def text(self) -> str:
        """What a failure shows: the sentence first, then the operations that prove it."""
        if self.result.verdict is not Verdict.INVALID:
            return f"{self.result.verdict}: {self.result.reason}\nrun folder: {self.folder}"
        story = importlib.import_module("leaserace.reports.story")
        text = story.stories_text(self.result, self.history, limit=STORIES_MAX)
        return f"{text}run folder: {self.folder}"


def keep(bench: Bench, run: RaceRun, nodeid: str) -> Kept:
    """Judge a run and write its folder.

    Args:
        bench: Whose run.
        run: What an engine gave back.
        nodeid: The item's id.
    """
    result, _ = result_of(run, again=bench.again(nodeid))
    folder = bench.folder / _slug(nodeid)
    outcome = RunOutcome(
        command="pytest",
        target=str(bench.target_name),
        seed=bench.seed,
        agents=(run.agents, run.agents),
        verdict=result.verdict,
        races=(result,),
        again=result.again,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=run.seconds,
        versions=versions(),
        notices=run.history.notices,
    )
    files = importlib.import_module("leaserace.reports.files")
    files.write_all(outcome, run.history, folder, only=LIGHT, latest=False)
    return Kept(result=result, history=run.history, folder=folder)


def _slug(nodeid: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", nodeid.removeprefix(f"{PREFIX}::")).strip("-")


def report(item: pytest.Item, kept: Kept) -> None:
    """Attach the verdict and the run's folder to the item's report."""
    item.user_properties += [
        ("leaserace_verdict", str(kept.result.verdict)),
        ("leaserace_run", str(kept.folder)),
    ]
    item.add_report_section("call", PREFIX, f"run folder: {kept.folder}\n{kept.result.observed}\n")


def _failed(text: str) -> BaseException:
    """A failure that shows its text and no traceback into this code."""
    return pytest.fail.Exception(text, pytrace=False)


def _left_out(reason: str) -> BaseException:
    """A skip that is shown where the race is written."""
    return pytest.skip.Exception(f"not applicable: {reason}", _use_item_location=True)


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
                raise _left_out(reason)
            run = bench.engine(self.engine).run(
                self.scenario, self.variant, agents=bench.agents, rounds=bench.rounds
            )
            kept = keep(bench, run, self.nodeid)
        except UsageError as error:
            raise _failed(f"leaserace: {error}") from None
        report(self, kept)
        if kept.result.verdict is not Verdict.VALID:
            raise _failed(kept.text)

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


# -- fixtures -----------------------------------------------------------------------------------


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
        raise _failed("ask for one of the fixtures `race` and `simulation`")
    stand = item.funcargs[names[0]]
    assert isinstance(stand, Stand)
    bench, raised = stand.leaserace_bench, list[BaseException]()
    scenario = _scenario_of(item, _script(item, stand, names[0], raised))
    variant, options = scenario.variants[0], _options(item)
    try:
        reason = not_applicable(scenario, variant, bench.target)
        if reason:
            raise _left_out(reason)
        run = bench.engine(stand.leaserace_engine).run(
            scenario, variant, agents=options.get("agents", bench.agents)
        )
        kept = keep(bench, run, item.nodeid)
    except UsageError as error:
        raise _failed(f"leaserace: {error}") from None
    report(item, kept)
    if raised:
        if kept.result.verdict is Verdict.INVALID:
            item.add_report_section("call", "leaserace findings", kept.text)
        raise raised[0]
    if kept.result.verdict is not Verdict.VALID:
        raise _failed(kept.text)


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
            raised.append(_failed(text))

    return script


# -- at the end ---------------------------------------------------------------------------------


def raced(config: pytest.Config) -> list[dict[str, str]]:
    """What the items said of themselves: ``leaserace_verdict``, ``leaserace_run``."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return []
    said = [
        dict(report.user_properties)
        for group in reporter.stats.values()
        for report in group
        if getattr(report, "when", "") == "call"
    ]
    return [each for each in said if "leaserace_verdict" in each]


def applied_nowhere(session: pytest.Session) -> bool:
    """Whether the session was nothing but races, and none could be run against this target."""
    verdicts = [each["leaserace_verdict"] for each in raced(session.config)]
    only_races = len(verdicts) == session.testscollected
    return only_races and set(verdicts) == {str(Verdict.NOT_APPLICABLE)}


def summary(said: Sequence[Mapping[str, str]], folder: str) -> list[str]:
    """How many races came out how, and where everything recorded is."""
    counted = Counter(each["leaserace_verdict"] for each in said)
    lines = [", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))]
    if any("leaserace_run" in each for each in said):
        lines.append(f"run folder: {folder}")
    return lines


def merge(config: pytest.Config) -> None:
    """Write the outcome of all races of the session into the run's folder."""
    said = raced(config)
    folders = sorted({Path(each["leaserace_run"]) for each in said if "leaserace_run" in each})
    if not folders:
        return
    files = importlib.import_module("leaserace.reports.files")
    runs = [(folder.name, *files.read_run(folder)) for folder in folders]
    races = tuple(replace(run.races[0], race=name) for name, run, _ in runs)
    first, folder = runs[0][1], folders[0].parent
    whole = replace(
        first,
        agents=(min(r.agents for r in races), max(r.agents for r in races)),
        verdict=Verdict.merge(each.verdict for each in races),
        races=races,
        again=shlex.join(
            ["pytest", "--leaserace-target", first.target, "--leaserace-seed", str(first.seed)]
        ),
        elapsed_s=sum(run.elapsed_s for _, run, _ in runs),
        notices=tuple(notice for _, run, _ in runs for notice in run.notices),
    )
    events = (
        msgspec.structs.replace(event, race=name) for name, _, history in runs for event in history
    )
    files.write_all(whole, History(events), folder, only=LIGHT)
