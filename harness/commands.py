"""The commands ``gate``, ``run`` and ``list``."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from .agents.option import agent_options, plan_for_agent
from .contract import UsageError
from .engine import Engine
from .gate import Canary, Plan, run_plan
from .habits.assign import Assignments, role_of
from .habits.option import habit_option, list_habits
from .history import History
from .outcome import RunOutcome
from .own_scenarios import is_path, load_scenarios_from
from .run_folder import run_folder, seed_or_drawn
from .scenario import REGISTRY, Scenario
from .watcher import Watcher

AGENTS_MAX = 5


def load_scenarios() -> list[Scenario]:
    """Import every registered scenario package, ours and the user's, and return all by number.

    Raises:
        UsageError: One can't be imported.
    """
    for entry in entry_points(group="leaserace.scenarios"):
        try:
            entry.load()
        except Exception as error:
            raise UsageError(
                f"scenarios {entry.name!r} ({entry.value}) can't be imported:"
                f" {type(error).__name__}: {error}"
            ) from error
    return list(REGISTRY)


def load_canaries() -> list[Canary]:
    """The broken twins the gate may feed first."""
    found: list[Canary] = []
    for entry in entry_points(group="leaserace.canaries"):
        found.extend(Canary(**each) for each in entry.load())
    return found


class AgentRange(click.ParamType):  # type: ignore[type-arg]
    """``3`` or ``2..5``."""

    name = "N or N..M"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Read it."""
        if isinstance(value, tuple):
            return value
        low, dots, high = str(value).partition("..")
        try:
            numbers = int(low), int(high if dots else low)
        except ValueError:
            self.fail(f"{value!r} is no number of agents: write 3 or 2..{AGENTS_MAX}", param, ctx)
        if not 2 <= numbers[0] <= numbers[1] <= AGENTS_MAX:
            self.fail(
                f"{value!r} is out of range: at least 2 agents race, at most {AGENTS_MAX} are seated",
                param,
                ctx,
            )
        return numbers


def _finite(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuse what compares with nothing."""
    if math.isnan(value):
        raise click.BadParameter(f"{value} is no number of seconds", ctx, param)
    return value


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every command that runs races."""
    for option in reversed(
        (
            click.option(
                "--target",
                default="reference",
                show_default=True,
                metavar="MODULE:ATTR",
                help="The mailbox under test: a leaserace.harness.Target, or a registered name.",
            ),
            click.option(
                "--policy",
                "policy_file",
                type=click.Path(path_type=Path, exists=True, dir_okay=False, readable=True),
                help="A policy file for the target (TOML for the reference).",
            ),
            click.option("--seed", type=int, help="Seed of every draw; default a fresh one."),
            click.option(
                "--report",
                "report_dir",
                type=click.Path(path_type=Path, file_okay=False),
                default=Path(".leaserace"),
                show_default=True,
                help="Folder under which the run's own folder is made.",
            ),
            click.option(
                "--smtp-port",
                type=click.IntRange(0, 65535),
                default=0,
                help="Port of the receiving mailbox; 0 for any that is free.",
            ),
            click.option("--json", "as_json", is_flag=True, help="Print verdict.json on stdout."),
        )
    ):
        command = option(command)
    return command


@click.command()
@common_options
@click.option(
    "--agents",
    type=AgentRange(),
    default="2..3",
    show_default=True,
    help="How many agents: one is added at a time, all races run again after each.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600),
    callback=_finite,
    default=0.75,
    show_default=True,
    help="Length of each contention round; 0 for none.",
)
@click.option("--rounds", type=click.IntRange(1, 100_000), help="Rounds of every race.")
@click.option("--all", "every", is_flag=True, help="Run every race, also those that take longer.")
@agent_options
@habit_option(
    "It changes the contention rounds, where agents act on their own; a race with a script says itself"
    " what each agent does."
)
def gate(
    *,
    target: str,
    policy_file: Path | None,
    seed: int | None,
    report_dir: Path,
    smtp_port: int,
    as_json: bool,
    agents: tuple[int, int],
    seconds: float,
    rounds: int | None,
    every: bool,
    agent: str | None,
    situations: tuple[str, ...],
    habit_texts: tuple[str, ...],
) -> int:
    """Run the races against a mailbox and say whether an agent may be added.

    First a broken copy of the reference (the canary) is fed to the same code and must be caught. Then
    the six races run on real processes, in their order, with one agent more at a time, and the quick
    ones of the others with the most. If race 1 or 2 fails, the others are not run: the system leaks.

    With --agent an agent of yours is judged instead: beside one of ours it is given every answer of the
    protocol, and lost replies. With --target too, the six races come first.
    """
    scenarios = [each for each in load_scenarios() if every or each.by_default]
    plan = Plan(
        target_name=target,
        scenarios=scenarios,
        agents=agents,
        seconds=seconds,
        seed=seed_or_drawn(seed),
        rounds=rounds,
        canaries=load_canaries(),
        policy_file=policy_file,
        every=every,
        habits=_habits(habit_texts, agents[1], seconds),
    )
    if agent is not None:
        plan = plan_for_agent(plan, agent, situations)
    elif situations:
        raise UsageError("--situation is one of an agent under test: give --agent too")
    return carry_out(plan, report_dir, smtp_port=smtp_port, as_json=as_json)


def _habits(texts: Sequence[str], agents: int, seconds: float) -> Assignments:
    """Which agent of the contention rounds has which habit.

    Raises:
        UsageError: An assignment says nothing that can be, or there are no such rounds.
    """
    from .processes.engine import agent_ids

    habits, ids = Assignments(texts), agent_ids(agents)
    habits.check(ids, map(role_of, ids))
    if habits and not seconds:
        raise UsageError("--habit changes the contention rounds: give --seconds above 0")
    return habits


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@common_options
@click.option("--variant", default="", help="Only this variant.")
@click.option("--agents", type=AgentRange(), default="2", show_default=True, help="How many.")
@click.option("--rounds", type=click.IntRange(1, 100_000), help="Rounds of every race.")
def run(
    *,
    names: Sequence[str],
    target: str,
    policy_file: Path | None,
    seed: int | None,
    report_dir: Path,
    smtp_port: int,
    as_json: bool,
    variant: str,
    agents: tuple[int, int],
    rounds: int | None,
) -> int:
    """Run the races called NAME (see ``leaserace list``), without a canary.

    NAME may also be a file with scenarios of your own: ``races.py``, or ``races.py::two_tabs``.
    """
    known = {each.id: each for each in load_scenarios()}
    chosen: list[Scenario] = []
    for name in dict.fromkeys(names):
        if is_path(name):
            chosen += load_scenarios_from(name)
        elif name in known:
            chosen.append(known[name])
        else:
            raise UsageError(f"no race is called {name!r}; there are {', '.join(known)}")
    variants = [each.name for scenario in chosen for each in scenario.variants]
    if variant and variant not in variants:
        raise UsageError(f"no variant is called {variant!r}; there are {', '.join(variants)}")
    plan = Plan(
        target_name=target,
        scenarios=chosen,
        variant=variant,
        agents=agents,
        seconds=0.0,
        seed=seed_or_drawn(seed),
        rounds=rounds,
        policy_file=policy_file,
        command="run",
    )
    return carry_out(plan, report_dir, smtp_port=smtp_port, as_json=as_json)


@click.command(name="list")
@click.option("--habits", is_flag=True, help="List the habits an agent can be given instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def list_(*, habits: bool, as_json: bool) -> int:
    """List every race: what happens, what is expected, what a target must be able to do.

    Also which of them ``leaserace gate`` runs by default, and which only with ``--all``.
    """
    if habits:
        list_habits(as_json=as_json)
        return 0
    scenarios = load_scenarios()
    if as_json:
        click.echo(json.dumps([_described(each) for each in scenarios], indent=2))
        return 0
    for each in scenarios:
        click.echo(f"{each.number}. {each.id}: {each.title}")
        click.echo(f"   expected   {each.expected}")
        click.echo(f"   runs in    leaserace gate{'' if each.by_default else ' --all'}")
        click.echo(f"   needs      {', '.join(sorted(each.needs))}")
        click.echo(f"   masked by  {each.masked_by}")
        click.echo(f"   variants   {'; '.join(variant.name for variant in each.variants)}")
        click.echo(f"   spec       {', '.join(each.spec)}\n")
    return 0


def _described(scenario: Scenario) -> dict[str, Any]:
    return {
        "id": scenario.id,
        "number": scenario.number,
        "group": scenario.group,
        "by_default": scenario.by_default,
        "title": scenario.title,
        "expected": scenario.expected,
        "needs": sorted(scenario.needs),
        "spec": list(scenario.spec),
        "masked_by": scenario.masked_by,
        "rounds": scenario.rounds,
        "variants": [
            {"name": each.name, "needs": sorted(each.needs), "points": sorted(each.points)}
            for each in scenario.variants
        ],
    }


def make_run_dir(report_dir: Path, command: str, seed: int) -> Path:
    """Make a run's own folder.

    Args:
        report_dir: Where runs are kept.
        command: The command's name.
        seed: The run's seed.

    Raises:
        UsageError: It can't be made.
    """
    folder = run_folder(report_dir, command, seed)
    try:
        folder.mkdir(parents=True)
        (folder / "history.jsonl").touch()
    except OSError as error:
        raise UsageError(
            f"can't write to {str(report_dir)!r}: {error.strerror}; choose a folder with --report"
        ) from error
    return folder.resolve()


def carry_out(plan: Plan, report_dir: Path, *, smtp_port: int, as_json: bool) -> int:
    """Run a plan on real processes, write its files, show its outcome, return its exit status."""
    from .processes.signals import terminated_as_exception

    run_dir = make_run_dir(report_dir, plan.command, plan.seed)
    show = importlib.import_module("leaserace.reports.show")
    files = importlib.import_module("leaserace.reports.files")
    with terminated_as_exception(), contextlib.ExitStack() as stack:
        watcher: Watcher = stack.enter_context(show.live())
        outcome = run_plan(
            plan, run_dir=run_dir, open_engine=_opener(plan, stack, smtp_port), watcher=watcher
        )
    history = History.load(run_dir / "history.jsonl")
    files.write_all(outcome, history, run_dir)
    if as_json:
        click.echo(outcome.to_json().decode(), nl=False)
    else:
        show.print_outcome(outcome, history, run_dir)
    return exit_status(outcome)


def exit_status(outcome: RunOutcome) -> int:
    """Exit status of a run: its verdict's, or 3 if the canary was not caught."""
    if outcome.canary is not None and not outcome.canary.caught:
        return 3
    return outcome.verdict.exit_status


def _opener(
    plan: Plan, stack: contextlib.ExitStack, smtp_port: int
) -> Callable[[str, Path], Engine]:
    def open_engine(target: str, folder: Path) -> Engine:
        from .processes.engine import ProcessEngine

        engine: Engine = stack.enter_context(
            ProcessEngine(
                target=target,
                run_dir=folder,
                seed=plan.seed,
                policy_file=plan.policy_file if target == plan.target_name else None,
                smtp_port=smtp_port if target == plan.target_name else 0,
                agent=plan.agent if target == plan.target_name else "",
            )
        )
        return engine

    return open_engine


__all__ = ["carry_out", "gate", "list_", "load_scenarios", "make_run_dir", "run"]
