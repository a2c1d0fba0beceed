"""The commands ``explore``, ``replay`` and ``twins``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..agents.option import agent_options, explore_with
from ..contract import Capability, Target, UsageError
from ..fuzz.replaying import is_plan, replay_plan
from ..habits.option import habit_option
from ..targets import load_target
from .asked import Asked
from .doubled import doubled_in
from .exhaust import Searched, Searches, exhaust
from .explore import STRATEGIES, Nondeterministic, Plan
from .progress import figures, live
from .run import Outcome, Runner
from .schedule import Schedule, load
from .subjects import HABIT, POLICIES
from .telling import SearchesTold, replay_line, say_statistics, tell_hit
from .workers import explore_all

EXIT_FOUND, EXIT_HARNESS, EXIT_UNKNOWN = 1, 3, 4


class Shard(click.ParamType):  # type: ignore[type-arg]
    """``2/5``: the second of five shares."""

    name = "I/N"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Read it."""
        if isinstance(value, tuple):
            return value
        first, slash, second = str(value).partition("/")
        if not slash or not first.isdigit() or not second.isdigit():
            self.fail(f"{value!r} is no shard: write I/N, such as 1/4", param, ctx)
        number, count = int(first), int(second)
        if not 1 <= number <= count:
            self.fail(f"{value!r}: the first number must be from 1 to {count}", param, ctx)
        return number, count


def _options(*options: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_target_option = click.option(
    "--target",
    default="reference",
    show_default=True,
    metavar="MODULE:ATTR",
    help="The mailbox under test; it must take clock and transport from its environment.",
)
_policy_option = click.option(
    "--policy",
    "policy_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, readable=True),
    help="A policy file for the target.",
)


@click.command()
@_options(
    _target_option,
    _policy_option,
    click.option(
        "--strategy", type=click.Choice(STRATEGIES), default="portfolio", show_default=True
    ),
    click.option(
        "--agents",
        type=click.IntRange(1, 5),
        default=3,
        show_default=True,
        help="Agents of a run, at most; what is named by --subject runs as it is.",
    ),
    click.option("--faults", type=click.IntRange(0, 9), help="Faults of a run, at most."),
    click.option(
        "--deadlines",
        type=click.IntRange(0, 9),
        help="How often time may pass to the next deadline while somebody could move.",
    ),
    click.option("--depth", type=click.IntRange(1, 20), default=3, help="Depth of PCT."),
    click.option("--schedules", type=click.IntRange(1), help="Runs to make."),
    click.option(
        "--seconds",
        type=click.FloatRange(0.01),
        help="How long; default 10, for an exhaustive search as long as it takes.",
    ),
    click.option("--seed", type=int, help="Seed of every draw; default a fresh one."),
    click.option(
        "--workers",
        type=click.IntRange(1, 256),
        default=1,
        show_default=True,
        help="Processes; of an exhaustive search each takes another subject or policy.",
    ),
    click.option("--shard", type=Shard(), default="1/1", help="This machine's share, such as 2/5."),
    click.option("--subject", "subjects", multiple=True, help="What runs, such as prog.ASL.AS."),
    habit_option(
        "It changes agents with playbooks, and only those with such an agent run; clients with programs and"
        " races with scripts do not change."
    ),
    click.option("--variant", "policies", multiple=True, type=click.Choice(list(POLICIES))),
    agent_options,
    click.option("--keep-going", is_flag=True, help="Go on after a finding."),
    click.option(
        "--report",
        "report_dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(".leaserace"),
        show_default=True,
        help="Folder under which schedules are written.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout."),
)
def explore(**options: Any) -> int:
    """Run many interleavings of agents and faults in virtual time; a finding comes with its schedule.

    Who moves, lost replies, crashes, silent transports, opt-outs that come in, and the passing of time
    are choices; rules watch every run. Exit status 1 with a finding, 3 if a run made twice came out
    differently, 4 if something could not be judged or an exhaustive search was cut off. With --agent an
    agent of yours is led through its situations instead, again and again.
    """
    asked = Asked(**options)
    if asked.agent is not None or asked.situations:
        return explore_with(asked.agent_run())
    target = _simulable(asked.target)
    subjects = asked.what_runs()
    if asked.strategy == "exhaustive":
        return _search(asked.searches(subjects), asked)
    plan = asked.plan(subjects)
    searched = _search_small(asked, plan) if asked.has_small_searches else []
    is_found = any(each.hits for each in searched)
    if is_found and not asked.keep_going:
        return EXIT_FOUND
    left_s = None if plan.seconds is None else plan.seconds - sum(each.seconds for each in searched)
    status = _draw(target, replace(plan, seconds=left_s), asked, searched)
    return EXIT_FOUND if is_found else status


def _search(searches: Searches, asked: Asked) -> int:
    """Search every schedule within the bounds; the exit status."""
    told = SearchesTold(target=asked.target, as_json=asked.as_json)
    with live("searching") as line:

        def show(searched: Searched) -> None:
            with line.aside():
                told.show(searched)

        status = exhaust(
            searches,
            shard=asked.shard,
            workers=asked.workers,
            show=show,
            on_progress=line.show,
        )
    told.end()
    return status


def _search_small(asked: Asked, plan: Plan) -> list[Searched]:
    """What a portfolio searches to its end before it draws; a finding is told at once."""
    searched: list[Searched] = []
    with live("searching") as line:
        exhaust(asked.small_searches(plan), show=searched.append, on_progress=line.show)
    told = SearchesTold(target=asked.target, as_json=asked.as_json)
    for each in searched:
        if each.hits:
            told.show(each)
    return searched


def _draw(target: Target, plan: Plan, asked: Asked, searched: list[Searched]) -> int:
    """Explore by draws, say what came of it; the exit status."""
    as_json = asked.as_json
    try:
        with live("exploring") as line:
            found = explore_all(
                plan,
                shard=asked.shard,
                workers=asked.workers,
                on_progress=lambda found: line.show(figures(found)),
            )
    except Nondeterministic as error:
        click.echo(f"leaserace: {error}", err=True)
        return EXIT_HARNESS
    say_statistics(plan, found, searched, as_json=as_json)
    if not as_json:
        policy_file = None if plan.policy_file is None else Path(plan.policy_file)
        for hit in found.hits:
            tell_hit(target, plan.target, hit, policy_file)
    return EXIT_FOUND if found.hits else EXIT_UNKNOWN if found.problems else 0


def _simulable(name: str) -> Target:
    """The target, if it can be run here.

    Raises:
        UsageError: It can't be loaded, or neither leases nor sends.
    """
    target = load_target(name)
    if not {Capability.LEASE, Capability.SEND} & set(target.capabilities):
        raise UsageError(f"target {name!r} declares neither lease nor send: nothing here applies")
    return target


@click.command()
@click.argument("schedule", metavar="FILE|TEXT")
@_options(
    _target_option,
    _policy_option,
    click.option(
        "--as-test",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Also write it as a pytest file.",
    ),
    click.option("--shrink", "do_shrink", is_flag=True, help="Make it smaller first."),
    click.option("--hash", "only_hash", is_flag=True, help="Print only the trace's hash."),
)
def replay(
    *,
    schedule: str,
    target: str,
    policy_file: Path | None,
    as_test: Path | None,
    do_shrink: bool,
    only_hash: bool,
) -> int:
    """Run a schedule, or a plan of ``fuzz``, again step by step, and tell what happens."""
    from .again import replay_schedule, write_test
    from .shrink import Shrinker

    if is_plan(schedule):
        flags = {"--shrink": do_shrink, "--hash": only_hash}
        return replay_plan(
            schedule,
            target=target,
            policy_file=policy_file,
            as_test=as_test,
            refused=[flag for flag, given in flags.items() if given],
        )
    loaded = _simulable(target)
    recorded = load(schedule)
    read = recorded.schedule
    try:
        outcome, notices = replay_schedule(
            loaded, read, recorded.trace, rule=recorded.rule, policy_file=policy_file
        )
    except Nondeterministic as error:
        click.echo(f"leaserace: {error}", err=True)
        return EXIT_HARNESS
    for notice in notices:
        click.echo(f"leaserace: {notice}", err=True)
    if only_hash:
        click.echo(outcome.trace_hash())
        return EXIT_FOUND if outcome.findings else 0
    if do_shrink and outcome.findings:
        with Runner(loaded, policy_file=policy_file) as runner:
            shrunk = Shrinker(runner, read, outcome.findings[0].rule).shrink()
        read, outcome = shrunk.schedule, shrunk.outcome
    if as_test is not None:
        write_test(as_test, read, target=target, rule=_rule_of(outcome))
        click.echo(f"leaserace: written to {as_test}", err=True)
    _tell_replayed(outcome, read, target)
    return EXIT_FOUND if outcome.findings else EXIT_UNKNOWN if outcome.problem else 0


def _tell_replayed(outcome: Outcome, schedule: Schedule, target: str) -> None:
    """The story of a finding, or of mail that a habit doubled, or that there is none."""
    from .story import tell

    found = outcome.findings
    if not found and HABIT in schedule.subject:
        found = doubled_in(outcome.events)
    if found:
        again = replay_line(target, schedule.to_text())
        click.echo(tell(outcome.events, found, again=again))
    else:
        click.echo(f"no finding; {len(outcome.trail)} choices, trace {outcome.trace_hash()}")


def _rule_of(outcome: Outcome) -> str:
    return outcome.findings[0].rule if outcome.findings else ""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--seconds", type=click.FloatRange(0.1), default=10.0, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--reference-schedules", type=click.IntRange(1), default=2_000, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def twins(
    *,
    names: tuple[str, ...],
    seconds: float,
    seed: int,
    reference_schedules: int,
    as_json: bool,
) -> int:
    """Feed every broken twin to the simulator: each must be caught, alone and behind what masks it.

    Prints twin by way (races, listed programs, exhaustive, random, PCT) with schedules and seconds to
    the first finding and the rule that found it; then twins behind a layer of the policy, and pairs
    that hide each other. Each way has a second at first, and `--seconds` for a twin that escaped it.
    Exit status 1 if one escapes or the reference has a finding.
    """
    from .twins import TwinCheck
    from .twins_told import run_twins

    check = TwinCheck(seconds=seconds, seed=seed, reference_schedules=reference_schedules)
    return run_twins(names, check, as_json=as_json)


__all__ = ["explore", "replay", "twins"]
