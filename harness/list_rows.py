"""The rows of a contact list, as it is laid out: an address a line, or a column of a CSV file."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from .contract import UsageError
from .judge.lines import open_log, read_chunks

HEADERS = frozenset({"email", "e-mail", "mail", "address", "recipient", "contact", "to"})
ADDRESS_MAX = 1_000


def addresses(path: Path, column: str = "") -> Iterator[tuple[int, str]]:
    """Line number and address of each row of a list; blank rows are left out.

    Args:
        path: A text file with an address a line, or a CSV file with a header, plain or gzip.
        column: Name of the column; "" for the first one whose values are addresses.

    Raises:
        UsageError: The file can't be read, or has no such column.
    """
    with open_log(path) as file:
        lines = _texts(file)
        head = list(itertools.islice(lines, 200))
        layout = layout_of(path, [text for _, text in head], column)
        rest = itertools.chain(head, lines)
        if layout.header:
            next(rest, None)
        if layout.delimiter:
            yield from _cells(rest, layout.delimiter, layout.place)
        else:
            yield from ((number, text[:ADDRESS_MAX]) for number, text in rest if text.strip())


def _texts(file: BinaryIO) -> Iterator[tuple[int, str]]:
    for chunk in read_chunks(file):
        if chunk.problem:
            yield chunk.number, f"\ufffd {chunk.problem.replace(',', '')}"
        for number, data in enumerate(chunk.lines, start=chunk.number):
            yield number, data.decode("utf-8", "replace").rstrip("\r")


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """How a list is laid out.

    Args:
        delimiter: Of a CSV file; "" for an address a line.
        place: Of the column with the addresses.
        header: Whether the first row is one.
    """

    delimiter: str = ""
    place: int = 0
    header: bool = False


def layout_of(path: Path, head: Sequence[str], column: str) -> Layout:
    """How a list is laid out, by its first lines.

    Args:
        path: The list, for errors.
        head: Its first lines.
        column: Name of the column, or "".

    Raises:
        UsageError: There is no such column, or none that holds addresses.
    """
    lines = [text for text in head if text.strip()]
    delimiter = _delimiter(lines)
    if not delimiter:
        alone = lines[0].strip().lower() if lines else ""
        if column and alone != column.lower():
            raise UsageError(f"{path.name}:1: an address a line, so there is no column {column!r}")
        return Layout(header=alone in HEADERS or bool(column))
    rows = [row for row in _rows(lines, delimiter) if not isinstance(row, csv.Error)]
    names = [name.strip() for name in rows[0]] if rows else []
    header = not any("@" in name for name in names)
    if column:
        if not header or column not in names:
            shown = ", ".join(repr(name[:40]) for name in names[:20]) if header else "no header"
            raise UsageError(f"{path.name}:1: no column is called {column!r}; there are {shown}")
        return Layout(delimiter=delimiter, place=names.index(column), header=True)
    counts = [
        sum("@" in row[place] for row in rows if len(row) > place) for place in range(len(names))
    ]
    if not max(counts, default=0):
        raise UsageError(f"{path.name}: no column holds addresses; name it with --column")
    return Layout(delimiter=delimiter, place=counts.index(max(counts)), header=header)


def _delimiter(lines: Sequence[str]) -> str:
    """The sign that stands in nearly every line, "" if there is none."""
    for sign in (",", ";", "\t", "|"):
        if lines and sum(sign in line for line in lines) >= 0.9 * len(lines):
            return sign
    return ""


def _cells(
    lines: Iterable[tuple[int, str]], delimiter: str, place: int
) -> Iterator[tuple[int, str]]:
    """The column of a CSV file; a cell over several lines is counted by its last one."""
    last = 0

    def texts() -> Iterator[str]:
        nonlocal last
        for number, text in lines:
            last = number
            yield text + "\n"

    for row in _rows(texts(), delimiter):
        if isinstance(row, csv.Error):
            yield last, f"\ufffd not CSV: {row}"
        elif len(row) > place and row[place].strip():
            yield last, row[place][:ADDRESS_MAX]


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[list[str] | csv.Error]:
    """Row by row; where one is none, what is wrong with it."""
    csv.field_size_limit(1 << 24)
    reader = csv.reader((line.replace("\0", "\ufffd") for line in lines), delimiter=delimiter)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield error


__all__ = ["addresses", "layout_of"]
