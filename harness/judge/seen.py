"""What a log turned out to hold: how much, from when to when, how orderly."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import msgspec


class Seen(msgspec.Struct):
    """What a log, or a part of it, turned out to hold.

    Args:
        lines: How many lines there were.
        fine: How many of them could be read, whatever they mean.
        rows: How many rows came of them.
        first_ns, last_ns: Earliest and latest time.
        begin_ns, end_ns: Time of the first and of the last row, as they stand in the file.
        resolution_ns: What every time is a multiple of: a second, a millisecond, …
        backwards: How many lines were older than the one before them.
        furthest_back_ns: By how much at most, and where first (`back_line`).
        last_line: The last line that gave a row.
    """

    lines: int = 0
    fine: int = 0
    rows: int = 0
    first_ns: int = 0
    last_ns: int = 0
    begin_ns: int = 0
    end_ns: int = 0
    resolution_ns: int = 10**9
    backwards: int = 0
    furthest_back_ns: int = 0
    back_line: int = 0
    last_line: int = 0

    def back(self, by_ns: int, line: int) -> None:
        """A line came that is older than the one before it."""
        self.backwards += 1
        self.back_line = self.back_line or line
        self.furthest_back_ns = max(self.furthest_back_ns, by_ns)

    def add(self, t: int, rows: int, line: int) -> None:
        """A line of this time came, with so many rows."""
        if t < self.end_ns:
            self.back(self.end_ns - t, line)
            self.first_ns = min(self.first_ns, t)
        elif t > self.last_ns:
            self.last_ns = t
        if not self.rows:
            self.begin_ns = self.first_ns = t
        self.rows += rows
        self.end_ns = t
        self.last_line = line
        while t % self.resolution_ns:
            self.resolution_ns //= 1000

    def add_all(self, times: Sequence[int], first_line: int) -> None:
        """Lines of these times came, one after the other, each with one row.

        Args:
            times: At least one.
            first_line: Number of the first.
        """
        before = [self.end_ns, *times[:-1]]
        if any(map(operator.lt, times, before)):
            for line, (t, last_ns) in enumerate(zip(times, before, strict=True), start=first_line):
                if t < last_ns:
                    self.back(last_ns - t, line)
        first_ns, last_ns = min(times), max(times)
        if not self.rows:
            self.begin_ns = self.first_ns = times[0]
        self.first_ns = min(self.first_ns, first_ns)
        self.last_ns = max(self.last_ns, last_ns)
        self.rows += len(times)
        self.end_ns = times[-1]
        self.last_line = first_line + len(times) - 1
        while math.gcd(*times) % self.resolution_ns:
            self.resolution_ns //= 1000

    def merge(self, other: Seen) -> None:
        """Take in what a later part of the file held."""
        if other.rows and self.rows and other.begin_ns < self.end_ns:
            self.back(self.end_ns - other.begin_ns, self.lines + 1)
        self.backwards += other.backwards
        if other.back_line:
            self.back_line = self.back_line or other.back_line + self.lines
        self.furthest_back_ns = max(self.furthest_back_ns, other.furthest_back_ns)
        if other.rows:
            self.first_ns = min(self.first_ns or other.first_ns, other.first_ns)
            self.begin_ns = self.begin_ns or other.begin_ns
            self.end_ns = other.end_ns
            self.last_line = self.lines + other.last_line
        self.last_ns = max(self.last_ns, other.last_ns)
        self.resolution_ns = min(self.resolution_ns, other.resolution_ns)
        self.lines += other.lines
        self.fine += other.fine
        self.rows += other.rows


__all__ = ["Seen"]
