"""The pytest plugin: each race is a test item, and two fixtures run users' own races.

pytest loads this module in every session, so it imports nothing that takes time; the work stands in
`in_pytest`, which is imported when a target was named or a fixture is used.
"""

from __future__ import annotations

import random
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pytest

from .scenario import REGISTRY

if TYPE_CHECKING:
    from pathlib import Path

    from .in_pytest.bench import Bench
    from .in_pytest.fixtures import Stand

PREFIX = "leaserace"
"""First part of the items' ids, such as ``leaserace::stale_token[before the call]``."""
ENGINES = ("processes", "simulation", "both")
FILES = ["race_*.py", "*_races.py"]
"""Files that are looked through for scenarios once a target is named; ini option `leaserace_files`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a session is asked to do; decided once and handed to every worker.

    Args:
        target: Name of the mailbox under test, or None.
        engine: One of `ENGINES`.
        agents: How many agents race.
        rounds: Rounds of every race, or None for their own.
        seed: Seed of every draw.
        policy: A policy file, or None.
        folder: The run's own folder.
        collect: Whether the registered races become items.
        chosen: Ids of races on the command line; "" for all.
        alone: Whether nothing else is to be collected.
    """

    target: str | None
    engine: str
    agents: int
    rounds: int | None
    seed: int
    policy: str | None
    folder: str
    collect: bool
    chosen: tuple[str, ...]
    alone: bool


ASKED = pytest.StashKey[Asked]()
BENCH = pytest.StashKey["Bench"]()


class Hooks:
    """What a ``conftest.py`` may define."""

    @pytest.hookspec(firstresult=True)
    def pytest_leaserace_target(self, config: pytest.Config) -> str | None:
        """Name the mailbox under test, as ``module:attribute``; the command line comes first."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let ``conftest.py`` name the target."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options in a group of their own."""
    group = parser.getgroup(PREFIX, "leaserace: races between agents that share a mailbox")
    group.addoption(
        "--leaserace-target",
        metavar="MODULE:ATTR",
        help="The mailbox under test; every race that applies to it becomes a test.",
    )
    group.addoption(
        "--leaserace-engine",
        choices=ENGINES,
        help="Real processes (default), the simulator, or both.",
    )
    group.addoption(
        "--leaserace-agents", type=int, metavar="N", help="Agents in a race, 2 to 5 (default: 2)."
    )
    group.addoption("--leaserace-rounds", type=int, metavar="N", help="Rounds of every race.")
    group.addoption("--leaserace-seed", type=int, metavar="N", help="Seed of every draw.")
    group.addoption("--leaserace-policy", metavar="FILE", help="A policy file for the target.")
    group.addoption(
        "--leaserace-report",
        metavar="DIR",
        help="Folder under which the run's own folder is made (default: .leaserace).",
    )
    parser.addini("leaserace_target", "The mailbox under test, as MODULE:ATTR.", default="")
    parser.addini("leaserace_engine", "processes, simulation or both.", default="processes")
    parser.addini("leaserace_agents", "Agents in a race, 2 to 5.", default="2")
    parser.addini("leaserace_files", "Files that hold scenarios.", type="args", default=FILES)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; decide once, for all workers, what is run."""
    config.addinivalue_line(
        "markers",
        "leaserace(agents, rounds, settings, needs): a race between agents; on a test with the"
        " fixture `race` or `simulation`, how it is run",
    )
    if hasattr(config, "workerinput"):
        config.stash[ASKED] = Asked(**config.workerinput["leaserace"])
        if config.stash[ASKED].alone:
            config.args[:] = []
    else:
        config.stash[ASKED] = _asked(config)
    if config.stash[ASKED].target:
        _let_import(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist what was decided."""
    node.workerinput["leaserace"] = asdict(node.config.stash[ASKED])


def _asked(config: pytest.Config) -> Asked:
    option = config.option
    chosen = _take_chosen(config)
    target = _named_target(config)
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    seed = option.leaserace_seed
    if seed is None:
        seed = random.SystemRandom().randrange(1_000_000)
    policy = option.leaserace_policy
    return Asked(
        target=target,
        engine=_engine(config),
        agents=_agents(config),
        rounds=option.leaserace_rounds,
        seed=seed,
        policy=str(config.invocation_params.dir / policy) if policy else None,
        folder=str(_folder(config, seed)),
        collect=bool(chosen or option.leaserace_target or (whole and target)),
        chosen=tuple(chosen),
        alone=bool(chosen) and not config.args,
    )


def _take_chosen(config: pytest.Config) -> list[str]:
    """Take ``leaserace::…`` out of the arguments: it is no path."""
    chosen = []
    for argument in list(config.args):
        path, _, name = argument.partition("::")
        here = config.invocation_params.dir / path
        if path.rsplit("/", 1)[-1] == PREFIX and not here.exists():
            config.args.remove(argument)
            chosen.append(name)
    return chosen


def _named_target(config: pytest.Config) -> str | None:
    """The command line, then ``conftest.py``, then the ini file."""
    named = (
        config.option.leaserace_target
        or config.hook.pytest_leaserace_target(config=config)
        or config.getini("leaserace_target")
    )
    if named and not isinstance(named, str):
        raise pytest.UsageError(
            f"pytest_leaserace_target returned {named!r}: it must return 'module:attribute'"
        )
    return named or None


def _let_import(config: pytest.Config) -> None:
    """A target may lie where pytest was started, as with ``python -m pytest``."""
    for folder in (config.rootpath, config.invocation_params.dir):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))


def _engine(config: pytest.Config) -> str:
    engine = config.option.leaserace_engine or config.getini("leaserace_engine")
    if engine not in ENGINES:
        raise pytest.UsageError(f"leaserace_engine={engine!r}: give {', '.join(ENGINES)}")
    return str(engine)


def _agents(config: pytest.Config) -> int:
    given = config.option.leaserace_agents or config.getini("leaserace_agents")
    if not str(given).isdigit() or not 2 <= int(given) <= 5:
        raise pytest.UsageError(f"leaserace_agents={given!r}: at least 2 agents race, at most 5")
    return int(given)


def _folder(config: pytest.Config, seed: int) -> Path:
    """The run's own folder; it is made when something is written there."""
    from .run_folder import run_folder

    kept = config.rootpath / (config.option.leaserace_report or ".leaserace")
    return run_folder(kept, "pytest", seed)


def bench_of(config: pytest.Config) -> Bench:
    """What all races of this process share: the target and the engines."""
    if BENCH not in config.stash:
        from .in_pytest.bench import Bench

        config.stash[BENCH] = Bench(config)
    return config.stash[BENCH]


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is tested, with the seed."""
    asked = config.stash[ASKED]
    if asked.target is None:
        return []
    return [f"leaserace: target {asked.target}, engine {asked.engine}, seed {asked.seed}"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse a wrong target in one line, before any worker is asked."""
    if session.config.stash[ASKED].collect and not hasattr(session.config, "workerinput"):
        bench_of(session.config).check()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Look through files of scenarios, once a target is named."""
    config = parent.config
    if not config.stash[ASKED].target or parent.session.isinitpath(file_path):
        return None
    patterns = config.getini("leaserace_files")
    if not any(file_path.match(pattern) for pattern in patterns):
        return None
    if any(file_path.match(pattern) for pattern in config.getini("python_files")):
        return None  # pytest collects it anyhow
    module: pytest.Module = pytest.Module.from_parent(parent, path=file_path)
    return module


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """A decorated scenario in a test module is one item a variant."""
    scenario = REGISTRY.get(name)
    if scenario is None or scenario.script is not obj or not isinstance(collector, pytest.Module):
        return None
    if scenario.script.__module__ != collector.obj.__name__:
        return None  # imported from elsewhere, where it is collected
    from .in_pytest.items import items_of

    return items_of(collector, [scenario])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the races, before ``-k`` and ``-m`` choose."""
    if session.config.stash[ASKED].collect:
        from .in_pytest.items import add_races

        add_races(session, items)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that has the fixture `race` or `simulation` as a scenario's script."""
    stands = [each for each in ("race", "simulation") if each in pyfuncitem.funcargs]
    stands = [each for each in stands if hasattr(pyfuncitem.funcargs[each], "leaserace_engine")]
    if not stands:
        return None
    from .in_pytest.fixtures import run_function

    run_function(pyfuncitem, stands)
    return True


@pytest.fixture
def race(request: pytest.FixtureRequest) -> Stand:
    """A `leaserace.harness.Race` on real processes; what the rules find fails the test."""
    from .in_pytest.fixtures import Stand

    return Stand(bench_of(request.config), "processes")


@pytest.fixture
def simulation(request: pytest.FixtureRequest) -> Stand:
    """A `leaserace.harness.Race` on the simulator; what the rules find fails the test."""
    from .in_pytest.fixtures import Stand

    return Stand(bench_of(request.config), "simulation")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End what the engines started, and write the outcome of the session."""
    config = session.config
    if BENCH in config.stash:
        config.stash[BENCH].close()
    if hasattr(config, "workerinput") or not config.stash[ASKED].target:
        return
    from .in_pytest.end import applied_nowhere, merge

    merge(config)
    if exitstatus == 0 and applied_nowhere(session):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what the engines started, also where no session was finished."""
    if BENCH in config.stash:
        config.stash[BENCH].close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the races by verdict and say where everything recorded is."""
    config = terminalreporter.config
    if not config.stash[ASKED].target:
        return
    from .in_pytest.end import raced, summary

    said = raced(config)
    if said:
        terminalreporter.section("leaserace")
        for line in summary(said, config.stash[ASKED].folder):
            terminalreporter.write_line(line)
