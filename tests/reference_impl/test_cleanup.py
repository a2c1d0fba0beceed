"""Clean-up: old rows go, what decides stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness.contract import Cleaned, Code, Found, Received, Refused, SendState
from leaserace.reference_impl import cleanup
from leaserace.reference_impl.orchestration import Run, SentTable
from leaserace.reference_impl.records import (
    TABLES,
    BudgetRow,
    CancelRow,
    ConflictRow,
    FenceRow,
    HaltRow,
    LeaseRow,
    OverrideRow,
    SendRow,
    SentRow,
    StepRow,
    SuppressionRow,
    TimelineRow,
    TrafficRow,
)
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import in_thread

DAY_MS = 86_400_000


def counts(desk: Desk) -> dict[str, int]:
    with desk.store.transaction(1.0) as tx:
        return {kind.__name__: len(tx.rows(kind)) for kind in TABLES if tx.rows(kind)}


def fill(desk: Desk) -> None:
    """One row in every table."""
    desk.policy = replace(desk.policy, breaker_minimum=1)
    _, message, _ = desk.sent()
    desk.mailbox("support-01").acquire(JANE)
    desk.mailbox().suppress(JANE, "bounce")
    desk.mailbox().approve("sales-01", "grace")
    desk.mailbox().override(JANE, "grace", "she asked")
    Run(desk.store, "run-7").step("draft", lambda: "kept")
    SentTable(desk.store).send(desk.mailbox(), message)
    desk.mailbox().cancel("run:9:send")
    desk.mailbox().receive(Received(event_id="<1@acme.com>", sender=JANE))


def test_nothing_that_may_still_matter_is_removed(desk: Desk) -> None:
    """spec: K5"""
    fill(desk)
    before = counts(desk)
    assert set(before) == {kind.__name__ for kind in TABLES}
    assert desk.mailbox().clean_up() == Cleaned(rows=0)
    assert counts(desk) == before


def test_counters_and_the_list_stay_for_ever(desk: Desk) -> None:
    """spec: L4, C1, X11, X17"""
    fill(desk)
    desk.clock.advance_ms(1000 * DAY_MS)
    assert desk.mailbox().clean_up() == Cleaned(rows=7)
    marks = (FenceRow, SuppressionRow, CancelRow)
    kept = (*marks, TrafficRow, HaltRow, BudgetRow, SentRow, StepRow)
    assert counts(desk) == {kind.__name__: 1 for kind in kept}


def test_a_conflict_is_counted_as_long_as_its_lease_lives(desk: Desk) -> None:
    """spec: R2, K5: also where rows are kept no longer than they must be."""
    desk.policy = replace(desk.policy, keep_rows_s=0.0)
    lease = desk.lease()
    codes = []
    for _ in range(3):
        answer = desk.mailbox("support-01").acquire(JANE)
        assert isinstance(answer, Refused)
        codes.append(answer.code)
        desk.clock.advance_ms(1000)
        desk.mailbox("digest-01").clean_up()
    assert codes == [Code.CONTACT_OWNED, Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED]
    desk.mailbox().release(JANE, lease.token)
    desk.mailbox("digest-01").clean_up()
    assert "ConflictRow" not in counts(desk)


@pytest.mark.parametrize(("early_ms", "kept"), [(1, True), (0, False)])
def test_a_key_is_kept_for_its_whole_window(desk: Desk, early_ms: int, kept: bool) -> None:
    """spec: K5, X15"""
    _, message, _ = desk.sent()
    assert message.key
    desk.clock.advance_ms(3_600_000 - early_ms)
    desk.mailbox().clean_up()
    found = desk.mailbox().lookup(message.key)
    assert isinstance(found, Found)
    assert (found.state is SendState.DELIVERED) is kept


def test_an_unknown_send_is_kept_for_ever(desk: Desk) -> None:
    """spec: K10, X9"""
    lease = desk.lease()
    desk.transport.behaviour = "silent"
    desk.mailbox().send(desk.message(lease))
    desk.clock.advance_ms(1000 * DAY_MS)
    desk.mailbox().clean_up()
    with desk.store.transaction(1.0) as tx:
        assert len(tx.rows(SendRow)) == 1
        assert len(tx.rows(TimelineRow)) == 1


def test_a_timeline_loses_what_is_old_only(desk: Desk) -> None:
    """spec: C5, K5"""
    desk.sent()
    desk.clock.advance_ms(6 * DAY_MS)
    desk.sent()
    desk.clock.advance_ms(2 * DAY_MS)
    desk.mailbox().clean_up()
    with desk.store.transaction(1.0) as tx:
        row = tx.get(TimelineRow, JANE)
    assert row is not None
    assert len(row.entries) == 1


def test_an_old_message_leaves_the_timeline_when_the_next_is_written(desk: Desk) -> None:
    """spec: C5"""
    desk.sent()
    desk.clock.advance_ms(8 * DAY_MS)
    desk.sent()
    with desk.store.transaction(1.0) as tx:
        row = tx.get(TimelineRow, JANE)
    assert row is not None
    assert len(row.entries) == 1


def test_clean_up_goes_through_a_table_in_steps(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it holds the store for a moment only, and never takes part in a race. spec: K5, X8"""
    monkeypatch.setattr(cleanup, "BATCH_ROWS", 2)
    for number in range(5):
        desk.lease(address=f"jane{number}@acme.com")
    desk.clock.advance_ms(2 * DAY_MS)
    live = desk.lease(address="jane9@acme.com")
    assert desk.mailbox().clean_up() == Cleaned(rows=5)
    with desk.store.transaction(1.0) as tx:
        assert [row.key for row in tx.rows(LeaseRow)] == [live.key]
        assert len(tx.rows(FenceRow)) == 6
        assert tx.rows(OverrideRow) == []
        assert tx.rows(ConflictRow) == []


def test_a_busy_store_stops_clean_up_and_says_so(desk: Desk) -> None:
    """spec: R"""
    mailbox = desk.mailbox()
    with desk.store.transaction(1.0):
        answer = in_thread(mailbox.clean_up)
    assert isinstance(answer, Refused)
    assert answer.code is Code.STORE_BUSY


def test_a_holder_whose_lease_was_cleaned_up_is_no_holder(desk: Desk) -> None:
    """spec: S3, L4"""
    lease = desk.lease()
    desk.clock.advance_ms(2 * DAY_MS)
    desk.mailbox().clean_up()
    answer = desk.mailbox().send(replace(desk.message(lease)))
    assert isinstance(answer, Refused)
    assert answer.code is Code.NOT_HOLDER
