"""What a store must offer: exclusive transactions over a few tables, and the clock that decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Protocol

from leaserace.harness.clocks import StoreClock
from leaserace.harness.contract import AuditRecord

from ..records import AnyRow, Decision, Row

BATCH_ROWS = 500


class StoreBusy(Exception):  # noqa: N818 - it is what the store is
    """The store's lock was not had within its deadline; nothing happened (spec: R)."""


class StoreGone(Exception):  # noqa: N818 - it is what happened
    """The store crashed during a transaction; nothing of it was kept."""


class Transaction(Protocol):
    """Reads and writes that happen together or not at all, with nobody between them (spec: S6)."""

    @property
    def now_ms(self) -> int:
        """The store's clock, read once at the begin of the transaction (spec: L5)."""
        ...

    def get(self, kind: type[AnyRow], key: str) -> AnyRow | None:
        """The row of this table and key, or None."""
        ...

    def put(self, row: Row) -> None:
        """Insert or replace the row of its table and key."""
        ...

    def delete(self, kind: type[Row], key: str) -> None:
        """Remove the row, if it is there."""
        ...

    def rows(
        self, kind: type[AnyRow], after: str = "", limit: int = BATCH_ROWS
    ) -> Sequence[AnyRow]:
        """Up to `limit` rows with keys above `after`, in the order of their keys."""
        ...

    def append(self, decision: Decision) -> None:
        """Write one decision at the end of the audit log (spec: R3)."""
        ...


class Open(Protocol):
    """A transaction to be: enter it to hold the store."""

    def __enter__(self) -> Transaction:
        """Begin.

        Raises:
            StoreBusy: The store was not had within the deadline.
        """
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commit, or leave nothing behind if the block raised."""
        ...


class Store(Protocol):
    """Where the records live. One transaction at a time, whoever asks."""

    def transaction(self, deadline_s: float) -> Open:
        """A transaction; entering it waits for the store at most `deadline_s`."""
        ...

    def on_clock(self, clock: StoreClock) -> Store:
        """The same records, judged by another clock: for tests, and for what must be caught."""
        ...

    def audit(self) -> Iterable[AuditRecord]:
        """All decisions in commit order (spec: R3)."""
        ...

    def now_ms(self) -> int:
        """The store's clock."""
        ...

    def crash(self) -> None:
        """Crash and come back: what was committed is there, what was under way is gone (spec: L4)."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...
