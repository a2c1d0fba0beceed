"""The audit log: every decision, with what it was made on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness import points
from leaserace.harness.contract import Code, Refused
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import Crash, Watch, crash


def test_a_send_can_be_followed_from_the_grant_to_the_delivery(desk: Desk) -> None:
    """spec: R3"""
    lease, message, sent = desk.sent()
    desk.mailbox().renew(JANE, lease.token)
    desk.mailbox().release(JANE, lease.token)
    records = desk.log()
    assert [(each.event, each.decision) for each in records] == [
        ("acquire", "granted"),
        ("send", "authorized"),
        ("dispatch", "dispatching"),
        ("deliver", "delivered"),
        ("renew", "renewed"),
        ("release", "released"),
    ]
    assert [each.seq for each in records] == [1, 2, 3, 4, 5, 6]
    assert {each.token for each in records} == {lease.token}
    assert {each.owner for each in records} == {"sales-01"}
    assert {each.key for each in records} == {JANE}
    assert {each.message_id for each in records[1:4]} == {sent.message_id}
    assert {each.idempotency_key for each in records[1:4]} == {message.key}


def test_a_refusal_is_logged_with_the_state_that_explains_it(cooling_desk: Desk) -> None:
    """spec: R3, S7"""
    desk = cooling_desk
    lease, _, _ = desk.sent("sales-01")
    desk.mailbox("support-01").acquire(JANE)
    desk.clock.advance_ms(1000)
    desk.mailbox("sales-01").suppress(JANE, "bounce")
    desk.mailbox("sales-01").send(desk.message(lease))
    stored = {"owner": "sales-01", "token": 1, "expires_at_ms": lease.expires_at_ms}
    owned = desk.log("acquire")[-1]
    assert (owned.decision, owned.actor, owned.owner) == (
        Code.CONTACT_OWNED,
        "support-01",
        "sales-01",
    )
    counted = {"conflicts": 1, "escalate_after": desk.policy.escalate_after}
    assert owned.state == {"fence": 1, "lease": stored, **counted}
    refused = desk.log("send")[-1]
    assert refused.decision == Code.SUPPRESSED
    assert refused.reasons == (Code.SUPPRESSED, Code.COOLDOWN_ACTIVE)
    assert refused.state["lease"] == stored
    assert refused.state["suppression"] == ["bounce"]
    assert refused.state["cooldown"]["until_ms"] > refused.at_ms


@pytest.mark.parametrize("f", ["renew", "release"])
def test_refused_renewals_and_releases_are_logged(desk: Desk, f: str) -> None:
    """spec: R3"""
    getattr(desk.mailbox(), f)(JANE, 5)
    (record,) = desk.log()
    assert (record.event, record.decision, record.token) == (f, Code.NOT_HOLDER, 5)
    assert record.state == {"fence": 0, "lease": None}


def test_a_decision_that_was_not_committed_is_not_in_the_log(desk: Desk) -> None:
    """spec: R3, S6"""
    points.listen(Watch("acquire.granted", crash))
    with pytest.raises(Crash):
        desk.mailbox().acquire(JANE)
    assert desk.log() == []


def test_what_a_crashed_worker_left_is_settled_in_the_log(desk: Desk) -> None:
    """spec: R3, S8"""
    lease = desk.lease()
    message = desk.message(lease)
    points.listen(Watch("send.dispatching", crash))
    with pytest.raises(Crash):
        desk.mailbox("sales-01").send(message)
    points.listen(None)
    desk.clock.advance_ms(round(desk.policy.send_deadline_s * 1000))
    desk.mailbox("support-01").send(message)
    settled, refused = desk.log()[-2:]
    assert (settled.decision, settled.actor, settled.owner) == ("unknown", "support-01", "sales-01")
    assert "did not come back" in settled.state["why"]
    assert refused.decision == Code.SEND_STATUS_UNKNOWN
    assert refused.state["send_state"] == "unknown"


def test_the_stop_before_a_hand_over_is_logged_as_refusal_and_withdrawal(desk: Desk) -> None:
    """spec: R3, S8"""
    lease = desk.lease()
    points.listen(Watch("send.recorded", lambda: desk.mailbox().suppress(JANE, "opt-out")))
    answer = desk.mailbox().send(desk.message(lease))
    assert isinstance(answer, Refused)
    assert [(each.event, each.decision) for each in desk.log()[-2:]] == [
        ("dispatch", Code.SUPPRESSED),
        ("deliver", "withdrawn"),
    ]


def test_times_in_the_log_are_the_stores(desk: Desk) -> None:
    """spec: L5, R3"""
    desk.clock.set_ms(1_234)
    desk.lease()
    assert desk.log()[0].at_ms == 1_234


def test_a_duplicate_can_be_traced_to_the_state_that_allowed_it(cooling_desk: Desk) -> None:
    """Two messages inside a cooldown: the log names the override. spec: R3, C4"""
    desk = cooling_desk
    lease, _, _ = desk.sent()
    desk.mailbox().override(JANE, "grace", "she asked")
    desk.mailbox().send(replace(desk.message(lease), body="again\n"))
    authorised = [record for record in desk.log("send") if record.decision == "authorized"]
    assert authorised[1].state["override"] == {"person": "grace"}
    assert authorised[1].state["cooldown"]["until_ms"] > authorised[1].at_ms
