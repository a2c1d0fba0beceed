"""The commands ``explore``, ``replay`` and ``twins``."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ..agents.option import AgentRun, agent_options, explore_with
from ..contract import Capability, Target, UsageError
from ..fuzz.replaying import is_plan, replay_plan
from ..habits.assign import Assignments
from ..habits.option import habit_option
from ..targets import load_target
from .catalogue import EXHAUSTIVE
from .doubled import doubled_in
from .driver import Bounds
from .explore import STRATEGIES, Hit, Nondeterministic, Plan, Statistics
from .habits import subjects_with
from .progress import figures, live
from .run import Runner
from .schedule import Schedule, load
from .search import SearchResult
from .subjects import HABIT, POLICIES, parse
from .workers import explore_all

EXIT_FOUND, EXIT_HARNESS, EXIT_UNKNOWN = 1, 3, 4
SECONDS = 10.0


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
    click.option("--agents", type=click.IntRange(1, 5), default=3, show_default=True),
    click.option("--faults", type=click.IntRange(0, 9), help="Faults of a run, at most."),
    click.option(
        "--deadlines",
        type=click.IntRange(0, 9),
        help="How often time may pass to the next deadline while somebody could move.",
    ),
    click.option("--depth", type=click.IntRange(1, 20), default=3, help="Depth of PCT."),
    click.option("--schedules", type=click.IntRange(1), help="Runs to make."),
    click.option("--seconds", type=click.FloatRange(0.01), help="How long; default 10."),
    click.option("--seed", type=int, help="Seed of every draw; default a fresh one."),
    click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True),
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
def explore(
    *,
    target: str,
    policy_file: Path | None,
    strategy: str,
    agents: int,
    faults: int | None,
    deadlines: int | None,
    depth: int,
    schedules: int | None,
    seconds: float | None,
    seed: int | None,
    workers: int,
    shard: tuple[int, int],
    subjects: tuple[str, ...],
    habit_texts: tuple[str, ...],
    agent: str | None,
    situations: tuple[str, ...],
    policies: tuple[str, ...],
    keep_going: bool,
    report_dir: Path,
    as_json: bool,
) -> int:
    """Run many interleavings of agents and faults in virtual time; a finding comes with its schedule.

    Who moves, lost replies, crashes, silent transports, opt-outs that come in, and the passing of time
    are choices; rules watch every run. Exit status 1 with a finding, 3 if a run made twice came out
    differently. With --agent an agent of yours is led through its situations instead, again and again.
    """
    if agent is not None or situations:
        others = {"--subject": subjects, "--variant": policies, "--habit": habit_texts}
        return explore_with(
            AgentRun(
                agent=agent,
                target=target,
                situations=situations,
                seed=seed,
                seconds=seconds,
                schedules=schedules,
                policy_file=policy_file,
                report_dir=report_dir,
                as_json=as_json,
                refused=tuple(flag for flag, given in others.items() if given),
            )
        )
    loaded = _simulable(target)
    for subject in subjects:
        parse(subject)
    subjects = subjects_with(Assignments(habit_texts), subjects)
    if seconds is None and schedules is None:
        seconds = SECONDS
    if strategy == "exhaustive":
        from .exhaust import exhaust

        return exhaust(
            loaded,
            subjects=subjects or EXHAUSTIVE,
            policies=policies or tuple(POLICIES),
            bounds=Bounds(
                faults=1 if faults is None else faults,
                time_steps=1 if deadlines is None else deadlines,
            ),
            seconds=seconds,
            schedules=schedules,
            policy_file=policy_file,
            show=_show_search(as_json=as_json, target=target),
        )
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    plan = Plan(
        target=target,
        strategy=strategy,
        agents=agents,
        faults=2 if faults is None else faults,
        time_steps=3 if deadlines is None else deadlines,
        depth=depth,
        schedules=schedules,
        seconds=seconds,
        seed=seed,
        subjects=subjects,
        policies=policies,
        policy_file=None if policy_file is None else str(policy_file),
        keep_going=keep_going,
        folder=str(_folder(report_dir, seed) / "schedules"),
    )
    return _draw(loaded, plan, shard=shard, workers=workers, as_json=as_json)


def _draw(
    target: Target, plan: Plan, *, shard: tuple[int, int], workers: int, as_json: bool
) -> int:
    """Explore by draws, say what came of it; the exit status."""
    try:
        with live("exploring") as show:
            found = explore_all(plan, shard=shard, workers=workers, on_progress=show)
    except Nondeterministic as error:
        click.echo(f"leaserace: {error}", err=True)
        return EXIT_HARNESS
    _say_statistics(plan, found, as_json=as_json)
    if not as_json:
        policy_file = None if plan.policy_file is None else Path(plan.policy_file)
        for hit in found.hits:
            _tell(target, plan.target, hit, policy_file)
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


def _folder(report_dir: Path, seed: int) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3]
    return report_dir / f"{stamp}-explore-{seed}"


def _say_statistics(plan: Plan, found: Statistics, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found.to_json() | {"seed": plan.seed, "rate": found.rate}, indent=2))
        return
    click.echo(f"{plan.target}: {figures(found)} (seed {plan.seed}, {found.seconds:.1f} s)")
    click.echo(f"  strategies  {_counts(found.by_strategy)}")
    click.echo(f"  policies    {_counts(found.by_policy)}")
    click.echo(f"  run twice   {found.twice}, all the same")
    for problem in found.problems:
        click.echo(f"  unknown     {problem}")
    if found.doubled:
        click.echo(
            f"  doubled     {found.doubled:,} runs: mail arrived again, and no rule is broken:"
        )
        click.echo("              the agent asked for it, under another key or after its window")
        click.echo(f"  the first   {replay_line(plan.target, found.doubling)}")
    if not found.hits:
        click.echo("  no finding; this is a sample, not a proof")


def _counts(counts: Any) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


def _tell(target: Target, name: str, hit: Hit, policy_file: Path | None) -> None:
    """Shrink a finding and tell it."""
    from .shrink import Shrinker
    from .story import tell

    schedule = Schedule.from_text(hit.schedule)
    with Runner(target, policy_file=policy_file) as runner:
        shrunk = Shrinker(runner, schedule, hit.rules[0]).shrink()
    text = shrunk.schedule.to_text()
    click.echo(
        f"\nfound by {hit.strategy} under policy {hit.policy}, run {hit.at:,} ({hit.seconds:.2f} s); "
        f"shrunk from {len(schedule.choices)} to {len(shrunk.schedule.choices)} choices\n"
    )
    findings = sorted(shrunk.outcome.findings, key=lambda each: each.rule != hit.rules[0])
    click.echo(tell(shrunk.outcome.events, findings, again=replay_line(name, text)))


def replay_line(target: str, text: str) -> str:
    """The command that runs a schedule again."""
    where = "" if target == "reference" else f"--target {target} "
    return f"leaserace replay {where}{text}"


def _show_search(*, as_json: bool, target: str) -> Callable[[SearchResult], None]:
    from .exhaust import bound_of, to_json

    def show(result: SearchResult) -> None:
        if as_json:
            click.echo(json.dumps(to_json(result)))
            return
        click.echo(f"{result.subject} under {result.policy}: {bound_of(result)}")
        click.echo(
            f"  {result.schedules:,} schedules, {result.states:,} states, {result.pruned:,} pruned, "
            f"{result.asleep:,} asleep, exhausted: {'yes' if result.exhausted else 'no'}, "
            f"{result.seconds:.1f} s, {len(result.found)} findings"
        )
        if not result.is_pruning:
            click.echo("  the target shows no content(): states could not be compared")
        for outcome in result.found:
            schedule = _schedule_of(result, outcome.trail)
            click.echo(f"  {outcome.findings[0].rule}: {outcome.findings[0].message}")
            click.echo(f"  {replay_line(target, schedule)}")

    return show


def _schedule_of(result: SearchResult, trail: list[int]) -> str:
    schedule = Schedule(
        subject=result.subject, policy=result.policy, code=result.code, choices=tuple(trail)
    )
    return schedule.to_text()


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
    from .story import tell

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
    read, trace = load(schedule)
    outcome, notices = replay_schedule(loaded, read, trace, policy_file=policy_file)
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
    if outcome.findings:
        line = replay_line(target, read.to_text())
        click.echo(tell(outcome.events, outcome.findings, again=line))
    elif HABIT in read.subject and (doubled := doubled_in(outcome.events)):
        line = replay_line(target, read.to_text())
        click.echo(tell(outcome.events, doubled, again=line))
    else:
        click.echo(f"no finding; {len(outcome.trail)} choices, trace {outcome.trace_hash()}")
    return EXIT_FOUND if outcome.findings else EXIT_UNKNOWN if outcome.problem else 0


def _rule_of(outcome: Any) -> str:
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

    Prints twin by way (six races, exhaustive, random, PCT) with schedules and seconds to the first
    finding and the rule that found it. Exit status 1 if one escapes or the reference has a finding.
    """
    from .twins import TwinCheck, load_twins, run_twins

    check = TwinCheck(seconds=seconds, seed=seed, reference_schedules=reference_schedules)
    return run_twins(load_twins(names), check, as_json=as_json)


__all__ = ["explore", "replay", "twins"]
