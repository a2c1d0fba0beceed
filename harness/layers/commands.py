"""The command ``layers``: which layer stops which duplicate."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path

import click

from ..contract import UsageError
from ..habits import HABITS, habit
from ..judge.progress import progress
from .cell import rows_of
from .matrix import Matrix, measured, to_csv, to_json
from .parts import load_parts
from .table import table_text

SENDS = 72
"""Every kind of trouble at every place, for both kinds of mail."""
WIDTH_PIPE = 100
EXIT_FAILED = 1


@click.command(name="layers")
@click.option(
    "--sends",
    type=click.IntRange(20, 1_000_000),
    default=SENDS,
    show_default=True,
    help="Logical sends a cell.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of every draw.")
@click.option(
    "--habit",
    "habits",
    multiple=True,
    metavar="NAME",
    help="Only agents with this habit; may be given again.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write layers.csv, layers.json and layers.png there.",
)
@click.option("--json", "as_json", is_flag=True, help="Print layers.json on stdout.")
def layers(
    *, sends: int, seed: int, habits: tuple[str, ...], out: Path | None, as_json: bool
) -> int:
    """Say which layer stops which duplicate: habits of agents against the layers around a send.

    Each cell runs so many logical sends in the simulator, against the reference itself, by an agent
    with one habit. With each send one thing goes wrong: a reply is lost, the receiving side says
    nothing, the process crashes, or the task is handed out twice. The figure is how many messages
    reached a person a second time, per 1,000 logical sends.

    Layers: the idempotency key at the mailbox, the application's sent-table, checkpoints, the lease,
    the cooldown. One that is off does nothing and changes no other. Exit status 1 if one of the
    statements below the table does not hold.

    \b
    leaserace layers
    leaserace layers --habit uuid-per-call --habit new-run-id --sends 1000
    leaserace layers --out charts            the heat map and the figures
    """  # noqa: D301 - click reads \b as "leave these lines as they are"
    chosen = [habit(name) for name in dict.fromkeys(habits)] or list(HABITS.values())
    parts = load_parts()
    with progress() as tell:
        found = measured(parts, rows_of(chosen), sends=sends, seed=seed, tell=tell)
    if out is not None:
        _write(found, out)
    if as_json:
        click.echo(to_json(found).decode(), nl=False)
    else:
        _show(found)
        if out is not None:
            click.echo(f"\nfiles  {out}: layers.csv, layers.json, layers.png")
    return EXIT_FAILED if any(claim.holds is False for claim in found.claims) else 0


def _show(found: Matrix) -> None:
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((WIDTH_PIPE, 24)).columns if terminal else WIDTH_PIPE
    colour = terminal and not os.environ.get("NO_COLOR")
    click.echo(table_text(found, width=width, colour=colour), nl=False)


def _write(found: Matrix, folder: Path) -> None:
    charts = importlib.import_module("leaserace.reports.layer_charts")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "layers.csv").write_text(to_csv(found), encoding="utf-8")
        (folder / "layers.json").write_bytes(to_json(found))
        (folder / "layers.png").write_bytes(charts.layers_image(found, form="png"))
    except OSError as error:
        raise UsageError(f"{str(folder)!r} can't be written to: {error.strerror}") from error


__all__ = ["layers"]
