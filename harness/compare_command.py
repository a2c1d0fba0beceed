"""The command ``compare``: two runs side by side."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
import msgspec

from .compare import Comparison, compare, read
from .contract import UsageError
from .verdict import Verdict


@click.command(name="compare")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="RUN [RUN]")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="The run to compare with; a regression against it exits with 1.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 100),
    default=0.25,
    show_default=True,
    help="By which share a wait may grow, beyond its interval, before it is a regression.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare_(
    *, runs: tuple[Path, ...], baseline: Path | None, tolerance: float, as_json: bool
) -> int:
    """Say which verdicts, rates and waits changed from one run to another, with intervals.

    A RUN is a run's folder or its verdict.json: before and after an agent was added, or a lease length
    changed. With --baseline the exit status is 1 on a regression, 4 where something that was valid
    can't be told any more.

    \b
    leaserace compare .leaserace/RUN1 .leaserace/RUN2
    leaserace compare .leaserace/latest --baseline main/verdict.json
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    wanted = 1 if baseline else 2
    if len(runs) != wanted:
        raise UsageError(
            "give two runs, or one run and --baseline RUN"
            if not baseline
            else f"with --baseline give one run, not {len(runs)}"
        )
    before = read(baseline or runs[0])
    comparison = compare(before, read(runs[-1]), tolerance=tolerance)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(comparison), indent=2))
    else:
        _print(comparison)
    return comparison.verdict.exit_status if baseline else Verdict.VALID.exit_status


def _print(comparison: Comparison) -> None:
    visible = importlib.import_module("leaserace.reports.text").visible
    click.echo(f"before: {visible(comparison.before)}\nafter:  {visible(comparison.after)}")
    for difference in comparison.differences:
        click.echo(f"  {visible(difference)}")
    for change in comparison.changes:
        click.echo(f"\n{change.grade.upper()}: {visible(change.what)}")
        click.echo(f"  before  {visible(change.before)}")
        click.echo(f"  after   {visible(change.after)}")
        if change.interval:
            click.echo(f"  change  {change.interval} (95 %)")
    regressions = comparison.count("regression")
    click.echo(
        f"\n{regressions} regressions, {comparison.count('unknown')} no longer known, "
        f"{comparison.count('changed')} changed, {comparison.count('better')} better; "
        f"{comparison.same} compared and not certainly changed"
    )


__all__ = ["compare_"]
