"""The command ``export``: a run's history in other checkers' forms."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import click

from .contract import UsageError
from .export import FORMS, write
from .history import AnyEvent, InvalidHistory
from .lines import Lines, validated

HISTORY_FILE = "history.jsonl"


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "forms",
    type=click.Choice(FORMS),
    multiple=True,
    help="Which checker; may be given again. Default all.",
)
@click.option("--race", default="", help="Only the race of this name.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the files go; default ``export`` beside the history.",
)
def export(*, run: Path, forms: tuple[str, ...], race: str, out: Path | None) -> int:
    """Write a run's history for Jepsen, Elle and Porcupine, so that others can check us.

    RUN is a run's folder or a history. Each race has a folder of its own. Elle's command line checks
    ``elle-tokens.json`` as list-append, ``set-sends.json`` as set and ``counter-sends.json`` as counter;
    the Go model for Porcupine is written beside its operations.
    """
    history = run / HISTORY_FILE if run.is_dir() else run
    races: dict[str, list[AnyEvent]] = defaultdict(list)
    try:
        for event in validated(Lines(history)):
            if event.race and (not race or event.race == race):
                races[event.race].append(event)
    except OSError as error:
        raise UsageError(f"{str(history)!r} can't be read: {error.strerror}") from error
    except InvalidHistory as error:
        raise UsageError(str(error)) from error
    if not races:
        raise UsageError(f"{str(history)!r} holds no race{f' called {race!r}' if race else ''}")
    target = out or history.parent / "export"
    for number, (name, events) in enumerate(races.items(), start=1):
        folder = target / f"{number:03}-{_slug(name)}"
        for path in write(events, folder, forms or FORMS):
            click.echo(str(path))
    return 0


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "race"


__all__ = ["export"]
