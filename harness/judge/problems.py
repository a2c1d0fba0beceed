"""What could not be read of a log, counted, with the first of each kind kept word for word."""

from __future__ import annotations

from collections import Counter

from ..contract import UsageError

KEPT = 5
"""Sentences kept."""
GIVE_UP_AFTER = 10_000
"""So many unreadable lines in a row, and the rest is left alone."""


class BadLine(Exception):  # noqa: N818 - it is what the line is
    """A line, or a field of it, can't be used; the message names the field, not the place."""


class Problems:
    """Unreadable lines of one file.

    Args:
        name: The file's name, as errors give it.

    Attributes:
        first_line: Number of the first unreadable line, 0 if there is none.
        count: How many lines were unreadable.
        said: The first few sentences, each with file and line.
        gave_up_at: Line at which reading was given up, or 0.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.first_line = 0
        self.count = 0
        self.said: list[str] = []
        self.gave_up_at = 0
        self._in_a_row = 0
        self._last = 0

    def add(self, line: int, what: str) -> bool:
        """Note an unreadable line; True if reading should be given up."""
        self._in_a_row = self._in_a_row + 1 if line == self._last + 1 else 1
        self._last = line
        self.count += 1
        self.first_line = self.first_line or line
        if len(self.said) < KEPT:
            self.said.append(f"{self.name}:{line}: {what}")
        if self._in_a_row >= GIVE_UP_AFTER:
            self.gave_up_at = line
            return True
        return False

    def must_have(self, usable: int) -> None:
        """Give up where nothing could be used.

        Raises:
            UsageError: One line: the first thing that was wrong.
        """
        if usable:
            return
        first = self.said[0] if self.said else f"{self.name}: no line means anything by the mapping"
        more = f" (and {self.count - 1:,} more lines like it)" if self.count > 1 else ""
        raise UsageError(f"{first}{more}")

    def notices(self) -> list[str]:
        """What a reader of the verdict must know, one sentence each."""
        if not self.count:
            return []
        lines = "1 line" if self.count == 1 else f"{self.count:,} lines"
        told = (
            f"{self.said[0]}. From line {self.first_line:,} on the log could only be read in part "
            f"({lines} left out), so the verdict is at best unknown."
        )
        gave_up = (
            [f"Reading was given up at line {self.gave_up_at:,}: nothing before it was readable."]
            if self.gave_up_at
            else []
        )
        return [told, *gave_up, *self.said[1:]]


class Left:
    """Lines that were read and left out on purpose, counted by reason."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.no_recipient = 0

    def notices(self) -> list[str]:
        """What was left out, one sentence each."""
        told = []
        if self.events:
            names = ", ".join(
                f"{name or '(none)'} {count:,}" for name, count in self.events.most_common(6)
            )
            told.append(f"Lines whose event the mapping leaves out: {names}.")
        if self.no_recipient:
            told.append(f"{self.no_recipient:,} lines name no recipient and were left out.")
        return told


__all__ = ["BadLine", "Left", "Problems"]
