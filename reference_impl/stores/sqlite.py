"""A store in one SQLite file that many processes share.

The lock is `BEGIN IMMEDIATE` with a short random wait between tries: SQLite's own busy handler backs
off so far that one of two processes can do all the work. The clock is SQLite's, which asks the system
in C and so can't be skewed inside an agent's process (spec: L5).
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from leaserace.harness.clocks import StoreClock, monotonic_ns
from leaserace.harness.contract import AuditRecord, UsageError

from ..records import AnyRow, Decision, Row
from .protocol import BATCH_ROWS, StoreBusy
from .schema import COLUMNS, SCHEMA, from_columns, sql, to_columns
from .sqlite_crash import crash_writer

WAIT_S = (0.0001, 0.001)
"""Bounds of the random wait between two tries for the lock."""
AUDIT_DEADLINE_S = 5.0
OPEN_DEADLINE_S = 5.0
NOW_MS = "SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)"


class SqliteStore:
    """Opens a file that `create` made; each thread gets a connection of its own.

    Args:
        path: The file.
        full_sync: Wait for the disk at every commit; without it a power cut may lose the last few.
        clock: Another clock than SQLite's, for tests.
    """

    def __init__(
        self, path: Path, *, full_sync: bool = False, clock: StoreClock | None = None
    ) -> None:
        self._path = path
        self._synchronous = "FULL" if full_sync else "NORMAL"
        self._clock = clock
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        # Only for the length of waits: it decides nothing, and its draws need no replay.
        self._random = random.Random()

    @classmethod
    def create(cls, path: Path, *, full_sync: bool = False) -> SqliteStore:
        """Make the file and its tables, once, before anybody else opens it.

        Raises:
            UsageError: The file can't be made.
        """
        # In one transaction, since a wait for the disk at each of its tables adds up; and without any
        # where nothing is there yet that could be lost.
        synchronous = "FULL" if full_sync else "NORMAL" if path.exists() else "OFF"
        try:
            connection = sqlite3.connect(path, isolation_level=None)
            try:
                connection.execute(f"PRAGMA synchronous={synchronous}")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.executescript(f"BEGIN;{SCHEMA}COMMIT;")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise UsageError(f"store {path}: {error}: name a folder that can be written") from error
        return cls(path, full_sync=full_sync)

    def transaction(self, deadline_s: float) -> SqliteTransaction:
        """A transaction; entering it waits for the store at most `deadline_s`."""
        return SqliteTransaction(self._connection(), self._clock, self._random, deadline_s)

    def on_clock(self, clock: StoreClock) -> SqliteStore:
        """The same file, judged by another clock."""
        return SqliteStore(self._path, full_sync=self._synchronous == "FULL", clock=clock)

    def audit(self) -> Iterable[AuditRecord]:
        """All decisions in commit order (spec: R3)."""
        with self.transaction(AUDIT_DEADLINE_S) as tx:
            return tx.log()

    def now_ms(self) -> int:
        """The store's clock."""
        return _now_ms(self._connection(), self._clock)

    def crash(self) -> None:
        """Kill a process that writes in the middle of its transaction."""
        crash_writer(self._path)

    def close(self) -> None:
        """Close every thread's connection."""
        while self._connections:
            self._connections.pop().close()
        self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            # `close` may come from another thread. The first statement reads the schema, which two
            # processes that open the file at once may have to wait for; from then on the deadline
            # is ours to keep, hence no timeout of SQLite's.
            connection = sqlite3.connect(
                self._path, timeout=OPEN_DEADLINE_S, isolation_level=None, check_same_thread=False
            )
            connection.execute(f"PRAGMA synchronous={self._synchronous}")
            connection.execute("PRAGMA busy_timeout=0")
            self._local.connection = connection
            self._connections.append(connection)
        return connection


def _now_ms(connection: sqlite3.Connection, clock: StoreClock | None) -> int:
    if clock is not None:
        return clock.now_ms()
    now_ms: int = connection.execute(NOW_MS).fetchone()[0]
    return now_ms


class SqliteTransaction:
    """One `BEGIN IMMEDIATE … COMMIT`; a block that raises is rolled back.

    Args:
        connection: The thread's connection.
        clock: Another clock than SQLite's, or None.
        waits: Draws the waits between tries.
        deadline_s: How long the lock is waited for.
    """

    __slots__ = ("_clock", "_connection", "_deadline_s", "_waits", "now_ms")

    def __init__(
        self,
        connection: sqlite3.Connection,
        clock: StoreClock | None,
        waits: random.Random,
        deadline_s: float,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._waits = waits
        self._deadline_s = deadline_s
        self.now_ms = 0

    def __enter__(self) -> SqliteTransaction:
        deadline_ns = monotonic_ns() + int(self._deadline_s * 1e9)
        while not self._begin():
            if monotonic_ns() >= deadline_ns:
                raise StoreBusy
            time.sleep(self._waits.uniform(*WAIT_S))
        self.now_ms = _now_ms(self._connection, self._clock)
        return self

    def _begin(self) -> bool:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return False
            raise
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")

    def get(self, kind: type[AnyRow], key: str) -> AnyRow | None:
        """The row of this table and key, or None."""
        values = self._connection.execute(sql(kind).get, (key,)).fetchone()
        return None if values is None else from_columns(kind, values)

    def put(self, row: Row) -> None:
        """Insert or replace the row of its table and key."""
        self._connection.execute(sql(type(row)).put, to_columns(row))

    def delete(self, kind: type[Row], key: str) -> None:
        """Remove the row, if it is there."""
        self._connection.execute(sql(kind).delete, (key,))

    def rows(
        self, kind: type[AnyRow], after: str = "", limit: int = BATCH_ROWS
    ) -> Sequence[AnyRow]:
        """Up to `limit` rows with keys above `after`, in the order of their keys."""
        found = self._connection.execute(sql(kind).rows, (after, limit)).fetchall()
        return [from_columns(kind, values) for values in found]

    def append(self, decision: Decision) -> None:
        """Write one decision at the end of the audit log (spec: R3)."""
        self._connection.execute(
            "INSERT INTO audit (at_ms, actor, event, key, decision, record) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                decision.at_ms,
                decision.actor,
                decision.event,
                decision.key,
                decision.decision,
                msgspec.json.encode(decision).decode(),
            ),
        )

    def log(self) -> list[AuditRecord]:
        """The whole audit log."""
        found = self._connection.execute("SELECT seq, record FROM audit ORDER BY seq")
        return [msgspec.json.decode(text, type=Decision).numbered(seq) for seq, text in found]


__all__ = ["COLUMNS", "SqliteStore", "SqliteTransaction"]
