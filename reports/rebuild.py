"""Everything again from a recorded run: also from an old one, and from its history alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from leaserace.harness.contract import UsageError
from leaserace.harness.history import AnyEvent, InvalidHistory
from leaserace.harness.lines import Lines
from leaserace.harness.outcome import RunOutcome

from .files import HISTORY, VERDICT, read_outcome, run_folder, write_reports
from .picture import Picture, pictures
from .story import telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """A run, read back.

    Args:
        outcome: What was said of it, or what the rules say now if nothing was.
        races: Race name to its picture.
        folder: Where its history is.
        notices: What was noticed while reading, one sentence each.
    """

    outcome: RunOutcome
    races: dict[str, Picture]
    folder: Path
    notices: tuple[str, ...] = ()


def read_back(path: Path) -> Rebuilt:
    """Read a run; a history without its verdict is judged again.

    Args:
        path: The run's folder, a ``latest``, or its ``history.jsonl``.

    Raises:
        UsageError: There is no run in it, or one of its files is broken.
    """
    folder = run_folder(path)
    notices: tuple[str, ...] = ()
    if (folder / VERDICT).exists():
        outcome = read_outcome(folder)
    else:
        outcome = _judged(folder / HISTORY)
        notices = (f"{VERDICT} was missing: the history was judged again",)
    lines = Lines(folder / HISTORY)
    races = pictures(events(lines))
    return Rebuilt(outcome=outcome, races=races, folder=folder, notices=(*notices, *lines.notices))


def events(lines: Lines) -> Iterator[AnyEvent]:
    """The events of a file, one at a time.

    Raises:
        UsageError: The file can't be read, or a line is no event; it names file and line.
    """
    try:
        yield from lines
    except FileNotFoundError as error:
        folder = str(lines.path.parent)
        raise UsageError(f"{folder!r} is no run's folder: {lines.path.name} is missing") from error
    except (InvalidHistory, OSError) as error:
        raise UsageError(f"{str(lines.path)!r} can't be read: {error}") from error


def _judged(history: Path) -> RunOutcome:
    if not history.exists():
        folder = str(history.parent)
        raise UsageError(f"{folder!r} is no run's folder: {VERDICT} and {HISTORY} are missing")
    recorded = importlib.import_module("leaserace.harness.judge.recorded")
    outcome: RunOutcome = recorded.judge_history(history).outcome
    return outcome


def rebuild(run: Rebuilt, into: Path) -> list[Path]:
    """Write every report of a run.

    Args:
        run: The run.
        into: The folder to write to; made if absent.

    Raises:
        UsageError: It can't be written to.
    """
    return _written(into, lambda: write_reports(run.outcome, run.races, into))


def write_image(run: Rebuilt, into: Path) -> list[Path]:
    """Write the timeline as PNG: of the first failing race, else of the first race.

    Args:
        run: The run.
        into: The folder to write to; made if absent.
    """
    from .timeline import timeline_image

    failing = [(race.race, [finding]) for race, finding in telling(run.outcome.races)]
    wanted = [each for each in failing if each[0] in run.races]
    wanted += [(name, []) for name, picture in run.races.items() if picture.operations]
    if not wanted:
        raise UsageError(f"{str(run.folder)!r}: the history has no operations to draw")
    name, findings = wanted[0]
    path = into / "timeline.png"

    def write() -> list[Path]:
        path.write_bytes(timeline_image(run.races[name], findings, form="png"))
        return [path]

    return _written(into, write)


def write_frames(run: Rebuilt, into: Path, *, parquet: bool) -> list[Path]:
    """Write the frames, as CSV or as Parquet, from the stream of the history.

    Args:
        run: The run.
        into: The folder to write to; made if absent.
        parquet: Parquet instead of CSV.

    Raises:
        UsageError: The extra ``parquet`` is not installed, or the folder can't be written to.
    """
    from .frames import export_csv, export_parquet

    export = export_parquet if parquet else export_csv
    stream = events(Lines(run.folder / HISTORY))
    return _written(into, lambda: export(stream, into / "frames"))


def _written(into: Path, write: Callable[[], list[Path]]) -> list[Path]:
    try:
        into.mkdir(parents=True, exist_ok=True)
        return write()
    except OSError as error:
        raise UsageError(f"{str(into)!r} can't be written to: {error}") from error
