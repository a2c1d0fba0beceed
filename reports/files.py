"""A run's folder: written whole or not at all, and read back.

Everything but ``verdict.json`` and ``history.jsonl`` can be made again from these two.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from leaserace.harness.contract import UsageError
from leaserace.harness.history import History, InvalidHistory, encode
from leaserace.harness.outcome import InvalidOutcome, RunOutcome

from .junit import junit_xml
from .markdown import summary_md
from .picture import Picture, pictures
from .sarif import sarif_json
from .story import telling
from .trace import trace_json

LATEST = "latest"
VERDICT = "verdict.json"
HISTORY = "history.jsonl"

Races = Mapping[str, Picture]
Maker = Callable[[RunOutcome, Races], bytes]


def _report_html(outcome: RunOutcome, races: Races) -> bytes:
    """The page; imported only here, for the templates it brings."""
    from .page import report_html

    return report_html(outcome, races)


MAKERS: dict[str, Maker] = {
    VERDICT: lambda outcome, _: outcome.to_json(),
    "junit.xml": junit_xml,
    "summary.md": lambda outcome, races: summary_md(outcome, races).encode(),
    "trace.json": trace_json,
    "results.sarif": lambda outcome, _: sarif_json(outcome),
    "report.html": _report_html,
}
"""File name to what makes its bytes, in the order they are written."""
CHARTS = "charts"


def _charts(outcome: RunOutcome, races: Races) -> dict[str, bytes]:
    """Pictures for other documents: contention, and the timeline of what went wrong first."""
    from .charts import charts

    made = {f"{CHARTS}/{name}.svg": svg.encode() for name, svg in charts(races).items()}
    for race, finding in telling(outcome.races)[:1]:
        if race.race in races:
            from .timeline import timeline_image

            made[f"{CHARTS}/timeline.svg"] = timeline_image(races[race.race], [finding])
    return made


def _one(name: str) -> Callable[[RunOutcome, Races], dict[str, bytes]]:
    return lambda outcome, races: {name: MAKERS[name](outcome, races)}


def write_all(
    outcome: RunOutcome,
    history: History,
    folder: Path,
    *,
    only: Iterable[str] | None = None,
    latest: bool = True,
) -> list[Path]:
    """Write a run's files into its folder; an existing ``history.jsonl`` is left as recorded.

    Args:
        outcome: The run.
        history: Its events.
        folder: The run's folder; made if absent.
        only: Names out of `MAKERS`, and ``charts`` for the folder of pictures; None for all.
        latest: Let ``latest`` beside the folder point at it.

    Returns:
        The files written, in order.

    Raises:
        UsageError: The folder can't be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        if not (folder / HISTORY).exists():
            written.append(_write(folder / HISTORY, (encode(event) for event in history)))
        written += write_reports(outcome, pictures(history), folder, only=only)
        if latest:
            point_latest(folder)
    except OSError as error:
        raise UsageError(f"report folder {str(folder)!r} can't be written to: {error}") from error
    return written


def write_reports(
    outcome: RunOutcome, races: Races, folder: Path, *, only: Iterable[str] | None = None
) -> list[Path]:
    """Write all that can be made from an outcome and its pictures.

    Args:
        outcome: The run.
        races: Race name to its picture.
        folder: Where; it exists.
        only: As in `write_all`.

    Raises:
        OSError: The folder can't be written to.
    """
    written = []
    for name in [*MAKERS, CHARTS] if only is None else only:
        make = _charts if name == CHARTS else _one(name)
        written += [_write(folder / part, [data]) for part, data in make(outcome, races).items()]
    return written


def _write(path: Path, parts: Iterable[bytes]) -> Path:
    """Write a file so that a reader sees the old one or the new one, never a half."""
    path.parent.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def point_latest(folder: Path) -> None:
    """Let ``latest`` beside the folder lead to it: a link, or a text file where links can't be made.

    A folder of that name is somebody's own and stays.
    """
    link = folder.parent / LATEST
    if folder.name == LATEST or (link.is_dir() and not link.is_symlink()):
        return
    new = folder.parent / f".{LATEST}.{os.getpid()}"
    try:
        with contextlib.suppress(FileNotFoundError):
            new.unlink()
        new.symlink_to(folder.name, target_is_directory=True)
        new.replace(link)
    except (OSError, NotImplementedError):
        new.unlink(missing_ok=True)
        _write(link, [folder.name.encode() + b"\n"])


def run_folder(path: Path) -> Path:
    """The run's folder behind a folder, a ``latest`` of either kind, or a ``history.jsonl``.

    Raises:
        UsageError: There is nothing of that name.
    """
    if path.is_dir():
        return path
    if path.name == LATEST and path.is_file():
        return path.parent / path.read_text(encoding="utf-8").strip()
    if path.name == HISTORY and path.is_file():
        return path.parent
    if path.exists():
        raise UsageError(f"{str(path)!r} is no run's folder: give the folder that holds {HISTORY}")
    raise UsageError(f"there is no {str(path)!r}: run leaserace gate first, or name a run's folder")


def read_outcome(folder: Path) -> RunOutcome:
    """The outcome in a run's folder.

    Raises:
        UsageError: There is none, or it is broken.
    """
    path = folder / VERDICT
    try:
        return RunOutcome.from_json(path.read_bytes(), str(path))
    except FileNotFoundError as error:
        raise UsageError(f"{str(folder)!r} is no run's folder: {VERDICT} is missing") from error
    except (InvalidOutcome, OSError) as error:
        raise UsageError(f"{str(path)!r} can't be read: {error}") from error


def read_run(path: Path) -> tuple[RunOutcome, History]:
    """Read a run back, history and all.

    Args:
        path: Its folder, or a ``latest`` that leads to it.

    Raises:
        UsageError: There is no run in it, or one of its files is broken.
    """
    folder = run_folder(path)
    outcome = read_outcome(folder)
    try:
        return outcome, History.load(folder / HISTORY)
    except FileNotFoundError as error:
        raise UsageError(f"{str(folder)!r} is no run's folder: {HISTORY} is missing") from error
    except (InvalidHistory, OSError) as error:
        raise UsageError(f"{str(folder / HISTORY)!r} can't be read: {error}") from error
