"""Removes old rows, in small steps, without ever taking part in a race (spec: L4, K5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from leaserace.harness.contract import Cleaned, SendState
from leaserace.harness.points import point

from .cooldown import Cooldown
from .policy import Policy, ms
from .records import (
    ConflictRow,
    InboundRow,
    LeaseRow,
    OptOutRow,
    OverrideRow,
    Row,
    SendRow,
    TimelineRow,
)
from .stores.protocol import BATCH_ROWS, Store, Transaction


class CleanUp:
    """Removes what nothing depends on any more.

    Token counters and the suppression list stay for ever, and so does a send whose outcome is not
    known. Each step judges by the store's now in a transaction of its own, so it can't remove what
    somebody claims at the same time.

    Args:
        policy: For how long rows are kept.
        store: Where they are.
        cooldown: What of a timeline still matters.
    """

    def __init__(self, *, policy: Policy, store: Store, cooldown: Cooldown) -> None:
        self._deadline_s = policy.store_deadline_s
        self._keep_ms = ms(policy.keep_rows_s)
        self._inbound_ms = ms(policy.inbound_s)
        self._window_ms = ms(policy.key_window_s)
        self._store = store
        self._cooldown = cooldown

    def run(self) -> Cleaned:
        """Remove old rows of every table, and tell how many.

        Raises:
            StoreBusy: A step did not get the store; the steps before it are done.
        """
        removed = sum(self._sweep(kind, is_old) for kind, is_old in self._old().items())
        return Cleaned(rows=removed + self._shorten_timelines())

    def _old(self) -> dict[type[Row], Callable[[Any, int], bool]]:
        """Tables, and which of their rows nothing depends on any more; no other table is touched."""
        return {
            LeaseRow: self._lease_is_old,
            SendRow: self._send_is_old,
            OverrideRow: lambda row, now_ms: bool(row.until_ms <= now_ms),
            ConflictRow: lambda row, now_ms: bool(row.at_ms + self._keep_ms <= now_ms),
            InboundRow: lambda row, now_ms: bool(row.at_ms + self._inbound_ms <= now_ms),
            OptOutRow: lambda row, now_ms: bool(row.until_ms < now_ms),
        }

    def _lease_is_old(self, row: LeaseRow, now_ms: int) -> bool:
        """Kept for a while after its end, so that its holder is told what happened."""
        return row.expires_at_ms + self._keep_ms <= now_ms

    def _send_is_old(self, row: SendRow, now_ms: int) -> bool:
        """A key is kept for its whole window; an unknown send for ever (spec: K5, K10)."""
        settled = row.state in (SendState.DELIVERED, SendState.WITHDRAWN)
        return settled and row.settled_at_ms + self._window_ms <= now_ms

    def _sweep(self, kind: type[Row], is_old: Callable[[Any, int], bool]) -> int:
        def remove(tx: Transaction, row: Row) -> bool:
            if old := is_old(row, tx.now_ms) and not self._goes_on(tx, row):
                tx.delete(kind, row.key)
            return old

        return self._step_through(kind, remove)

    def _goes_on(self, tx: Transaction, row: Row) -> bool:
        """A conflict is counted for as long as its lease lives, however often that is renewed (R2)."""
        if not isinstance(row, ConflictRow):
            return False
        lease = tx.get(LeaseRow, row.key.rpartition(" ")[2])
        return lease is not None and lease.token == row.token and lease.expires_at_ms > tx.now_ms

    def _shorten_timelines(self) -> int:
        def shorten(tx: Transaction, row: TimelineRow) -> bool:
            kept = tuple(each for each in row.entries if self._cooldown.matters(each, tx.now_ms))
            if kept == row.entries:
                return False
            tx.put(msgspec.structs.replace(row, entries=kept))
            if not kept:
                tx.delete(TimelineRow, row.key)
            return True

        return self._step_through(TimelineRow, shorten)

    def _step_through(self, kind: type[Row], change: Callable[[Transaction, Any], bool]) -> int:
        """Change a table a batch at a time, so that nobody waits long for the store."""
        changed, after = 0, ""
        while True:
            with self._store.transaction(self._deadline_s) as tx:
                rows = tx.rows(kind, after, BATCH_ROWS)
                point("clean_up.read", kind.__name__)
                changed += sum(change(tx, row) for row in rows)
            if len(rows) < BATCH_ROWS:
                return changed
            after = rows[-1].key
