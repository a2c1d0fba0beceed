"""The command ``sweep``: how many agents a mailbox takes, over agents, lease lengths and cooldowns."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..contract import UsageError
from .day import BURST_ABOVE
from .lengths import cooldown_of, read_policy, seconds_of
from .plan import Plan, Sweep, sweep, to_csv, to_json
from .table import table
from .traffic import Traffic

EXIT_NOTHING_APPLIES = 5
AGENTS_MAX = 10_000
CELLS_MAX = 1_000
REFERENCE = "reference"


def _options(*options: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.command(name="sweep")
@_options(
    click.option("--agents", default="2,4,8,16", show_default=True, help="Numbers of agents."),
    click.option("--lease", "leases", default="10s,60s,300s", show_default=True, help="Lengths."),
    click.option(
        "--cooldown",
        "cooldowns",
        default="none,by-policy,7d",
        show_default=True,
        help="none, by-policy (by kind of message), or a length for every message.",
    ),
    click.option("--contacts", type=click.IntRange(1, 10_000_000), default=1000, show_default=True),
    click.option(
        "--rate",
        type=click.FloatRange(0.1, 3600),
        default=20.0,
        show_default=True,
        help="Tasks an agent gets in an hour.",
    ),
    click.option(
        "--burst",
        type=click.IntRange(1, 1000),
        default=BURST_ABOVE,
        show_default=True,
        help="More messages than this to one contact within an hour are a burst.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Seed of every draw."),
    click.option(
        "--exact", is_flag=True, help="Run the target itself instead of its model; slower."
    ),
    click.option(
        "--target",
        default=REFERENCE,
        show_default=True,
        metavar="MODULE:ATTR",
        help="With --exact: what to run; it must take clock and transport from its environment.",
    ),
    click.option(
        "--policy",
        "policy_file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False, readable=True),
        help="A policy file; by-policy means its cooldowns.",
    ),
    click.option(
        "--with",
        "runs",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="RUN",
        help="A run of the gate whose contention rounds are drawn beside; may be given again.",
    ),
    click.option(
        "--report",
        "report_dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(".leaserace"),
        show_default=True,
        help="Folder under which the run's own folder is made.",
    ),
    click.option("--csv", "as_csv", is_flag=True, help="Print the cells as CSV on stdout."),
    click.option("--json", "as_json", is_flag=True, help="Print sweep.json on stdout."),
)
def sweep_(
    *,
    agents: str,
    leases: str,
    cooldowns: str,
    contacts: int,
    rate: float,
    burst: int,
    seed: int,
    exact: bool,
    target: str,
    policy_file: Path | None,
    runs: tuple[Path, ...],
    report_dir: Path,
    as_csv: bool,
    as_json: bool,
) -> int:
    """Say how many agents a mailbox takes: a working day of traffic for each combination.

    Every cell runs one day of eight hours in virtual time: replies somebody waits for, follow-ups,
    sequences and digests, by agents that behave. Figures: claims refused, waits, leases that lie idle,
    replies a cooldown blocks, bursts, messages an hour. The charts mark where one more agent stops
    paying. By default a compact model of the reference answers; --exact runs a mailbox itself.

    \b
    leaserace sweep                                    the defaults
    leaserace sweep --agents 2,4,8 --lease 30s --cooldown none,24h
    leaserace sweep --with .leaserace/latest           with measured rounds beside the model
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    if as_csv and as_json:
        raise UsageError("--csv and --json both write to stdout: give one of them")
    if target != REFERENCE and not exact:
        raise UsageError(f"--target {target} needs --exact: the compact model is the reference's")
    if math.isnan(rate):
        raise UsageError("--rate nan is no number of tasks: give one, such as 20")
    policy = read_policy(policy_file)
    plan = Plan(
        agents=tuple(sorted(set(_each("--agents", agents, _agents)))),
        leases=tuple(_each("--lease", leases, lambda text: (text, seconds_of(text)))),
        cooldowns=tuple(_each("--cooldown", cooldowns, lambda text: cooldown_of(text, policy))),
        traffic=Traffic(contacts=contacts, per_hour=rate, seed=seed),
        policy=policy,
        policy_file=policy_file,
        exact_target=target if exact else "",
        burst_above=burst,
    )
    if len(plan.agents) * len(plan.leases) * len(plan.cooldowns) > CELLS_MAX:
        raise UsageError(f"more than {CELLS_MAX:,} combinations: sweep fewer values at a time")
    if exact and not _applies(target):
        return EXIT_NOTHING_APPLIES
    found, folder = _carry_out(plan, runs, report_dir)
    if as_json:
        click.echo(to_json(found).decode(), nl=False)
    elif as_csv:
        click.echo(to_csv(found), nl=False)
    else:
        click.echo(table(found))
        click.echo(f"\nfiles  {folder}: sweep.json, sweep.csv, sweep.svg, sweep.png")
    return 0


def _carry_out(plan: Plan, runs: tuple[Path, ...], report_dir: Path) -> tuple[Sweep, Path]:
    """Read the runs, run the cells, write the files."""
    from ..judge.progress import progress
    from .measured import read_rounds

    measured = [each for run in runs for each in read_rounds(run)]
    if runs and not measured:
        raise UsageError("--with: no contention round in any run: run leaserace gate --seconds 1")
    commands = importlib.import_module("leaserace.harness.commands")
    folder: Path = commands.make_run_dir(report_dir, "sweep", plan.traffic.seed)
    (folder / "history.jsonl").unlink()
    try:
        with progress() as tell:
            found = sweep(plan, tell=tell, measured=measured)
            tell("charts", 1.0)
            _write(found, folder)
    except BaseException:
        if not any(folder.iterdir()):
            folder.rmdir()
        raise
    return found, folder


def _write(found: Sweep, folder: Path) -> None:
    charts = importlib.import_module("leaserace.reports.sweep_charts")
    try:
        (folder / "sweep.json").write_bytes(to_json(found))
        (folder / "sweep.csv").write_text(to_csv(found), encoding="utf-8")
        (folder / "sweep.svg").write_bytes(charts.sweep_image(found, form="svg"))
        (folder / "sweep.png").write_bytes(charts.sweep_image(found, form="png"))
    except OSError as error:
        raise UsageError(f"{str(folder)!r} can't be written to: {error.strerror}") from error


def _applies(target: str) -> bool:
    """Whether the target can be swept; if not, say what it lacks."""
    from ..targets import load_target
    from .exact import NEEDS

    missing = NEEDS - set(load_target(target).capabilities)
    if missing:
        click.echo(
            f"leaserace: target {target!r} does not declare {', '.join(sorted(missing))}: "
            "a sweep does not apply to it",
            err=True,
        )
    return not missing


def _each(option: str, text: str, read: Callable[[str], Any]) -> list[Any]:
    """The values of a comma-separated list, in its order, none twice."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"{option} {text!r}: write values with commas between them")
    try:
        return [read(part) for part in dict.fromkeys(parts)]
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None


def _agents(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= AGENTS_MAX:
        raise UsageError(f"{text!r} is no number of agents: from 1 to {AGENTS_MAX:,}")
    return int(text)


__all__ = ["sweep_"]
