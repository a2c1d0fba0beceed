"""Rows of a log, split by contact into files small enough to be judged one at a time.

All rules but those of the clock judge one contact at a time, so a part of the contacts is judged
alone, and what is known of it is forgotten before the next. One contact that fills the memory by
itself is sorted outside of it.
"""

from __future__ import annotations

import heapq
import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from .read import Row
from .records import Record

SHARD_BYTES = 8 << 20
"""How much of a log goes into one shard."""
SHARDS_MAX = 512
BATCH = 64
"""So many rows of a shard at least are written at once."""
RUN_ROWS = 150_000
"""Rows sorted in memory at once."""
CONTACT = 4
CONTACTS_CACHED = 100_000

Order = Callable[[Record], Any]
Decode = Callable[[bytes], list[Record]]

_encode = msgspec.msgpack.Encoder().encode


class _Numbers(dict[str, int]):
    """Contacts to their shards; the same on every machine, so that findings come in one order."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, contact: str) -> int:
        if len(self) >= CONTACTS_CACHED:
            self.clear()
        number = zlib.crc32(contact.encode("utf-8", "surrogatepass")) % self._count
        self[contact] = number
        return number


class Shards:
    """Files of rows in a folder; a contact's rows are all in one.

    Args:
        folder: Where they are made; it must exist.
        count: How many files.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self._numbers = _Numbers(count)
        self._folder = folder
        self._waiting: list[list[Row]] = [[] for _ in range(count)]
        self._files: list[BinaryIO | None] = [None] * count

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows where their contacts' others are."""
        waiting = self._waiting
        numbers = map(self._numbers.__getitem__, [row[CONTACT] for row in rows])
        for row, number in zip(rows, numbers, strict=True):
            waiting[number].append(row)
        for number, some in enumerate(waiting):
            if len(some) >= BATCH:
                self._write(number)

    def _write(self, number: int) -> None:
        file = self._files[number]
        if file is None:
            file = self._files[number] = self.path(number).open("wb")
        write_batch(file, self._waiting[number])
        self._waiting[number] = []

    def path(self, number: int) -> Path:
        """Where a shard is."""
        return shard_path(self._folder, number)

    def close(self) -> None:
        """Write what waits."""
        for number, waiting in enumerate(self._waiting):
            if waiting:
                self._write(number)
        for file in self._files:
            if file is not None:
                file.close()


def shard_count(log_bytes: int) -> int:
    """Into how many files a log of this size is split."""
    return max(1, min(SHARDS_MAX, -(-log_bytes // SHARD_BYTES)))


def shard_path(folder: Path, number: int) -> Path:
    """Where a shard is; there is no file if nothing fell into it."""
    return folder / f"{number:03}.rows"


def write_batch(file: BinaryIO, rows: list[Any]) -> None:
    """Append some rows: their length in bytes, then they."""
    data = _encode(rows)
    file.write(len(data).to_bytes(4, "little") + data)


def read_batches(path: Path, decode: Decode) -> Iterator[list[Record]]:
    """What `write_batch` wrote."""
    with path.open("rb") as file:
        while head := file.read(4):
            yield decode(file.read(int.from_bytes(head, "little")))


class Ordered:
    """A shard's records, one contact after the other, each in order; it can be gone through again.

    Args:
        parts: Files of the shard, and how many lines of the log came before each.
        order: What a contact's records are sorted by; those of one rank stay in the log's order.
        folder: Where it may make files of its own.
        kind: What rows are (see `record_type`).

    Attributes:
        in_memory: The records if they fit, else None.
    """

    def __init__(
        self, parts: Sequence[tuple[Path, int]], order: Order, folder: Path, kind: type[Record]
    ) -> None:
        self._decode: Decode = msgspec.msgpack.Decoder(list[kind]).decode  # type: ignore[valid-type]
        self._order = order
        self._folder = folder
        self._runs: list[Path] = []
        self.in_memory: list[Record] | None = None
        waiting: list[Record] = []
        for path, lines_before in parts:
            for batch in read_batches(path, self._decode):
                if lines_before:
                    for record in batch:
                        record.line += lines_before
                waiting.extend(batch)
                if len(waiting) >= RUN_ROWS:
                    self._write_run(waiting)
                    waiting = []
        if self._runs:
            self._write_run(waiting)
        else:
            self.in_memory = waiting

    def _write_run(self, records: list[Record]) -> None:
        run = self._folder / f"{len(self._runs)}.run"
        records.sort(key=self._by_contact)
        with run.open("wb") as file:
            for start in range(0, len(records), BATCH):
                write_batch(file, records[start : start + BATCH])
        self._runs.append(run)

    def _by_contact(self, record: Record) -> Any:
        return (record.contact, self._order(record))

    def contacts(self) -> Iterator[Iterable[Record]]:
        """Each contact's records in order: a list, or where they do not fit something to go through."""
        if self.in_memory is not None:
            yield from self._small(self.in_memory)
            return
        merged = heapq.merge(
            *(_each(run, self._decode) for run in self._runs), key=self._by_contact
        )
        for contact, records in itertools.groupby(merged, key=lambda record: record.contact):
            first = list(itertools.islice(records, RUN_ROWS))
            if len(first) < RUN_ROWS:
                yield first
            else:
                for _ in records:
                    pass
                yield OneContact(self._runs, contact, self._order, self._decode)
        for run in self._runs:
            run.unlink()

    def _small(self, records: list[Record]) -> Iterator[list[Record]]:
        by_contact: dict[str, list[Record]] = {}
        for record in records:
            mine = by_contact.get(record.contact)
            if mine is None:
                by_contact[record.contact] = [record]
            else:
                mine.append(record)
        for mine in by_contact.values():
            if len(mine) > 1:
                mine.sort(key=self._order)
            yield mine


class OneContact(Iterable[Record]):
    """The records of one contact that are too many for the memory."""

    def __init__(self, runs: Sequence[Path], contact: str, order: Order, decode: Decode) -> None:
        self._decode = decode
        self._runs = runs
        self._contact = contact
        self._order = order

    def __iter__(self) -> Iterator[Record]:
        return heapq.merge(
            *(
                (record for record in _each(run, self._decode) if record.contact == self._contact)
                for run in self._runs
            ),
            key=self._order,
        )


def _each(run: Path, decode: Decode) -> Iterator[Record]:
    for batch in read_batches(run, decode):
        yield from batch


__all__ = ["Ordered", "Shards", "shard_count", "shard_path"]
