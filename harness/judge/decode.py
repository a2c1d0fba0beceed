"""Lines of a JSON Lines or CSV file, decoded to the values of the few fields that are wanted."""

from __future__ import annotations

import csv
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import msgspec

from ..contract import UsageError
from .lines import LINE_MAX_BYTES, Chunk, read_chunks
from .problems import Problems
from .values import TEXT_MAX

LONG_BYTES = 16_000
"""Lines up to this length are taken as they are."""

Found = tuple[Any, ...]
"""Values of one line, in the places its `Layout` says; the last one is always None."""
Decoded = tuple[int, int, int, Found]
"""Number of a line, where it begins, which of several objects on it, and its values."""
Step = tuple[int, tuple[str, ...]]
"""A top-level field, and the names to go down by."""


class Layout:
    """Which fields of a line are wanted, and where their values will stand.

    Args:
        wanted: Name to the fields that may carry it, the first one there counts. A dot goes one level
            down, where no field of the whole name is there.
        nested: False for CSV, whose names have no levels.

    Attributes:
        tops: Top-level fields to decode.
        at: Name to its place among the values; `nothing` is the place of None.
    """

    def __init__(self, wanted: Mapping[str, tuple[str, ...]], *, nested: bool) -> None:
        tops: dict[str, int] = {}
        deep: list[tuple[Step, ...]] = []
        self.at: dict[str, int] = {}
        later: dict[str, int] = {}
        for name, paths in wanted.items():
            steps = [step for path in paths for step in _steps(path, tops, nested=nested)]
            if len(steps) == 1:
                self.at[name] = steps[0][0]
            else:
                later[name] = len(deep)
                deep.append(tuple(steps))
        self.tops = tuple(tops)
        self.deep = tuple(deep)
        self.at.update({name: len(tops) + place for name, place in later.items()})
        self.nothing = len(tops) + len(deep)

    def complete(self, found: Found) -> Found:
        """The values of the top-level fields and None; between them those that stand deeper."""
        return (*found[:-1], *(_dig(found, steps) for steps in self.deep), None)


def _steps(path: str, tops: dict[str, int], *, nested: bool) -> list[Step]:
    """Where a path is found: as a name of its own, or some levels down."""
    whole: Step = (tops.setdefault(path, len(tops)), ())
    head, *rest = path.split(".")
    if not rest or not nested:
        return [whole]
    return [whole, (tops.setdefault(head, len(tops)), tuple(rest))]


def _dig(found: Found, steps: Iterable[Step]) -> Any:
    """The first of several places that has a value."""
    for top, path in steps:
        value = found[top]
        for name in path:
            value = value.get(name) if type(value) is dict else None
        if value is not None:
            return value
    return None


class JsonLines:
    """Decodes the lines of a JSON Lines file; a line that is a list gives each of its objects.

    Args:
        layout: What is wanted.
        problems: Where unreadable lines are noted.
    """

    def __init__(self, layout: Layout, problems: Problems) -> None:
        names = [f"f{place}" for place in range(len(layout.tops))]
        wanted = msgspec.defstruct(
            "Wanted",
            [(name, Any, None) for name in (*names, "nothing")],
            rename={**dict(zip(names, layout.tops, strict=True)), "nothing": " nothing"},
            frozen=True,
            gc=False,
        )
        self._layout = layout
        self._problems = problems
        self._decode = msgspec.json.Decoder(wanted).decode
        self._decode_list = msgspec.json.Decoder(list[wanted]).decode  # type: ignore[valid-type]
        self._take = operator.attrgetter(*names, "nothing")

    def each(self, chunk: Chunk) -> Iterator[Decoded]:
        """Each object of some lines; it ends early where reading is given up."""
        decode, take, layout = self._decode, self._take, self._layout
        if chunk.problem:
            self._problems.add(chunk.number, chunk.problem)
        number, offset = chunk.number - 1, chunk.offset
        for data in chunk.lines:
            number += 1
            try:
                if data[:1] != b"[":
                    found = take(decode(data))
                    if len(data) > LONG_BYTES:
                        found = _cut(found)
                    yield number, offset, 0, layout.complete(found) if layout.deep else found
                else:
                    for item, each in enumerate(self._decode_list(data)):
                        yield number, offset, item, layout.complete(_cut(take(each)))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                if data.strip() and self._problems.add(number, _json_problem(chunk, data, error)):
                    return
            offset += len(data) + 1

    def columns(self, chunk: Chunk) -> list[Found] | None:
        """The values of some lines, field by field; None if any line needs a closer look."""
        lines = chunk.lines
        if not lines or chunk.problem or max(map(len, lines)) > LONG_BYTES:
            return None
        try:
            found = list(map(self._take, map(self._decode, lines)))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if self._layout.deep:
            found = list(map(self._layout.complete, found))
        return list(zip(*found, strict=True))


def _cut(found: Found) -> Found:
    """Texts of a very long line, cut: they are compared and shown, never parsed."""
    return tuple(value[:TEXT_MAX] if type(value) is str else value for value in found)


def _json_problem(chunk: Chunk, data: bytes, error: Exception) -> str:
    cut = "" if chunk.whole else "the last line is cut off: "
    if isinstance(error, UnicodeDecodeError):
        return f"{cut}not UTF-8: byte {error.object[error.start]:#04x}"
    hint = ""
    if chunk.offset == 0 and chunk.lines[0] is data and data.strip() in {b"[", b"{"}:
        hint = "; one JSON value over many lines is not JSON Lines (try: jq -c '.[]' FILE)"
    return f"{cut}not JSON: {error}{hint}"


def csv_rows(
    file: BinaryIO, layout: Layout, problems: Problems, *, delimiter: str
) -> Iterator[Decoded]:
    """Each row of a CSV file behind its header; an empty cell is None.

    Args:
        file: Opened for bytes.
        layout: What is wanted.
        problems: Where unreadable rows are noted; reading ends when it says so.
        delimiter: One character.

    Raises:
        UsageError: A wanted column is not in the header.
    """
    csv.field_size_limit(LINE_MAX_BYTES)
    source = _Rows(file, problems, delimiter)
    header = [name.strip() for name in source.row() or ()]
    missing = [name for name in layout.tops if name not in header]
    if missing and header:
        raise UsageError(
            f"{problems.name}:1: the mapping names the column {missing[0]!r}, "
            f"but the columns are {', '.join(repr(name[:40]) for name in header[:20])}"
        )
    places = [header.index(name) for name in layout.tops] if header else []
    widest = max(places, default=0)
    while (row := source.row()) is not None:
        if len(row) > widest:
            values = tuple(row[place].strip()[:TEXT_MAX] or None for place in places)
            yield source.number, source.offset, 0, layout.complete((*values, None))
        elif row and problems.add(source.number, f"{len(row)} columns, {len(header)} expected"):
            return


class _Rows:
    """Rows of a CSV file; where the current one began is in `number` and `offset`."""

    def __init__(self, file: BinaryIO, problems: Problems, delimiter: str) -> None:
        self._problems = problems
        self._lines = self._each(file)
        self._reader = csv.reader(self._texts(), delimiter=delimiter, strict=True)
        self._fresh = True
        self.number = self.offset = 0

    def _each(self, file: BinaryIO) -> Iterator[tuple[int, int, bytes, str]]:
        for chunk in read_chunks(file):
            if chunk.problem:
                yield chunk.number, chunk.offset, b"", chunk.problem
            offset = chunk.offset
            for number, data in enumerate(chunk.lines, start=chunk.number):
                yield number, offset, data, ""
                offset += len(data) + 1

    def _texts(self) -> Iterator[str]:
        """The lines as text; those that are none are noted and left out."""
        for number, offset, data, why in self._lines:
            if self._fresh:
                self.number, self.offset = number, offset
            problem = why
            if not problem:
                try:
                    text = data.decode()
                    problem = "not text: it holds a zero byte" if "\0" in text else ""
                except UnicodeDecodeError as error:
                    problem = f"not UTF-8: byte {error.object[error.start]:#04x}"
            if not problem:
                self._fresh = False
                yield text + "\n"
            elif self._problems.add(number, problem):
                return

    def row(self) -> list[str] | None:
        """The next row; None at the end."""
        while True:
            self._fresh = True
            try:
                return next(self._reader)
            except StopIteration:
                return None
            except csv.Error as error:
                if self._problems.add(self.number, f"not CSV: {error}"):
                    return None


__all__ = ["Decoded", "Found", "JsonLines", "Layout", "csv_rows"]
