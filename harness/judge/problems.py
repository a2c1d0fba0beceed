"""What could not be read of a log, counted, with the first few kept word for word."""

from __future__ import annotations

from collections import Counter

import msgspec

from ..contract import UsageError

KEPT = 5
"""Sentences kept."""
GIVE_UP_AFTER = 10_000
"""So many unreadable lines in a row, and the rest is left alone."""


class BadLine(Exception):  # noqa: N818 - it is what the line is
    """A line, or a field of it, can't be used; the message names the field, not the place."""


class Problems(msgspec.Struct, kw_only=True):
    """Unreadable lines of one file, or of a part of it.

    Args:
        name: The file's name, as errors give it.
        first_line: Number of the first unreadable line, 0 if there is none.
        count: How many lines were unreadable.
        said: Line and sentence of the first few.
        gave_up_at: Line at which reading was given up, or 0.
    """

    name: str
    first_line: int = 0
    count: int = 0
    said: list[tuple[int, str]] = []
    gave_up_at: int = 0
    in_a_row: int = 0
    last: int = 0

    def add(self, line: int, what: str) -> bool:
        """Note an unreadable line; True if reading should be given up."""
        self.in_a_row = self.in_a_row + 1 if line == self.last + 1 else 1
        self.last = line
        self.count += 1
        self.first_line = self.first_line or line
        if len(self.said) < KEPT:
            self.said.append((line, what))
        if self.in_a_row >= GIVE_UP_AFTER:
            self.gave_up_at = line
            return True
        return False

    def merge(self, other: Problems, lines_before: int) -> None:
        """Take in what was wrong in a later part of the file."""
        if not other.count:
            return
        self.count += other.count
        self.first_line = self.first_line or other.first_line + lines_before
        moved = [(line + lines_before, what) for line, what in other.said]
        self.said = [*self.said, *moved][:KEPT]
        if other.gave_up_at:
            self.gave_up_at = self.gave_up_at or other.gave_up_at + lines_before

    def sentences(self) -> list[str]:
        """The first few, each with file and line."""
        return [f"{self.name}:{line}: {what}" for line, what in self.said]

    def must_have(self, usable: int) -> None:
        """Give up where nothing could be used.

        Raises:
            UsageError: One line: the first thing that was wrong.
        """
        if usable:
            return
        said = self.sentences()
        first = said[0] if said else f"{self.name}: no line means anything by the mapping"
        more = f" (and {self.count - 1:,} more lines that can't be read)" if self.count > 1 else ""
        raise UsageError(f"{first}{more}")

    def notices(self) -> list[str]:
        """What a reader of the verdict must know, one sentence each."""
        if not self.count:
            return []
        lines = "1 line" if self.count == 1 else f"{self.count:,} lines"
        first, *others = self.sentences()
        told = (
            f"{first}. From line {self.first_line:,} on the log could only be read in part "
            f"({lines} left out), so the verdict is at best unknown."
        )
        gave_up = (
            [
                f"Reading was given up at line {self.gave_up_at:,}, after {GIVE_UP_AFTER:,} such lines."
            ]
            if self.gave_up_at
            else []
        )
        return [told, *gave_up, *others]


class Left(msgspec.Struct):
    """Lines that were read and left out on purpose, counted by reason."""

    events: dict[str, int] = {}
    no_recipient: int = 0

    def event(self, name: str, most: int) -> None:
        """A line whose event the mapping leaves out; at most so many names are kept apart."""
        if name in self.events or len(self.events) < most:
            self.events[name] = self.events.get(name, 0) + 1

    def merge(self, other: Left) -> None:
        """Take in what was left out of another part of the file."""
        self.events = dict(Counter(self.events) + Counter(other.events))
        self.no_recipient += other.no_recipient

    def notices(self) -> list[str]:
        """What was left out, one sentence each."""
        told = []
        if self.events:
            most = Counter(self.events).most_common(6)
            names = ", ".join(f"{name or '(none)'} {count:,}" for name, count in most)
            told.append(f"Lines whose event the mapping leaves out: {names}.")
        if self.no_recipient:
            told.append(f"{self.no_recipient:,} lines name no recipient and were left out.")
        return told


__all__ = ["BadLine", "Left", "Problems"]
