"""A log, line by line, to rows that can be spilled: decoded, checked, mapped, counted.

This is the hot path of a log of gigabytes. What most lines are is worked out once: which values of a
decoded line stand where in a row, and which of them need converting when they are of these types.
What each field becomes is in `values`, what a row's places mean in `records`.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ..contract import Code
from . import values
from .columns import Columns
from .decode import Decoded, Found, JsonLines, Layout, csv_rows
from .fields import (
    NAMES_CACHED,
    NEEDED,
    OPTIONAL,
    SPECIAL,
    Names,
    absent,
    stored_fields,
    wanted_fields,
)
from .identity import Contacts, key_function
from .lines import WHOLE, Span, open_log, read_chunks
from .mapping import RESULTS, Action, Mapping, Phase
from .problems import BadLine, Left, Problems
from .records import CORE
from .seen import Seen
from .times import NoTime, Zones, parser

Row = Sequence[Any]
"""The values of a `Record`: the core, then what the mapping stores (see `stored_fields`)."""
Todo = tuple[tuple[int, values.Convert, str], ...]
"""Place in the row, conversion, and name of the field, for values that need one."""

EARLY_LINES = 1_000
"""By then each field that no line can do without must have been seen."""
BATCH = 2_000
TYPES_CACHED = 1_000
_WHOLE = frozenset({"token", "seq", "held_token"})
_FINE: dict[values.Convert, type] = {values.text: str, values.whole: int, values.flag: bool}
"""Conversion to the type that needs none."""
_REFUSALS = frozenset(map(str, Code))


class Reader:
    """Reads one log by one mapping.

    Args:
        path: The log, plain or gzip.
        mapping: What its fields are.
        span: Which part of the file; a CSV file can only be read whole.

    Attributes:
        actions: What each entry of the mapping's events means; a record's `event` points here.
        problems, left, seen, zones, contacts: What was noticed.
        absent: Mapped fields that no line had so far.
    """

    def __init__(self, path: Path, mapping: Mapping, span: Span = WHOLE) -> None:
        self.path = path
        self._span = span
        self.mapping = mapping
        self.zones = Zones(mapping.time.zone)
        key_of, self.identity = key_function(mapping.contact.identity, mapping.contact.aliases)
        self.contacts = Contacts(key_of)
        self.problems = Problems(name=path.name)
        self.left = Left()
        self.seen = Seen()
        told = mapping.actions()
        self.actions: list[tuple[Action, ...]] = list(told.values())
        self.events = Names(list(told))
        self.codes: dict[str, str] = {str(code): str(code) for code in Code}
        self.codes.update({result: result for result in RESULTS})
        self.codes.update(mapping.codes)
        self.needs_code = [
            any(
                each.phase in {Phase.WHOLE, Phase.END} and each.f not in {"delivery", "dispatch"}
                for each in actions
            )
            for actions in self.actions
        ]
        self._is_csv = mapping.format == "csv" or (
            not mapping.format and path.name.removesuffix(".gz").lower().endswith((".csv", ".tsv"))
        )
        self._paths = wanted_fields(mapping)
        self._layout = Layout(self._paths, nested=not self._is_csv)
        self.at, self.nothing = self._layout.at, self._layout.nothing
        self.event_parts = [at for name, at in self.at.items() if name.startswith("event.")]
        self.absent = dict(self.at)
        stored = stored_fields(mapping)
        self.place = {name: at for at, name in enumerate([*CORE, *stored])}
        """Field of a record to its place in a row."""
        self.at_recipient = self.at["recipient"]
        self.at_event = self.at.get("event", -1)
        self._has_more = bool(
            mapping.intent.fields
            or mapping.state.fields
            or any(mapping.has(name) for name in SPECIAL)
        )
        field_of = {place: name for name, place in OPTIONAL.items() if mapping.has(name)}
        self.stored = [field_of.get(name, "") for name in stored]
        self._pick: Callable[[Found], Found] = operator.itemgetter(
            *(self.at[name] if name else self.nothing for name in self.stored)
        )
        self.converts = self._conversions()
        self._todos: dict[tuple[type, ...], Todo] = {}

    def _conversions(self) -> dict[str, values.Convert]:
        """Field of the mapping to what its values go through."""
        mapping, zones = self.mapping, self.zones
        kinds: dict[str, values.Convert] = dict.fromkeys(OPTIONAL, values.text)
        kinds.update(dict.fromkeys(_WHOLE, values.whole))
        kinds["replay"] = values.flag
        kinds["started_at"] = values.moment_ns(parser(mapping.time_format("started_at"), zones))
        for name in values.MOMENTS:
            kinds[name] = values.moment_ms(parser(mapping.time_format(name), zones))
        return kinds

    def _todo(self, types: tuple[type, ...]) -> Todo:
        """What of the stored values needs converting, if they are of these types."""
        todo = tuple(
            (len(CORE) + at, self.converts[name], name)
            for at, (name, kind) in enumerate(zip(self.stored, types, strict=True))
            if name and kind is not type(None) and kind is not _FINE.get(self.converts[name])
        )
        if len(self._todos) < TYPES_CACHED:
            self._todos[types] = todo
        return todo

    def batches(self) -> Iterator[list[Row]]:
        """All rows of the log, some at a time, in the order of its lines.

        Raises:
            UsageError: The file can't be read, or has no field that no line can do without.
        """
        with open_log(self.path) as file:
            yield from self._csv(file) if self._is_csv else self._json(file)

    def _json(self, file: BinaryIO) -> Iterator[list[Row]]:
        lines = JsonLines(self._layout, self.problems)
        columns = Columns(self, lines)
        for chunk in read_chunks(file, self._span):
            rows = columns.rows(chunk)
            if rows is None:
                rows = list(self._rows(lines.each(chunk)))
            # Also lines that could not be read count: the next part's numbers begin behind them.
            self.seen.lines = max(self.seen.lines, chunk.number + max(len(chunk.lines), 1) - 1)
            yield rows
            if self.problems.gave_up_at:
                return

    def _csv(self, file: BinaryIO) -> Iterator[list[Row]]:
        delimiter = self.mapping.delimiter
        if delimiter == "," and self.path.name.removesuffix(".gz").lower().endswith(".tsv"):
            delimiter = "\t"
        decoded = csv_rows(file, self._layout, self.problems, delimiter=delimiter)
        rows = self._rows(decoded)
        while batch := list(itertools.islice(rows, BATCH)):
            yield batch

    # -- mapping ---------------------------------------------------------------------------------

    def _rows(self, decoded: Iterable[Decoded]) -> Iterator[Row]:
        problems, seen, missing = self.problems, self.seen, self.absent
        to_ns = parser(self.mapping.time.format, self.zones)
        at_time, at_item, row_of = self.at["time"], self.place["item"], self._row
        for number, offset, item, found in decoded:
            seen.lines = number
            if missing:
                self._tick(found)
                if number >= EARLY_LINES:
                    self.check_absent([name for name in missing if name in NEEDED])
            try:
                rows = row_of(found)
                if not rows:
                    seen.fine += 1
                    continue
                t = to_ns(found[at_time])
            except (BadLine, NoTime) as error:
                if problems.add(number, self._why(error, found)):
                    return
                continue
            seen.fine += 1
            seen.add(t, len(rows), number)
            for row in rows:
                row[0], row[1], row[2] = t, number, offset
                if item:
                    row[at_item] = item
                yield row

    def _why(self, error: Exception, found: Found) -> str:
        if not isinstance(error, NoTime):
            return str(error)
        value = found[self.at["time"]]
        field = f"field {self.mapping.time.field!r} (time)"
        return f"{field} is missing" if value is None else f"{field}: {str(value)[:80]!r} {error}"

    def _row(self, found: Found) -> Sequence[list[Any]]:
        """Rows of one line: one a recipient; none for what the mapping leaves out."""
        event = self._event(found)
        if event is None or not self.actions[event]:
            return ()
        recipient = found[self.at_recipient]
        if not recipient:
            self.left.no_recipient += 1
            return ()
        picked = self._pick(found)
        types = tuple(map(type, picked))
        todo = self._todos.get(types)
        row: list[Any]
        if type(recipient) is str:
            row = [0, 0, 0, event, self.contacts[recipient], recipient, *picked]
        else:
            row = [0, 0, 0, event, "", "", *picked]
        for place, convert, name in self._todo(types) if todo is None else todo:
            value = row[place]
            try:
                row[place] = None if value == "" else convert(value)
            except BadLine as error:
                raise BadLine(f"field {self._named(name)} ({name}): {error}") from None
        if self._has_more:
            self._more(found, row, event)
        return (row,) if row[_RECIPIENT] else self._by_recipient(row, recipient)

    def _more(self, found: Found, row: list[Any], event: int) -> None:
        """Fields that take more than a conversion."""
        at, nothing, where = self.at, self.nothing, self.place
        code = self._code(found, event)
        if "code" in where:
            row[where["code"]] = code
        for name, field in (("ttl_s", "expires_ms"), ("duration_s", "started")):
            value = found[at.get(name, nothing)]
            place = where.get(field, -1)
            if value is not None and row[place] is None:
                try:
                    row[place] = self._from_length(found, row, name, values.seconds_ms(value))
                except BadLine as error:
                    raise BadLine(f"field {self._named(name)} ({name}): {error}") from None
        kind = found[at.get("kind", nothing)]
        if kind is not None:
            word = values.text(kind)
            row[where["kind"]] = self.mapping.kinds.get(
                word, word if word == "transactional" else ""
            )
        fields = len(self.mapping.intent.fields)
        parts = [found[at[f"intent.{place}"]] for place in range(fields)]
        if parts and all(part is not None for part in parts):
            row[where["intent"]] = ":".join(map(values.text, parts))
        if code in _REFUSALS and "state" in where:
            row[where["state"]] = self._state(found)

    def _state(self, found: Found) -> Any:
        """The policy state of a refusal; one field that is an object stands for itself."""
        fields = self.mapping.state.fields
        told = {path: found[self.at[f"state.{place}"]] for place, path in enumerate(fields)}
        only = told[fields[0]] if len(fields) == 1 else None
        return only if type(only) is dict else told

    def _from_length(self, found: Found, row: Row, name: str, length_ms: int) -> int:
        """An end in milliseconds, or a begin in nanoseconds, that the log gives as a length."""
        try:
            t = parser(self.mapping.time.format, self.zones)(found[self.at["time"]])
        except NoTime as error:
            raise BadLine(str(error)) from None
        if name == "duration_s":
            return t - length_ms * 1_000_000
        stored = row[self.place["store_ms"]] if "store_ms" in self.place else None
        return length_ms + (t // 1_000_000 if stored is None else stored)

    def _event(self, found: Found) -> int | None:
        """Which entry of the mapping's events the line is; None for none of them."""
        if self.at_event >= 0:
            name = found[self.at_event]
        elif self.event_parts:
            parts = [found[at] for at in self.event_parts]
            name = "/".join(["" if part is None else str(part) for part in parts])
        else:
            name = ""
        if name is None:
            raise BadLine(f"field {self._named('event')} (event) is missing")
        event = self.events.find(name if type(name) is str else values.text(name))
        if event is None or not self.actions[event]:
            self.left.event(str(name)[:200], NAMES_CACHED)
        return event

    def _code(self, found: Found, event: int) -> str | None:
        """The outcome, in our words; None for none."""
        value = found[self.at.get("code", self.nothing)]
        if value is None or value == "":
            return None
        code = self.codes.get(value if type(value) is str else str(value))
        if code is not None:
            return code
        if self.needs_code[event]:
            raise BadLine(
                f"field {self._named('code')} (code): {str(value)[:80]!r} is no code; "
                "say under [codes] what it means"
            )
        return None

    def _by_recipient(self, row: list[Any], recipients: Any) -> Sequence[list[Any]]:
        rows = []
        several = recipients if type(recipients) is list else (recipients,)
        for part, address in enumerate(several):
            if type(address) is not str:
                raise BadLine(f"field {self._named('recipient')} (recipient): is no address")
            mine = row.copy()
            mine[_RECIPIENT] = address
            mine[_CONTACT] = self.contacts[address]
            mine[self.place["part"]] = part
            rows.append(mine)
        return rows

    # -- fields that are not there ---------------------------------------------------------------

    def _tick(self, found: Found) -> None:
        """Cross fields off that a line has."""
        for name in [name for name, at in self.absent.items() if found[at] is not None]:
            del self.absent[name]

    def check_absent(self, names: Sequence[str]) -> None:
        """Refuse a mapping that names fields no line has.

        Raises:
            UsageError: It names the first one.
        """
        if names and self.seen.fine:
            raise absent(self.path.name, names[0], self._paths[names[0]], self.seen.lines)

    def _named(self, name: str) -> str:
        paths = self._paths.get(name) or self.mapping.paths(name)
        return " or ".join(map(repr, paths))


_CONTACT, _RECIPIENT = CORE.index("contact"), CORE.index("recipient")

__all__ = ["Reader", "Row"]
