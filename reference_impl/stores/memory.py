"""A store in the process's own memory: for the simulator, for tests, and to be read first."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from types import TracebackType
from typing import NoReturn

from leaserace.harness.clocks import StoreClock, SystemClock
from leaserace.harness.contract import AuditRecord
from leaserace.harness.points import Section

from ..records import TABLES, AnyRow, Decision, Row
from .protocol import BATCH_ROWS, StoreBusy, StoreGone

Tables = dict[type[Row], dict[str, Row]]
Data = tuple[Tables, list[AuditRecord], Section]


class MemoryStore:
    """Tables as dictionaries, one lock, an undo list.

    Args:
        clock: The store's clock; the machine's own by default.
        data: What another store keeps, to keep it too.
    """

    __slots__ = ("_clock", "_data", "log", "open", "section", "tables")

    def __init__(self, clock: StoreClock | None = None, *, data: Data | None = None) -> None:
        self._clock: StoreClock = clock or SystemClock()
        self._data = data or ({kind: {} for kind in TABLES}, [], Section("store"))
        self.tables, self.log, self.section = self._data
        self.open: MemoryTransaction | None = None
        """The transaction that holds the store."""

    def transaction(self, deadline_s: float) -> MemoryTransaction:
        """A transaction; entering it waits for the store at most `deadline_s`."""
        return MemoryTransaction(self, deadline_s)

    def on_clock(self, clock: StoreClock) -> MemoryStore:
        """The same records and the same lock, judged by another clock."""
        return MemoryStore(clock, data=self._data)

    def audit(self) -> Iterable[AuditRecord]:
        """All decisions in commit order (spec: R3)."""
        return tuple(self.log)

    def now_ms(self) -> int:
        """The store's clock."""
        return self._clock.now_ms()

    def content(self) -> Hashable:
        """All rows as one hashable value: equal contents, equal values."""
        return tuple(frozenset(table.values()) for table in self.tables.values())

    def crash(self) -> None:
        """Roll back what is under way; whoever is in it is told when it goes on."""
        if self.open is not None:
            self.open.shatter()

    def close(self) -> None:
        """Nothing is held."""


class MemoryTransaction:
    """One transaction; what it changed is put back if its block raises, a crash included.

    Args:
        store: What it reads and writes.
        deadline_s: How long the lock is waited for.
    """

    __slots__ = (
        "_deadline_s",
        "_give_back",
        "_log",
        "_log_was",
        "_store",
        "_tables",
        "_undo",
        "now_ms",
    )

    def __init__(self, store: MemoryStore, deadline_s: float) -> None:
        self._store = store
        self._deadline_s = deadline_s
        self.now_ms = 0

    def __enter__(self) -> MemoryTransaction:
        give_back = self._store.section.take(self._deadline_s)
        if give_back is None:
            raise StoreBusy
        self._give_back = give_back
        self._store.open = self
        self._tables, self._log = self._store.tables, self._store.log
        self._log_was = len(self._log)
        self._undo: list[tuple[dict[str, Row], str, Row | None]] = []
        self.now_ms = self._store.now_ms()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._roll_back()
        self._store.open = None
        self._give_back()

    def shatter(self) -> None:
        """The store crashed: nothing of it is kept, and it is of no more use."""
        self._roll_back()
        self._store.open = None
        self._give_back()
        self._store, self._give_back = MemoryStore(), _gone
        self.__class__ = Shattered

    def _roll_back(self) -> None:
        for table, key, row in reversed(self._undo):
            if row is None:
                table.pop(key, None)
            else:
                table[key] = row
        del self._log[self._log_was :]

    def get(self, kind: type[AnyRow], key: str) -> AnyRow | None:
        """The row of this table and key, or None."""
        return self._tables[kind].get(key)  # type: ignore[return-value]

    def put(self, row: Row) -> None:
        """Insert or replace the row of its table and key."""
        table = self._tables[type(row)]
        key = row.key
        self._undo.append((table, key, table.get(key)))
        table[key] = row

    def delete(self, kind: type[Row], key: str) -> None:
        """Remove the row, if it is there."""
        table = self._tables[kind]
        row = table.pop(key, None)
        if row is not None:
            self._undo.append((table, key, row))

    def rows(
        self, kind: type[AnyRow], after: str = "", limit: int = BATCH_ROWS
    ) -> Sequence[AnyRow]:
        """Up to `limit` rows with keys above `after`, in the order of their keys."""
        table = self._tables[kind]
        keys = sorted(key for key in table if key > after)[:limit]
        return [table[key] for key in keys]  # type: ignore[misc]

    def append(self, decision: Decision) -> None:
        """Write one decision at the end of the audit log (spec: R3)."""
        self._log.append(decision.numbered(len(self._log) + 1))


def _gone(*_: object, **__: object) -> NoReturn:
    raise StoreGone


class Shattered(MemoryTransaction):
    """A transaction whose store crashed; another class, so that nothing is asked while all is well.

    A ``with`` block has looked its `__exit__` up at its begin; so that one stays, and finds nothing to
    put back and nobody to give the store to.
    """

    __slots__ = ()

    get = put = delete = rows = append = _gone

    def _roll_back(self) -> None:
        self._give_back = _nothing


def _nothing() -> None:
    """Its block raised already: the agent crashed, or was told."""
