"""The command ``report``: a recorded run, shown and written again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leaserace.harness.contract import UsageError

if TYPE_CHECKING:
    from .rebuild import Rebuilt

LATEST = Path(".leaserace") / "latest"


@click.command()
@click.argument("run", type=click.Path(path_type=Path), default=LATEST)
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write to.  [default: the run's own folder]",
)
@click.option("--open", "open_page", is_flag=True, help="Open report.html in the browser.")
@click.option("--csv", is_flag=True, help="Also write the frames as CSV, into frames/.")
@click.option(
    "--parquet", is_flag=True, help="Also write the frames as Parquet; needs leaserace[parquet]."
)
@click.option("--png", is_flag=True, help="Also write the timeline as timeline.png.")
@click.option(
    "--github",
    is_flag=True,
    help="Print annotations for GitHub Actions and add the summary to its step summary.",
)
@click.option("--json", "as_json", is_flag=True, help="Print verdict.json on stdout.")
def report(
    *,
    run: Path,
    into: Path | None,
    open_page: bool,
    csv: bool,
    parquet: bool,
    png: bool,
    github: bool,
    as_json: bool,
) -> int:
    """Show a recorded run again and rebuild its files from its history.

    RUN is the run's folder, by default the latest under .leaserace; a folder that has only a
    history.jsonl is judged again. The exit status is the verdict's.

    \b
    leaserace report                          the latest run
    leaserace report .leaserace/RUN --open    another one, in the browser
    leaserace report --csv --png              with tables and a picture
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    from . import rebuild

    made = rebuild.read_back(run)
    folder = into or made.folder
    rebuild.rebuild(made, folder)
    if csv:
        rebuild.write_frames(made, folder, parquet=False)
    if parquet:
        rebuild.write_frames(made, folder, parquet=True)
    if png:
        rebuild.write_image(made, folder)
    for notice in made.notices:
        click.echo(f"leaserace: {notice}", err=True)
    _show(made, folder, as_json=as_json, github=github)
    if open_page:
        click.launch(str((folder / "report.html").resolve()))
    return made.outcome.verdict.exit_status


def _show(made: Rebuilt, folder: Path, *, as_json: bool, github: bool) -> None:
    from .github import github_annotations
    from .show import print_outcome

    if github:
        click.echo(github_annotations(made.outcome), nl=False, err=as_json)
        _step_summary(folder / "summary.md")
    if as_json:
        click.echo(made.outcome.to_json().decode(), nl=False)
    else:
        print_outcome(made.outcome, made.races, folder)


def _step_summary(summary: Path) -> None:
    """Add the summary to the step summary that GitHub Actions shows, where there is one."""
    where = os.environ.get("GITHUB_STEP_SUMMARY")
    if not where:
        return
    try:
        with Path(where).open("a", encoding="utf-8") as file:
            file.write(summary.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"GITHUB_STEP_SUMMARY={where!r} can't be written to: {error}") from error
