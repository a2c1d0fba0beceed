"""What ``explore`` prints: figures, findings with their story, how a search ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from ..contract import Target
from .exhaust import Searched, bound_of, span_of
from .explore import Hit, Plan, Statistics
from .progress import figures
from .run import Runner
from .schedule import Schedule


def say_statistics(
    plan: Plan, found: Statistics, searched: Sequence[Searched], *, as_json: bool
) -> None:
    """What exploring came to, as figures.

    Args:
        plan: What was asked.
        found: What the draws came to.
        searched: What was searched to its end before.
        as_json: Print JSON.
    """
    if as_json:
        more = {
            "seed": plan.seed,
            "rate": found.rate,
            "searches": msgspec.to_builtins(list(searched)),
        }
        click.echo(json.dumps(found.to_json() | more, indent=2))
        return
    click.echo(f"{plan.target}: {figures(found)} (seed {plan.seed}, {found.seconds:.1f} s)")
    click.echo(f"  strategies  {_counts(found.by_strategy)}")
    click.echo(f"  policies    {_counts(found.by_policy)}")
    if searched:
        click.echo(f"  searched    {_searched(searched)}")
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


def _searched(searched: Sequence[Searched]) -> str:
    ended = [each for each in searched if each.exhausted]
    subjects = ", ".join(dict.fromkeys(each.subject for each in ended)) or "none"
    first = searched[0]
    return (
        f"{len(ended)} of {len(searched)} small searches to their end ({subjects}; "
        f"{span_of(first)})"
    )


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


class SearchesTold:
    """Says how exhaustive searches ended, one after the other, and what came of them all.

    Args:
        target: Name of the target.
        as_json: One JSON object a search, and no last line.
    """

    def __init__(self, *, target: str, as_json: bool) -> None:
        self._target = target
        self._as_json = as_json
        self._all: list[Searched] = []

    def show(self, searched: Searched) -> None:
        """Tell of one."""
        self._all.append(searched)
        if self._as_json:
            click.echo(msgspec.json.encode(searched).decode())
            return
        if not searched.begun:
            return
        click.echo(f"{searched.subject} under {searched.policy}: {bound_of(searched)}")
        click.echo(
            f"  {searched.schedules:,} schedules, {searched.states:,} states, "
            f"{searched.pruned:,} pruned, {searched.asleep:,} asleep, "
            f"exhausted: {'yes' if searched.exhausted else 'no'}, "
            f"{searched.seconds:.1f} s, {len(searched.hits)} findings"
        )
        if not searched.compared:
            click.echo("  the target shows no content(): states could not be compared")
        for problem in searched.problems:
            click.echo(f"  unknown: {problem}")
        for hit in searched.hits:
            click.echo(f"  {hit.rule}: {hit.message}")
            click.echo(f"  {replay_line(self._target, hit.schedule)}")

    def end(self) -> None:
        """Tell of all, and of what was left out."""
        if self._as_json:
            return
        ended = [each for each in self._all if each.exhausted]
        cut = [each for each in self._all if each.begun and not each.exhausted]
        left = [each for each in self._all if not each.begun]
        found = sum(bool(each.hits) for each in self._all)
        click.echo(
            f"{len(ended)} of {len(self._all)} searches came to their end, "
            f"{sum(each.schedules for each in self._all):,} schedules; "
            f"{found or 'none'} with a finding"
        )
        if cut:
            click.echo(f"  cut off      {_names(cut)}")
        if left:
            click.echo(f"  not begun    {_names(left)}")
        if cut or left:
            click.echo(
                "  what was left out is not known: give more --seconds or --schedules, or none"
            )


def _names(searches: list[Searched]) -> str:
    shown = ", ".join(f"{each.subject} under {each.policy}" for each in searches[:3])
    more = len(searches) - 3
    return f"{shown} and {more} more" if more > 0 else shown


__all__ = ["SearchesTold", "replay_line", "say_statistics", "tell_hit"]
