"""How far a line's time may be off, and in which order lines are taken."""

from __future__ import annotations

import operator
from collections.abc import Callable
from collections.abc import Mapping as MappingOf
from typing import Any

from .mapping import Mapping
from .records import Record
from .skew import Offset


class Doubt:
    """Between which instants what a line tells may have happened.

    Args:
        mapping: Whose clock wrote the lines, what it was off by, how long calls took.
        resolution_ns: What every time of the log is a multiple of.
        offsets: Agent to how far its clock was ahead, where that is known.

    Attributes:
        by_commit: Whether the log tells its commit order; then lines are instants in that order.
        order: What records, as they stand in the log, are sorted by; the sort must be stable.
    """

    def __init__(
        self, mapping: Mapping, resolution_ns: int, offsets: MappingOf[str, Offset]
    ) -> None:
        self.by_commit = mapping.has("seq")
        self._offsets = offsets
        self._either_ns = int(mapping.time.uncertainty_s * 1e9)
        self._later_ns = resolution_ns - 1
        self._call_ns = int(mapping.time.call_s * 1e9) if mapping.time.says == "ended" else 0
        self.order = self._order()

    def _order(self) -> Callable[[Record], Any]:
        if self.by_commit:
            return lambda record: record.seq or 0
        if self._offsets:
            return self._by_corrected_time
        return operator.attrgetter("t")

    def _by_corrected_time(self, record: Record) -> int:
        offset = self._offsets.get(record.agent or "")
        return record.t - (offset.ahead_ns if offset else 0)

    def span(self, record: Record) -> tuple[int, int]:
        """Earliest and latest instant of what a line tells, in nanoseconds."""
        t = record.t
        if self.by_commit:
            return t, t
        either_ns = self._either_ns
        offset = self._offsets.get(record.agent or "") if self._offsets else None
        if offset is not None:
            t -= offset.ahead_ns
            either_ns += offset.either_ns
        begin_ns, end_ns = t - either_ns, t + either_ns + self._later_ns
        if record.store_ms is not None:
            store_ns = record.store_ms * 1_000_000
            begin_ns, end_ns = min(begin_ns, store_ns), max(end_ns, store_ns)
        return begin_ns, end_ns

    def whole(self, record: Record) -> tuple[int, int]:
        """The same for a line that tells a whole call: its begin may lie further back."""
        begin_ns, end_ns = self.span(record)
        if self.by_commit:
            return begin_ns, end_ns
        if record.started is not None:
            begin_ns = min(begin_ns, record.started - (record.t - begin_ns))
        return begin_ns - self._call_ns, end_ns


__all__ = ["Doubt"]
