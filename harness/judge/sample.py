"""The first lines of a log, looked at closely: which fields there are, and what stands in them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..contract import UsageError
from .lines import open_log, read_chunks

LINES = 2_000
VALUES_KEPT = 200
DEPTH = 3
DELIMITERS = ",;\t|"


@dataclass(slots=True)
class Column:
    """One field of a log, by its path.

    Args:
        path: Names with dots between levels.
        count: In how many of the sampled lines it had a value.
        values: Values to how often they came, at most `VALUES_KEPT`.
    """

    path: str
    count: int = 0
    values: Counter[Any] = field(default_factory=Counter)

    def add(self, value: Any) -> None:
        """A line had this value."""
        self.count += 1
        if isinstance(value, list):
            value = value[0] if value else ""
        if isinstance(value, str | int | float | bool) and (
            value in self.values or len(self.values) < VALUES_KEPT
        ):
            self.values[value] += 1

    @property
    def name(self) -> str:
        """The last part of its path, in lower case, with underscores for dashes."""
        return self.path.rpartition(".")[2].lower().replace("-", "_")

    @property
    def example(self) -> Any:
        """The most frequent value."""
        return self.values.most_common(1)[0][0] if self.values else None


@dataclass(slots=True)
class Sample:
    """What the first lines of a log hold.

    Args:
        format: ``jsonl`` or ``csv``.
        delimiter: Of a CSV file.
        lines: How many were looked at.
        columns: Its fields by path.
        rows: The lines, flat.
    """

    format: str
    delimiter: str
    lines: int
    columns: dict[str, Column]
    rows: list[dict[str, Any]]


def sample(path: Path) -> Sample:
    """Look at the first lines of a log.

    Raises:
        UsageError: There is nothing to look at.
    """
    with open_log(path) as file:
        lines = [
            data
            for chunk in _first(read_chunks(file))
            for data in chunk
            if data.strip() and b"\0" not in data
        ][:LINES]
    rows = [row for data in lines for row in _objects(data)]
    form, delimiter = "jsonl", ","
    if not rows:
        form = "csv"
        rows, delimiter = _table(path, lines)
    if not rows:
        raise UsageError(f"{path.name}:1: neither JSON Lines nor CSV with a header")
    columns: dict[str, Column] = {}
    for row in rows:
        for name, value in row.items():
            if value not in (None, ""):
                columns.setdefault(name, Column(name)).add(value)
    return Sample(form, delimiter, len(rows), columns, rows)


def _first(chunks: Iterator[Any]) -> Iterator[list[bytes]]:
    """Enough chunks for `LINES`."""
    had = 0
    for chunk in chunks:
        yield chunk.lines
        had += len(chunk.lines)
        if had >= LINES:
            return


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            yield dict(_flat(each, "", DEPTH))


def _flat(value: dict[str, Any], before: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, item in value.items():
        path = f"{before}{name}"
        if isinstance(item, dict) and depth > 1:
            yield from _flat(item, f"{path}.", depth - 1)
        elif not isinstance(item, dict):
            yield path, item


def _table(path: Path, lines: list[bytes]) -> tuple[list[dict[str, Any]], str]:
    texts: list[str] = []
    for number, data in enumerate(lines, start=1):
        try:
            texts.append(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise UsageError(f"{path.name}:{number}: not UTF-8: byte {byte:#04x}") from error
    if not texts:
        return [], ","
    delimiter = max(DELIMITERS, key=texts[0].count)
    if not texts[0].count(delimiter):
        return [], ","
    reader = csv.DictReader(texts, delimiter=delimiter)
    try:
        return [
            {(name or "").strip(): value for name, value in row.items() if isinstance(value, str)}
            for row in reader
        ], delimiter
    except csv.Error:
        return [], ","


__all__ = ["Column", "Sample", "sample"]
