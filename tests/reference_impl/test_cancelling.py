"""Cancelling a send: one of the two wins, and the answer says which."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness import points
from leaserace.harness.contract import Answer, Code, Found, Refused, SendState, Sent
from tests.reference_impl.desk import JANE, SHORT, Desk
from tests.reference_impl.watch import Watch, in_thread

CANCELLED = Found(state=SendState.CANCELLED)


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def cancelled_at(desk: Desk, point: str) -> tuple[Answer, Answer]:
    """What a send is told that stands at the point while another agent cancels it, and that agent."""
    told: list[Answer] = []
    message = desk.message(desk.lease())
    other = desk.mailbox("support-01")
    points.listen(Watch(point, lambda: in_thread(lambda: told.append(other.cancel("run:1:send")))))
    answer = desk.mailbox().send(message)
    points.listen(None)
    return answer, told[0]


def test_a_send_that_is_cancelled_before_it_comes_is_never_sent(desk: Desk) -> None:
    """spec: X17"""
    mailbox = desk.mailbox()
    assert mailbox.cancel(" RUN:1:send ") == CANCELLED
    assert mailbox.cancel("run:1:send") == CANCELLED
    message = desk.message(desk.lease())
    answer = mailbox.send(message)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.detail) == (
        Code.SEND_CANCELLED,
        f"sales-01 cancelled 'run:1:send' at {desk.clock.now_ms()}",
    )
    assert mailbox.lookup("run:1:send") == CANCELLED
    assert not desk.transport.taken
    (record,) = (each for each in desk.log("send") if each.idempotency_key == "run:1:send")
    assert (record.decision, record.key) == (Code.SEND_CANCELLED, JANE)
    assert record.state["cancelled_by"] == "sales-01"


def test_a_send_that_is_recorded_and_not_handed_over_is_withdrawn(desk: Desk) -> None:
    """spec: X17, S8, K6"""
    answer, told = cancelled_at(desk, "send.recorded")
    assert told == CANCELLED
    assert code_of(answer) is Code.SEND_CANCELLED
    again = replace(desk.message(), key="run:1:send", subject="Follow-up 1")
    assert desk.mailbox().lookup("run:1:send") == CANCELLED
    assert isinstance(desk.mailbox().send(again), Refused)
    assert not desk.transport.taken
    assert [each.decision for each in desk.log("cancel")] == ["cancelled"]


def test_its_cooldown_is_free_again(cooling_desk: Desk) -> None:
    """spec: X17, S9"""
    cancelled_at(cooling_desk, "send.recorded")
    newer = cooling_desk.message(token=1)
    assert isinstance(cooling_desk.mailbox().send(newer), Sent)


@pytest.mark.parametrize("point", ["send.dispatching", "send.handed_over"])
def test_what_may_have_been_handed_over_is_too_late_to_cancel(desk: Desk, point: str) -> None:
    """spec: X17, S8"""
    answer, told = cancelled_at(desk, point)
    assert isinstance(answer, Sent)
    assert told == Found(state=SendState.DISPATCHING, message_id=answer.message_id)
    assert desk.mailbox().cancel("run:1:send") == Found(
        state=SendState.DELIVERED, message_id=answer.message_id
    )
    assert len(desk.transport.taken) == 1
    assert [each.decision for each in desk.log("cancel")] == ["too_late", "too_late"]


def test_an_unknown_send_is_asked_about_before_it_is_given_up(desk: Desk) -> None:
    """spec: X17, S9: only the receiving side can tell."""
    message = desk.message(desk.lease())
    desk.transport.behaviour, desk.transport.searchable = "lose", True
    assert code_of(desk.mailbox().send(message)) is Code.SEND_STATUS_UNKNOWN
    told = desk.mailbox().cancel("run:1:send")
    assert isinstance(told, Found)
    assert told.state is SendState.UNKNOWN
    desk.transport.behaviour = "accept"
    desk.clock.advance_ms(round(SHORT.absent_after_s * 1000))
    assert desk.mailbox().cancel("run:1:send") == CANCELLED
    assert code_of(desk.mailbox().send(message)) is Code.SEND_CANCELLED
    assert not desk.transport.taken


def test_the_mark_outlives_clean_up(desk: Desk) -> None:
    """spec: X17, K5"""
    cancelled_at(desk, "send.recorded")
    desk.clock.advance_ms(400 * 86_400_000)
    desk.mailbox().clean_up()
    assert desk.mailbox().cancel("run:1:send") == CANCELLED
    assert desk.mailbox().lookup("run:1:send") == CANCELLED


def test_what_is_no_key_is_refused(desk: Desk) -> None:
    """spec: K3, K4"""
    assert code_of(desk.mailbox().cancel("")) is Code.KEY_MISSING
    assert code_of(desk.mailbox().cancel("no key")) is Code.KEY_INVALID
