"""Files of events, line by line: a million lines are read in the memory of one.

A crash leaves a line that is cut off at the end of a file; it is left out and said. Anything else that
is no event, or can't stand where it stands, is an error that names the file and the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from .history import (
    VERSION,
    AnyEvent,
    InvalidHistory,
    MarkEvent,
    OpEvent,
    Pairer,
    decode,
)

LINE_BYTES_MAX = 16 * 1024 * 1024
"""A longer line is no event of ours, and is not read into memory to find out."""


class Lines:
    """The events of one file, read as they are asked for.

    Args:
        path: The file.

    Attributes:
        number: Number of the line the last event came from.
        notices: What was noticed, one sentence each; complete once all events are read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        self.notices: list[str] = []

    @property
    def where(self) -> str:
        """File and line of the last event."""
        return f"{self.path.name}:{self.number}"

    def __iter__(self) -> Iterator[AnyEvent]:
        """Read from the beginning.

        Raises:
            InvalidHistory: A line that is not the last is no event.
            OSError: The file can't be read.
        """
        broken: InvalidHistory | None = None
        cut = b""
        for number, line in self._numbered():
            if broken is not None:
                raise broken
            self.number = number
            try:
                event = decode(line, self.where)
            except InvalidHistory as error:
                broken, cut = error, line
            else:
                yield event
        if broken is not None:
            self.notices.append(
                f"{self.path.name}: the last line is cut off ({len(cut)} bytes) and was left out"
            )

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """Lines that are not blank, with their numbers."""
        number = 0
        with self.path.open("rb") as file:
            while line := file.readline(LINE_BYTES_MAX):
                number += 1
                if len(line) == LINE_BYTES_MAX:
                    raise InvalidHistory(
                        f"{self.path.name}:{number}: longer than {LINE_BYTES_MAX} bytes: no event"
                    )
                line = line.strip()
                if line:
                    yield number, line


class Check:
    """The rules every history keeps, one event at a time: pairs, order of time, version."""

    def __init__(self) -> None:
        self._pairer = Pairer()
        self._latest: dict[str, int] = {}

    def feed(self, event: AnyEvent) -> None:
        """Take the next event in.

        Raises:
            InvalidHistory: It breaks a rule.
        """
        latest = self._latest.get(event.race, event.t)
        if event.t < latest:
            raise InvalidHistory(
                f"time goes back from {latest} to {event.t} ns (race {event.race or 'unnamed'!r})"
            )
        self._latest[event.race] = event.t
        if isinstance(event, OpEvent):
            self._pairer.feed(event)
        elif isinstance(event, MarkEvent):
            self._mark(event)

    def _mark(self, event: MarkEvent) -> None:
        if event.name == "race.begin":
            version = event.data.get("version", VERSION)
            if version != VERSION:
                raise InvalidHistory(
                    f"it is of version {version!r}; this leaserace reads version {VERSION}"
                )
        elif event.name == "race.end":
            self._pairer.forget(event.race)


def validated(lines: Lines) -> Iterator[AnyEvent]:
    """The events of a file, each checked before it is given out.

    Raises:
        InvalidHistory: At the first line that breaks a rule; the message names file and line.
        OSError: The file can't be read.
    """
    check = Check()
    for event in lines:
        try:
            check.feed(event)
        except InvalidHistory as error:
            raise InvalidHistory(f"{lines.where}: {error}") from error
        yield event


def validate(events: Iterable[AnyEvent]) -> None:
    """Check events that are in memory.

    Raises:
        InvalidHistory: At the first event that breaks a rule; the message gives its place.
    """
    check = Check()
    for place, event in enumerate(events, start=1):
        try:
            check.feed(event)
        except InvalidHistory as error:
            raise InvalidHistory(f"event {place}: {error}") from error
