"""Fills the columns of the frames, one thing at a time, keeping nothing but the columns."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from leaserace.harness.history import AuditEvent, Operation

from .leases import LeaseSpan
from .picture import Arrival, FaultSpan, Picture, intent_of, message_of, token_of
from .schema import COLUMNS, MS
from .waits import Streaks, Waits


class Table:
    """Columns of one frame, filled row by row.

    Args:
        name: The frame.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.cells: dict[str, Any] = {}
        self.rows = 0
        self.clear()

    def clear(self) -> None:
        """Forget all rows."""
        kinds = {column: kind for column, (kind, _) in COLUMNS[self.name].items()}
        self.cells = {name: array("d") if kind == MS else [] for name, kind in kinds.items()}
        self._adders = tuple(cells.append for cells in self.cells.values())
        self.rows = 0

    def add(self, *row: Any) -> None:
        """Add one row, in the order of the columns."""
        for add, value in zip(self._adders, row, strict=True):
            add(value)
        self.rows += 1


class Filler:
    """Tables of a history.

    Args:
        chunk_rows: How many rows of one frame to hold; None for all.
        full: Called with a table that holds so many; it is cleared afterwards.
    """

    def __init__(
        self, *, chunk_rows: int | None = None, full: Callable[[Table], None] | None = None
    ) -> None:
        self.tables = {name: Table(name) for name in COLUMNS}
        self._chunk_rows = chunk_rows
        self._full = full
        self._zero_ns: int | None = None
        self._waits: dict[str, Waits] = {}
        self._streaks: dict[str, Streaks] = {}
        self._waited_ns: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._arrived: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def begin(self, t_ns: int) -> None:
        """Where times count from; the first call decides."""
        if self._zero_ns is None:
            self._zero_ns = t_ns

    def picture(self, picture: Picture) -> None:
        """Everything of one race that is a picture already."""
        self.begin(picture.begin_ns)
        ended = sorted(picture.operations, key=_ended_ns)
        arrivals = iter([*picture.arrivals, None])
        arrival = next(arrivals)
        for op in ended:
            while arrival is not None and arrival.t_ns <= _ended_ns(op):
                self.arrival(picture.race, arrival)
                arrival = next(arrivals)
            self.operation(picture.race, op)
        while arrival is not None:
            self.arrival(picture.race, arrival)
            arrival = next(arrivals)
        self.rest(picture)

    def rest(self, picture: Picture) -> None:
        """What is known of a race only at its end."""
        for span in picture.leases:
            self._lease(picture.race, span)
        for fault in picture.faults:
            self._fault(picture.race, fault)
        for event in picture.decisions:
            self._decision(picture.race, event)

    def operation(self, race: str, op: Operation) -> None:
        """An operation that ended, or never will."""
        waited_ns = self._waits.setdefault(race, Waits()).feed(op)
        if waited_ns is not None:
            self._waited_ns[race][op.op] = waited_ns
        begin_ms, end_ms = self._ms(op.invoked_ns), self._ms(op.completed_ns)
        self._add(
            "operations",
            race,
            op.op,
            op.agent,
            op.process,
            op.contact,
            op.f,
            _text(op.args.get("address") or message_of(op).get("to")),
            op.type.value,
            _text(op.code),
            _whole(token_of(op)),
            begin_ms,
            end_ms,
            end_ms - begin_ms,
        )
        if op.f == "send":
            self._send(race, op, begin_ms, end_ms)
        repeat = self._streaks.setdefault(race, Streaks()).feed(op)
        if repeat:
            self._refusal(race, op, repeat)

    def _send(self, race: str, op: Operation, begin_ms: float, end_ms: float) -> None:
        intent = intent_of(op)
        self._add(
            "sends",
            race,
            op.op,
            op.agent,
            op.contact,
            intent,
            _text(message_of(op).get("key")),
            _whole(token_of(op)),
            op.type.value,
            _text(op.code),
            _text(op.answer.get("message_id")),
            bool(op.answer.get("replay")),
            self._arrived[race][intent],
            begin_ms,
            end_ms,
        )

    def _refusal(self, race: str, op: Operation, repeat: int) -> None:
        self._add(
            "refusals",
            race,
            op.op,
            op.agent,
            op.contact,
            op.f,
            str(op.code),
            _text(op.answer.get("owner")),
            repeat,
            self._ms(op.completed_ns),
        )

    def arrival(self, race: str, arrival: Arrival) -> None:
        """A message that arrived."""
        self._arrived[race][arrival.intent] += 1
        self._add(
            "deliveries",
            race,
            self._ms(arrival.t_ns),
            arrival.intent,
            arrival.contact,
            arrival.agent,
            arrival.message_id,
            arrival.recipient,
            arrival.number,
            arrival.number > 1,
            arrival.replied,
        )

    def _lease(self, race: str, span: LeaseSpan) -> None:
        self._add(
            "leases",
            race,
            span.contact,
            span.agent,
            _whole(span.token),
            self._ms(span.begin_ns),
            self._ms(span.end_ns),
            (span.end_ns - span.begin_ns) / 1e6,
            self._waited_ns[race].pop(span.op, 0) / 1e6,
            span.ended_by,
            span.overlaps,
            len(span.renewals_ns),
            span.op,
        )

    def _fault(self, race: str, span: FaultSpan) -> None:
        self._add(
            "faults",
            race,
            span.agent,
            span.fault,
            span.point,
            self._ms(span.begin_ns),
            self._ms(span.end_ns),
            _json(span.detail),
        )

    def _decision(self, race: str, event: AuditEvent) -> None:
        value: Mapping[str, Any] = event.value
        self._add(
            "decisions",
            race,
            _whole(event.seq),
            _whole(value.get("at_ms")),
            *(_text(value.get(name)) for name in ("actor", "event", "key", "decision")),
            _whole(value.get("token")),
            _text(value.get("owner")),
            _words(value.get("reasons")),
            _text(value.get("message_id")),
            _text(value.get("idempotency_key")),
            _json(value.get("state")),
        )

    def _add(self, name: str, *row: Any) -> None:
        table = self.tables[name]
        table.add(*row)
        if self._full is not None and table.rows == self._chunk_rows:
            self._full(table)
            table.clear()

    def _ms(self, t_ns: int | None) -> float:
        return float("nan") if t_ns is None else (t_ns - (self._zero_ns or 0)) / 1e6


def _ended_ns(op: Operation) -> float:
    """When an operation ended; one that never did comes last."""
    return math.inf if op.completed_ns is None else op.completed_ns


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _words(value: object) -> str | None:
    return " ".join(map(str, value)) or None if isinstance(value, list | tuple) else _text(value)


def _whole(value: object) -> int | None:
    """A whole number that fits 64 bits; whatever else a history holds there is missing."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    return None


def _json(value: object) -> str | None:
    return msgspec.json.encode(value, order="sorted").decode() if value else None


__all__ = ["Filler", "Table"]
