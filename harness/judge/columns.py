"""Many lines of a log at once, column by column: the way most lines go.

Where some lines are all as lines should be, their values are turned into rows without looking at each
by itself, which takes half the time. Where any of them is not (no object, a time that is none, several
recipients, an unknown code), None is said, and the lines are taken one by one: then what is wrong is
told with its line. Both ways give the same rows; a test holds them to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import values
from .decode import Found, JsonLines
from .lines import Chunk
from .problems import BadLine
from .records import CORE
from .times import NoTime, parsers

if TYPE_CHECKING:
    from .read import Reader, Row

SLOW_FIELDS = ("kind", "ttl_s", "duration_s")
"""Fields of the mapping that are worked out line by line."""


class Columns:
    """Turns chunks of lines into rows.

    Args:
        reader: Whose plans they follow, and whose counts they raise.
        lines: What decodes.
    """

    def __init__(self, reader: Reader, lines: JsonLines) -> None:
        mapping = reader.mapping
        self._reader = reader
        self._lines = lines
        self._to_ns = parsers(mapping.time.format, reader.zones)[1]
        self._moments = {
            name: values.moments_ms(parsers(mapping.time_format(name), reader.zones)[1])
            for name in values.MOMENTS
        }
        self._may = not (
            mapping.state.fields
            or len(mapping.intent.fields) > 1
            or any(mapping.has(name) for name in SLOW_FIELDS)
        )
        self._acts = {event for event, actions in enumerate(reader.actions) if actions}
        self._at_core = len(CORE)

    def rows(self, chunk: Chunk) -> list[Row] | None:
        """Rows of some lines, in their order; None if they must be taken one by one."""
        if not self._may:
            return None
        columns = self._lines.columns(chunk)
        if columns is None:
            return None
        try:
            return self._rows(chunk, columns)
        except (BadLine, NoTime, _Closer):
            return None

    def _rows(self, chunk: Chunk, columns: Sequence[Found]) -> list[Row]:
        reader, count = self._reader, len(chunk.lines)
        events = self._events(columns, count)
        recipients = columns[reader.at_recipient]
        lengths = [len(data) + 1 for data in chunk.lines]
        numbers: Sequence[int] = range(chunk.number, chunk.number + count)
        offsets: Sequence[int] = list(itertools.accumulate(lengths, initial=chunk.offset))[:-1]
        if not self._acts.issuperset(events):
            raise _Closer
        if set(map(type, recipients)) != {str} or not all(recipients):
            raise _Closer
        times = self._to_ns(columns[reader.at["time"]])
        stored = self._stored(columns, events)
        contacts = list(map(reader.contacts.__getitem__, recipients))
        core = (times, numbers, offsets, events, contacts, recipients)
        rows: list[Row] = list(zip(*core, *stored, strict=True))
        reader.seen.lines = numbers[-1]
        reader.seen.fine += count
        reader.seen.add_all(times, chunk.number)
        if reader.absent:
            for name in [name for name, at in reader.absent.items() if any_there(columns[at])]:
                del reader.absent[name]
        return rows

    def _events(self, columns: Sequence[Found], count: int) -> list[int]:
        """Which entry of the mapping's events each line is."""
        reader = self._reader
        names: Sequence[Any]
        if reader.at_event >= 0:
            names = columns[reader.at_event]
        elif reader.event_parts:
            parts = [columns[at] for at in reader.event_parts]
            if any(set(map(type, part)) != {str} for part in parts):
                raise _Closer
            names = list(map("/".join, zip(*parts, strict=True)))
        else:
            names = [""] * count
        try:
            events = list(map(reader.events.known.get, names))
        except TypeError:  # a list or an object where a name should be
            raise _Closer from None
        if None in events:
            raise _Closer
        return events  # type: ignore[return-value]

    def _stored(self, columns: Sequence[Found], events: Sequence[int]) -> list[Sequence[Any]]:
        """The stored fields, converted; what no line has is None throughout."""
        reader = self._reader
        stored: list[Sequence[Any]] = [
            self._converted(name, columns[reader.at[name]]) if name else columns[-1]
            for name in reader.stored
        ]
        where = {field: place - self._at_core for field, place in reader.place.items()}
        if "code" in where:
            stored[where["code"]] = self._codes(columns[reader.at["code"]], events)
        if "intent" in where:
            stored[where["intent"]] = [
                None if value is None else values.text(value)
                for value in columns[reader.at["intent.0"]]
            ]
        return stored

    def _converted(self, name: str, column: Found) -> Sequence[Any]:
        if name in self._moments:
            return self._moments[name](column)
        convert = self._reader.converts[name]
        if set(map(type, column)) <= _FINE.get(convert, _NONE):
            return column
        return [None if value is None or value == "" else convert(value) for value in column]

    def _codes(self, column: Found, events: Sequence[int]) -> list[str | None]:
        """The outcomes in our words."""
        codes, needs = self._reader.codes, self._reader.needs_code
        told = [codes.get(value) if type(value) is str else None for value in column]
        for value, code, event in zip(column, told, events, strict=True):
            if code is None and value is not None and (needs[event] or type(value) is not str):
                raise _Closer
        return told


class _Closer(Exception):  # noqa: N818 - a signal inside this file
    """Some line needs a closer look."""


def any_there(column: Found) -> bool:
    """Whether any line has a value."""
    return any(value is not None for value in column)


_NONE = frozenset({type(None)})
_FINE: dict[values.Convert, frozenset[type]] = {
    values.text: _NONE | {str},
    values.whole: _NONE | {int},
    values.flag: _NONE | {bool},
}

__all__ = ["Columns"]
