"""A run's history as pandas frames, with every column and its unit written down.

`COLUMNS` is the documentation and the schema at once. Times are milliseconds since the first event of
the history, as floats; ``*_store_ms`` are the store's own milliseconds since the Unix epoch.
Operations, sends and refusals stand in the order in which they ended.

`frames` holds all rows of all frames: about 1 GB for a million operations. `export_csv` and
`export_parquet` write them as they come and hold a chunk, and of each lease and each logical send what is
known only at the end; ``tests/benchmarks/frames_million.py`` measures them.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaserace.harness.contract import UsageError
from leaserace.harness.history import AnyEvent

from .fill import Filler, Table
from .picture import Picture, Watch
from .schema import COLUMNS, FLAG, MS, TEXT, WHOLE

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 20_000
"""Rows `export_csv` and `export_parquet` hold of one frame before they write them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """One frame a kind of thing; `COLUMNS` says what stands in each."""

    operations: pd.DataFrame
    leases: pd.DataFrame
    sends: pd.DataFrame
    refusals: pd.DataFrame
    faults: pd.DataFrame
    deliveries: pd.DataFrame
    decisions: pd.DataFrame

    def items(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Name and frame, in the order of `COLUMNS`."""
        return ((name, getattr(self, name)) for name in COLUMNS)

    def to_csv(self, folder: Path) -> list[Path]:
        """Write one CSV file a frame, values as they were recorded.

        Args:
            folder: Made if absent.
        """
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, frame in self.items():
            paths.append(folder / f"{name}.csv")
            frame.to_csv(paths[-1], index=False, lineterminator="\n")
        return paths

    def to_parquet(self, folder: Path) -> list[Path]:
        """Write one Parquet file a frame.

        Args:
            folder: Made if absent.

        Raises:
            UsageError: The extra ``parquet`` is not installed.
        """
        _need_pyarrow()
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, frame in self.items():
            paths.append(folder / f"{name}.parquet")
            frame.to_parquet(paths[-1], index=False)
        return paths


def frames(events: Iterable[AnyEvent]) -> Frames:
    """The frames of a history, all rows in memory.

    Args:
        events: A history, or any stream of events in order; none of them is kept.

    Raises:
        InvalidHistory: The events can't be a history.
    """
    filler = Filler()
    watch = Watch(filler)
    for event in events:
        watch.feed(event)
    watch.finish()
    return _frames(filler)


def frames_of(races: Iterable[Picture]) -> Frames:
    """The frames of races that are pictures already."""
    filler = Filler()
    for picture in races:
        filler.picture(picture)
    return _frames(filler)


def _frames(filler: Filler) -> Frames:
    return Frames(**{name: _frame(table) for name, table in filler.tables.items()})


def _frame(table: Table) -> pd.DataFrame:
    kinds = {column: kind for column, (kind, _) in COLUMNS[table.name].items()}
    return typed_frame(kinds, table.cells)


def typed_frame(kinds: Mapping[str, str], cells: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """A frame whose columns have these types, also where it is empty."""
    import pandas as pd

    make: Any = pd.array
    return pd.DataFrame({name: make(cells[name], dtype=kinds[name]) for name in kinds})


def _need_pyarrow() -> Any:
    try:
        import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise UsageError(
            "Parquet needs an extra: pip install 'leaserace[parquet]', or export CSV"
        ) from error
    return pyarrow


def export_csv(
    events: Iterable[AnyEvent], folder: Path, *, chunk_rows: int = CHUNK_ROWS
) -> list[Path]:
    """Write the frames of a history of any length as CSV, a chunk at a time.

    Args:
        events: A stream of events in order; none of them is kept.
        folder: Made if absent.
        chunk_rows: Rows of one frame held in memory.

    Raises:
        InvalidHistory: The events can't be a history.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.csv" for name in COLUMNS}
    with contextlib.ExitStack() as stack:
        writers = {}
        for name, path in paths.items():
            file = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            writers[name] = csv.writer(file, lineterminator="\n")
            writers[name].writerow(COLUMNS[name])
        _stream(events, lambda table: _write_csv(writers[table.name], table), chunk_rows)
    return list(paths.values())


def _write_csv(writer: Any, table: Table) -> None:
    """Append rows as `Frames.to_csv` has them: what is missing is empty."""
    columns = [
        ["" if cell != cell else cell for cell in cells]  # noqa: PLR0124 - NaN is no other
        if COLUMNS[table.name][name][0] == MS
        else cells
        for name, cells in table.cells.items()
    ]
    writer.writerows(zip(*columns, strict=True))


def export_parquet(
    events: Iterable[AnyEvent], folder: Path, *, chunk_rows: int = CHUNK_ROWS
) -> list[Path]:
    """Write the frames of a history of any length as Parquet, a row group a chunk.

    Args:
        events: A stream of events in order; none of them is kept.
        folder: Made if absent.
        chunk_rows: Rows of one frame held in memory.

    Raises:
        InvalidHistory: The events can't be a history.
        UsageError: The extra ``parquet`` is not installed.
    """
    pa = _need_pyarrow()
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.parquet" for name in COLUMNS}
    with contextlib.ExitStack() as stack:
        writers: dict[str, Any] = {}
        for name, path in paths.items():
            schema = pa.Table.from_pandas(_frame(Table(name)), preserve_index=False).schema
            writers[name] = stack.enter_context(pa.parquet.ParquetWriter(path, schema))

        def write(table: Table) -> None:
            rows = pa.Table.from_pandas(_frame(table), preserve_index=False)
            writers[table.name].write_table(rows)

        _stream(events, write, chunk_rows)
    return list(paths.values())


def _stream(events: Iterable[AnyEvent], write: Callable[[Table], None], chunk_rows: int) -> None:
    """Give each table to `write` whenever it holds so many rows, and at the end."""
    filler = Filler(chunk_rows=chunk_rows, full=write)
    watch = Watch(filler)
    for event in events:
        watch.feed(event)
    watch.finish()
    for table in filler.tables.values():
        write(table)


__all__ = [
    "COLUMNS",
    "FLAG",
    "MS",
    "TEXT",
    "WHOLE",
    "Frames",
    "export_csv",
    "export_parquet",
    "frames",
    "frames_of",
    "typed_frame",
]
