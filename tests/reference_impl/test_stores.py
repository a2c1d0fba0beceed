"""What every store must do; the same tests for each."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from leaserace.harness.clocks import ManualClock, SystemClock
from leaserace.harness.contract import AuditRecord, MessageKind, SendState, UsageError
from leaserace.reference_impl.records import (
    TABLES,
    Bucket,
    BudgetRow,
    CancelRow,
    Cause,
    ConflictRow,
    Contacted,
    Decision,
    FenceRow,
    HaltRow,
    InboundRow,
    LeaseRow,
    OptOutRow,
    OverrideRow,
    Row,
    SendRow,
    SentRow,
    Spent,
    StepRow,
    SuppressionRow,
    TimelineRow,
    TrafficRow,
)
from leaserace.reference_impl.stores.memory import MemoryStore
from leaserace.reference_impl.stores.protocol import Store, StoreBusy, StoreGone, Transaction
from leaserace.reference_impl.stores.schema import NAMES
from leaserace.reference_impl.stores.sqlite import SqliteStore
from leaserace.reference_impl.stores.sqlite_crash import crash_writer
from tests.reference_impl.watch import Crash

SOON_S = 0.02
PATIENT_S = 5.0
STATE: Mapping[str, Any] = {"fence": 3, "lease": None}
ROWS: tuple[Row, ...] = (
    FenceRow(key="a", token=3),
    LeaseRow(key="a", owner="sales-01", token=3, acquired_at_ms=1, expires_at_ms=9, length_ms=8),
    SendRow(
        key="run:1",
        fingerprint="f",
        contact="a",
        agent="sales-01",
        token=3,
        attempt=1,
        message_id="<1@x>",
        state=SendState.UNKNOWN,
        authorized_at_ms=1,
        deadline_ms=2,
        settled_at_ms=3,
    ),
    TimelineRow(
        key="a",
        entries=(
            Contacted(
                message_id="<1@x>",
                send="run:1",
                agent="sales-01",
                kind=MessageKind.TRANSACTIONAL,
                at_ms=1,
                confirmed=True,
            ),
        ),
    ),
    SuppressionRow(key="é'; --", causes=(Cause(reason="bounce", at_ms=4),), cleared_at_ms=2),
    OverrideRow(key="a", person="grace", reason="she asked", at_ms=1, until_ms=2),
    ConflictRow(key="sales-01 a", token=3, count=2, at_ms=1),
    InboundRow(key="<2@y>", contact="a", reason="opt-out", at_ms=1),
    OptOutRow(key="0f", contact="a", until_ms=2),
    CancelRow(key="run:1", agent="sales-01", at_ms=1),
    TrafficRow(key="all", buckets=(Bucket(start_ms=0, delivered=2, bounced=1, complained=1),)),
    HaltRow(key="all", reason="bounces", at_ms=1),
    SentRow(key="t:a:q3", message_id="<1@x>", at_ms=1),
    StepRow(key="run:send", step="send", about="k", result="{}", number=1, at_ms=1),
    BudgetRow(key="sales-01", spent=(Spent(send="run:1", at_ms=1),), approved=2),
)


def decision(event: str) -> Decision:
    return Decision(
        at_ms=7,
        actor="sales-01",
        event=event,
        key="a",
        decision="granted",
        state=STATE,
        reasons=("one", "two"),
    )


def test_a_table_is_tested_for_every_row_type() -> None:
    assert {type(row) for row in ROWS} == set(TABLES) == set(NAMES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_a_row_comes_back_as_it_was_put(store: Store, row: Row) -> None:
    with store.transaction(PATIENT_S) as tx:
        assert tx.get(type(row), row.key) is None
        tx.put(row)
        assert tx.get(type(row), row.key) == row
    with store.transaction(PATIENT_S) as tx:
        assert tx.get(type(row), row.key) == row
        tx.delete(type(row), row.key)
        tx.delete(type(row), row.key)
        assert tx.get(type(row), row.key) is None


def test_a_put_replaces_the_row_of_its_key(store: Store) -> None:
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=1))
        tx.put(FenceRow(key="b", token=5))
        tx.put(FenceRow(key="a", token=2))
        assert tx.get(FenceRow, "a") == FenceRow(key="a", token=2)
        assert tx.get(FenceRow, "b") == FenceRow(key="b", token=5)


@pytest.mark.parametrize("error", [ValueError, Crash])
def test_a_transaction_that_raises_leaves_nothing(store: Store, error: type[BaseException]) -> None:
    """A crash inside a transaction included. spec: S6"""
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="kept", token=1))
        tx.put(FenceRow(key="removed", token=1))
        tx.append(decision("first"))
    with pytest.raises(error):
        _change_all_and_raise(store, error)
    with store.transaction(PATIENT_S) as tx:
        assert tx.rows(FenceRow) == [
            FenceRow(key="kept", token=1),
            FenceRow(key="removed", token=1),
        ]
    assert [record.event for record in store.audit()] == ["first"]


def _change_all_and_raise(store: Store, error: type[BaseException]) -> None:
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="kept", token=2))
        tx.put(FenceRow(key="kept", token=3))
        tx.put(FenceRow(key="new", token=1))
        tx.delete(FenceRow, "new")
        tx.put(FenceRow(key="new", token=2))
        tx.delete(FenceRow, "removed")
        tx.append(decision("second"))
        raise error


def test_rows_come_in_pages_by_key(store: Store) -> None:
    with store.transaction(PATIENT_S) as tx:
        for number in (3, 1, 2, 5, 4):
            tx.put(FenceRow(key=f"k{number}", token=number))
        assert [row.key for row in tx.rows(FenceRow, "", 2)] == ["k1", "k2"]
        assert [row.key for row in tx.rows(FenceRow, "k2", 2)] == ["k3", "k4"]
        assert [row.key for row in tx.rows(FenceRow, "k4", 2)] == ["k5"]
        assert tx.rows(LeaseRow) == []


def test_the_audit_log_keeps_the_order_of_commits(store: Store) -> None:
    """spec: R3"""
    for event in ("one", "two"):
        with store.transaction(PATIENT_S) as tx:
            tx.append(decision(event))
    assert list(store.audit()) == [
        AuditRecord(
            seq=seq,
            at_ms=7,
            actor="sales-01",
            event=event,
            key="a",
            decision="granted",
            state=STATE,
            reasons=("one", "two"),
        )
        for seq, event in ((1, "one"), (2, "two"))
    ]


def test_a_held_store_is_busy_within_its_deadline(store: Store) -> None:
    """spec: R"""
    busy: list[bool] = []

    def ask() -> None:
        try:
            with store.transaction(SOON_S):
                busy.append(False)
        except StoreBusy:
            busy.append(True)

    with store.transaction(PATIENT_S):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    ask()
    assert busy == [True, False]


def test_a_waiting_transaction_gets_the_store_when_it_is_free(store: Store) -> None:
    order: list[str] = []
    begun = threading.Event()

    def ask() -> None:
        begun.set()
        with store.transaction(PATIENT_S) as tx:
            tx.put(FenceRow(key="a", token=2))
            order.append("second")

    with store.transaction(PATIENT_S) as tx:
        thread = threading.Thread(target=ask)
        thread.start()
        begun.wait()
        tx.put(FenceRow(key="a", token=1))
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_transactions_of_many_threads_never_mix(store: Store) -> None:
    """spec: S6"""

    def count() -> None:
        for _ in range(25):
            with store.transaction(60.0) as tx:
                row = tx.get(FenceRow, "a")
                tx.put(FenceRow(key="a", token=1 + (row.token if row else 0)))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.transaction(PATIENT_S) as tx:
        assert tx.get(FenceRow, "a") == FenceRow(key="a", token=100)


def test_a_transaction_sees_one_instant_of_the_stores_clock(
    store: Store, clock: ManualClock
) -> None:
    """spec: L5"""
    with store.transaction(PATIENT_S) as tx:
        before = tx.now_ms
        clock.advance_ms(1000)
        assert tx.now_ms == before
    assert store.now_ms() == before + 1000


def test_the_same_records_can_be_judged_by_another_clock(store: Store) -> None:
    """spec: L5"""
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=1))
    other = store.on_clock(ManualClock(5))
    with other.transaction(PATIENT_S) as tx:
        assert tx.now_ms == 5
        assert tx.get(FenceRow, "a") == FenceRow(key="a", token=1)
    other.close()


def test_a_store_that_was_closed_can_be_used_again(store: Store) -> None:
    store.close()
    with store.transaction(PATIENT_S) as tx:
        assert tx.rows(FenceRow) == []


def test_sqlites_own_clock_agrees_with_the_machines(tmp_path: Path) -> None:
    """spec: L5"""
    store = SqliteStore.create(tmp_path / "mailbox.db")
    before = SystemClock().now_ms()
    now = store.now_ms()
    after = SystemClock().now_ms()
    store.close()
    assert before - 1 <= now <= after + 1


def test_the_memory_stores_own_clock_is_the_machines() -> None:
    assert abs(MemoryStore().now_ms() - SystemClock().now_ms()) < 1000


def test_a_restart_of_the_store_keeps_its_rows(tmp_path: Path) -> None:
    """spec: L4"""
    first = SqliteStore.create(tmp_path / "mailbox.db", full_sync=True)
    with first.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=7))
    first.close()
    again = SqliteStore.create(tmp_path / "mailbox.db")
    with again.transaction(PATIENT_S) as tx:
        assert tx.get(FenceRow, "a") == FenceRow(key="a", token=7)
    again.close()


@pytest.mark.parametrize(("full", "level"), [(False, 1), (True, 2)])
def test_how_hard_a_commit_waits_for_the_disk_is_chosen(
    tmp_path: Path, full: bool, level: int
) -> None:
    store = SqliteStore.create(tmp_path / "mailbox.db", full_sync=full).on_clock(ManualClock())
    with store.transaction(PATIENT_S) as tx:
        found = tx._connection.execute("PRAGMA synchronous").fetchone()
    store.close()
    assert found == (level,)


def test_the_audit_log_of_a_file_can_not_be_changed(tmp_path: Path) -> None:
    """spec: R3"""
    store = SqliteStore.create(tmp_path / "mailbox.db")
    with store.transaction(PATIENT_S) as tx:
        tx.append(decision("first"))
    store.close()
    with sqlite3.connect(tmp_path / "mailbox.db") as connection:
        for statement in ("DELETE FROM audit", "UPDATE audit SET actor = 'x'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)
    connection.close()


def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone/mailbox\.db.*can be written"):
        SqliteStore.create(tmp_path / "gone" / "mailbox.db")


def test_another_fault_of_the_file_is_not_taken_for_a_busy_store(tmp_path: Path) -> None:
    store = SqliteStore.create(tmp_path / "mailbox.db")
    with store.transaction(PATIENT_S), pytest.raises(sqlite3.OperationalError, match="within"):
        store.transaction(PATIENT_S).__enter__()
    store.close()


def test_equal_contents_of_a_memory_store_are_equal_values() -> None:
    one, two = MemoryStore(), MemoryStore()
    for store in (one, two):
        with store.transaction(PATIENT_S) as tx:
            for row in ROWS:
                tx.put(row)
    assert one.content() == two.content()
    assert hash(one.content()) == hash(two.content())
    with two.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=4))
    assert one.content() != two.content()


def test_a_crash_between_transactions_loses_nothing(store: Store) -> None:
    """spec: L4"""
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=7))
        tx.append(decision("first"))
    store.crash()
    with store.transaction(PATIENT_S) as tx:
        assert tx.get(FenceRow, "a") == FenceRow(key="a", token=7)
        assert [row.key for row in tx.rows(FenceRow)] == ["a"]
    assert len(list(store.audit())) == 1


def half_done(store: Store, then: Callable[[Transaction], object]) -> None:
    """Something is written, the store crashes, and the transaction goes on."""
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=8))
        tx.append(decision("half"))
        store.crash()
        with store.transaction(0.0) as other:
            other.put(FenceRow(key="b", token=1))
        then(tx)


@pytest.mark.parametrize(
    "then",
    [
        lambda tx: tx.get(FenceRow, "a"),
        lambda tx: tx.put(FenceRow(key="a", token=9)),
        lambda tx: tx.delete(FenceRow, "a"),
        lambda tx: tx.rows(FenceRow),
        lambda tx: tx.append(decision("late")),
        lambda _: None,
    ],
    ids=("get", "put", "delete", "rows", "append", "commit"),
)
def test_a_transaction_the_store_crashed_in_leaves_nothing_and_says_so(
    then: Callable[[Transaction], object],
) -> None:
    """spec: L4, S6"""
    store = MemoryStore()
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=7))
    with pytest.raises(StoreGone):
        half_done(store, then)
    with store.transaction(0.0) as tx:
        assert list(tx.rows(FenceRow)) == [FenceRow(key="a", token=7), FenceRow(key="b", token=1)]
    assert not list(store.audit())


def test_a_crash_of_the_agent_in_a_crash_of_the_store_is_its_own() -> None:
    """spec: S8"""

    def die(_: Transaction) -> None:
        raise KeyboardInterrupt

    store = MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        half_done(store, die)
    with store.transaction(0.0) as tx:
        assert tx.get(FenceRow, "a") is None


def test_a_file_whose_writer_was_killed_shows_nothing_of_it(tmp_path: Path) -> None:
    """spec: L4: it had removed every row, and written so much that the file had seen it."""
    path = tmp_path / "mailbox.db"
    store = SqliteStore.create(path)
    with store.transaction(PATIENT_S) as tx:
        tx.put(FenceRow(key="a", token=7))
    size = path.with_name("mailbox.db-wal").stat().st_size
    assert crash_writer(path)
    assert path.with_name("mailbox.db-wal").stat().st_size > size
    with store.transaction(PATIENT_S) as tx:
        assert tx.get(FenceRow, "a") == FenceRow(key="a", token=7)
    with sqlite3.connect(path) as connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone()
    connection.close()
    store.close()


def test_a_writer_that_never_had_the_file_changes_nothing(tmp_path: Path) -> None:
    store = SqliteStore.create(tmp_path / "mailbox.db")
    with store.transaction(PATIENT_S):
        assert not crash_writer(tmp_path / "mailbox.db")
    store.close()
