"""Single lines of a log, looked up again: for what a verdict must show of them."""

from __future__ import annotations

import csv
from collections.abc import Mapping as MappingOf
from pathlib import Path
from typing import Any

import msgspec

from .lines import GZIP_MAGIC, LINE_MAX_BYTES, line_at, open_log
from .mapping import Mapping

SHOWN_MAX = 2_000
"""Characters of one value that are shown."""


class RawLines:
    """Reads single lines of a log by where they begin.

    Args:
        path: The log.
        mapping: What its fields are.
    """

    def __init__(self, path: Path, mapping: Mapping) -> None:
        self._file = open_log(path)
        self._mapping = mapping
        self._header: list[str] | None = None
        with path.open("rb") as file:
            self.packed = file.read(2) == GZIP_MAGIC
        if mapping.format == "csv" or path.name.removesuffix(".gz").endswith((".csv", ".tsv")):
            first = line_at(self._file, 0).decode("utf-8-sig", "replace")
            self._header = [name.strip() for name in self._cells(first)]

    def close(self) -> None:
        """Close the log."""
        self._file.close()

    def text(self, offset: int) -> bytes:
        """The line itself."""
        return line_at(self._file, offset)

    def fields(self, offset: int, item: int = 0) -> dict[str, Any]:
        """Fields of a line, or of one of several objects on it; none if it can't be read."""
        data = line_at(self._file, offset)
        if self._header is not None:
            return dict(
                zip(self._header, self._cells(data.decode("utf-8", "replace")), strict=False)
            )
        try:
            value = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return {}
        if isinstance(value, list):
            value = value[item] if item < len(value) else {}
        return value if isinstance(value, dict) else {}

    def state(self, offset: int, item: int = 0) -> dict[str, Any]:
        """The policy state that a line tells (spec: R3); one field that is an object is the state."""
        fields = self.fields(offset, item)
        told = {path: find(fields, path) for path in self._mapping.state.fields}
        told = {name: value for name, value in told.items() if value is not None}
        only = next(iter(told.values()), None)
        return only if len(told) == 1 and isinstance(only, dict) else told

    def _cells(self, text: str) -> list[str]:
        csv.field_size_limit(LINE_MAX_BYTES)
        try:
            return next(csv.reader([text], delimiter=self._mapping.delimiter), [])
        except csv.Error:
            return []


def find(fields: MappingOf[str, Any], path: str) -> Any:
    """A value by its path; a field of the whole name comes first."""
    if path in fields:
        return fields[path]
    value: Any = fields
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


__all__ = ["RawLines", "find"]
