"""What a person sees of a run: progress while it goes on, then the table and the stories."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from leaserace.harness.outcome import CanaryResult, RunOutcome
from leaserace.harness.verdict import RaceResult, Verdict
from leaserace.harness.watcher import Silent, Watcher

from .story import Races, leading, picture_of, story_text, tell_picture, telling
from .table import table_text
from .text import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

STORIES_MAX = 3
"""Stories told on a terminal; the rest stands in the run's files."""
WIDTH_PIPE = 100


class Line:
    """One live line: how many races are done, which one runs, what was found so far.

    Args:
        progress: Where it is drawn.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def begin(self, races: int) -> None:
        """A run of so many races begins."""
        self._task = self._progress.add_task("feeding the canary", total=races)

    def racing(self, name: str) -> None:
        """A race begins."""
        if self._task is not None:
            self._progress.update(self._task, description=visible(name))

    def raced(self, result: RaceResult) -> None:
        """A race ended; one that is not green leaves a line of its own."""
        if self._task is not None:
            self._progress.advance(self._task)
        if result.verdict in (Verdict.INVALID, Verdict.UNKNOWN):
            finding = leading(result)
            why = result.reason if finding is None else finding.message
            self._progress.console.print(
                f"{result.race}: {result.verdict}: {visible(why)}", markup=False, highlight=False
            )

    def canary(self, result: CanaryResult) -> None:
        """The canary was fed."""
        said = f"caught in {result.seconds:.1f} s" if result.caught else "NOT CAUGHT"
        self._progress.console.print(f"canary {result.twin}: {said}", markup=False, highlight=False)


@contextmanager
def live(stream: TextIO | None = None) -> Iterator[Watcher]:
    """Progress on stderr while the block runs; none where stderr is no terminal.

    Args:
        stream: Where it is drawn; None for stderr.
    """
    stream = stream or sys.stderr
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        yield Line(progress)


def print_outcome(outcome: RunOutcome, races: Races, folder: Path) -> None:
    """Print the table, the story of what failed, and where the files are, on stdout.

    Args:
        outcome: The run.
        races: Its history, or race names to their pictures.
        folder: The run's folder.
    """
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((WIDTH_PIPE, 24)).columns if terminal else WIDTH_PIPE
    colour = terminal and not os.environ.get("NO_COLOR")
    _say(table_text(outcome, width=width, colour=colour))
    for text in stories(outcome, races, width=width):
        _say(text)
    _say(f"Everything recorded: {shown_path(folder)}")


def _say(text: str) -> None:
    """Print; what the terminal's encoding lacks is written as an escape."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))  # noqa: T201


def stories(outcome: RunOutcome, races: Races, *, width: int) -> Iterator[str]:
    """The stories of the first races that failed, one a race, the most telling finding of each.

    Args:
        outcome: The run.
        races: Its history, or race names to their pictures.
        width: Columns of the terminal.
    """
    failing = telling(outcome.races)
    for race, finding in failing[:STORIES_MAX]:
        yield story_text(tell_picture(race, finding, picture_of(races, race.race)), width=width)
    if len(failing) > STORIES_MAX:
        yield f"{len(failing) - STORIES_MAX} more races failed; summary.md tells each.\n"


def shown_path(folder: Path) -> str:
    """The folder as a person would type it from here."""
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)
