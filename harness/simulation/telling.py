"""What ``explore`` prints: figures, findings with their story, how a search ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..contract import Target
from .explore import Hit, Plan, Statistics
from .progress import figures
from .run import Runner
from .schedule import Schedule
from .search import SearchResult


def say_statistics(plan: Plan, found: Statistics, *, as_json: bool) -> None:
    """What exploring came to, as figures."""
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


def tell_hit(target: Target, name: str, hit: Hit, policy_file: Path | None) -> None:
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


def show_search(*, as_json: bool, target: str) -> Callable[[SearchResult], None]:
    """What says how an exhaustive search ended."""
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


__all__ = ["replay_line", "say_statistics", "show_search", "tell_hit"]
