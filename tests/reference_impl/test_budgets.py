"""The circuit breaker and the effect budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness import points
from leaserace.harness.contract import Code, Found, Message, Noted, Refused, SendState, Sent
from leaserace.reference_impl.records import BudgetRow, TrafficRow
from tests.reference_impl.desk import JANE, SHORT, Desk
from tests.reference_impl.watch import Watch, in_thread

HOUR_MS = 3_600_000
BREAKING = replace(
    SHORT, breaker_minimum=20, bounce_rate=0.1, complaint_rate=0.05, breaker_window_s=24 * 3600.0
)
FRUGAL = replace(SHORT, budget_sends=2, budget_window_s=3600.0)


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def person(number: int) -> str:
    return f"person-{number}@acme.com"


def deliver(desk: Desk, count: int) -> None:
    """So many deliveries to so many persons."""
    for number in range(count):
        desk.sent(to=person(number))


def fail(desk: Desk, reason: str, count: int, **when: int) -> None:
    for number in range(count):
        assert isinstance(desk.mailbox().suppress(person(number), reason, **when), Noted)


def try_to_send(desk: Desk, agent: str = "sales-01", **fields: str) -> Sent | Refused:
    """A new send under a lease of its own, which is released again."""
    lease = desk.lease(agent)
    answer = desk.mailbox(agent).send(desk.message(lease, **fields))
    desk.mailbox(agent).release(JANE, lease.token)
    return answer


# -- circuit breaker -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deliveries", "reason", "count", "halted"),
    [
        (20, "bounce", 2, False),
        (20, "bounce", 3, True),
        (20, "complaint", 1, False),
        (20, "complaint", 2, True),
        (19, "bounce", 19, False),
        (20, "opt-out", 20, False),
    ],
)
def test_too_many_bounces_or_complaints_halt_all_sending(
    desk: Desk, deliveries: int, reason: str, count: int, halted: bool
) -> None:
    """Above the rate, not at it, and never on too few deliveries. spec: O5"""
    desk.policy = BREAKING
    deliver(desk, deliveries)
    fail(desk, reason, count)
    answer = try_to_send(desk, "support-01")
    assert code_of(answer) is (Code.SENDING_HALTED if halted else None)
    assert len(desk.transport.taken) == deliveries + (not halted)


def test_a_halted_answer_says_why_and_is_logged_with_its_state(desk: Desk) -> None:
    """spec: O5, R3"""
    desk.policy = BREAKING
    deliver(desk, 20)
    fail(desk, "bounce", 4)
    refused = try_to_send(desk)
    assert isinstance(refused, Refused)
    assert "3 bounces in 20 deliveries: more than 10.00%" in refused.detail
    record = desk.log("send")[-1]
    assert record.decision == Code.SENDING_HALTED
    assert record.state["halted"] in refused.detail


def test_sending_stays_halted_until_a_person_resumes_it(desk: Desk) -> None:
    """Neither time nor an agent does. spec: O5, O7"""
    desk.policy = replace(BREAKING, people=("grace",))
    deliver(desk, 20)
    fail(desk, "bounce", 3)
    desk.clock.advance_ms(48 * HOUR_MS)
    assert code_of(desk.mailbox().resume("sales-01", "retry")) is Code.NOT_AUTHORISED
    assert code_of(try_to_send(desk)) is Code.SENDING_HALTED
    assert isinstance(desk.mailbox().resume("grace", "list was cleaned"), Noted)
    assert isinstance(try_to_send(desk), Sent)
    assert [each.actor for each in desk.log("resume")] == ["sales-01", "grace"]


def test_after_a_person_resumed_it_counting_begins_anew(desk: Desk) -> None:
    """spec: O5"""
    desk.policy = BREAKING
    deliver(desk, 20)
    fail(desk, "bounce", 3)
    desk.mailbox().resume("grace", "seen to")
    desk.mailbox().suppress(JANE.replace("jane", "ann"), "bounce")
    assert isinstance(try_to_send(desk), Sent)


def test_a_bounce_told_of_twice_counts_once(desk: Desk) -> None:
    """spec: O5, O4"""
    desk.policy = BREAKING
    deliver(desk, 20)
    for _ in range(5):
        fail(desk, "bounce", 2)
    assert isinstance(try_to_send(desk), Sent)


def test_what_is_older_than_the_window_does_not_count(desk: Desk) -> None:
    """Neither deliveries, nor bounces that are told of late. spec: O5, C7"""
    desk.policy = BREAKING
    long_ago_ms = desk.clock.now_ms()
    desk.clock.advance_ms(30 * HOUR_MS)
    deliver(desk, 20)
    fail(desk, "bounce", 19, event_at_ms=long_ago_ms)
    assert isinstance(try_to_send(desk), Sent)
    desk.clock.advance_ms(26 * HOUR_MS)
    desk.sent(to=person(21))
    with desk.store.transaction(1.0) as tx:
        row = tx.get(TrafficRow, "all")
    assert row is not None
    assert sum(each.delivered for each in row.buckets) == 1


def test_bounces_and_deliveries_of_several_hours_add_up(desk: Desk) -> None:
    """spec: O5"""
    desk.policy = BREAKING
    for hour in range(4):
        for number in range(5):
            desk.sent(to=person(5 * hour + number))
        desk.clock.advance_ms(HOUR_MS)
    fail(desk, "bounce", 3)
    assert code_of(try_to_send(desk)) is Code.SENDING_HALTED


def test_the_breaker_is_looked_at_again_before_the_message_may_leave(desk: Desk) -> None:
    """What was authorised and not handed over stays. spec: O5, S8"""
    desk.policy = BREAKING
    deliver(desk, 20)
    lease = desk.lease()
    message = desk.message(lease)
    points.listen(Watch("send.recorded", lambda: fail(desk, "bounce", 3)))
    assert code_of(desk.mailbox().send(message)) is Code.SENDING_HALTED
    assert desk.mailbox().lookup(message.key or "") == Found(state=SendState.WITHDRAWN)
    assert len(desk.transport.taken) == 20


def test_a_replay_is_answered_while_sending_is_halted(desk: Desk) -> None:
    """It sends nothing. spec: O5, S2, K2"""
    desk.policy = BREAKING
    deliver(desk, 20)
    _, message, sent = desk.sent()
    fail(desk, "bounce", 3)
    assert desk.mailbox().send(message) == replace(sent, replay=True)


def test_a_policy_may_do_without_a_breaker(desk: Desk) -> None:
    """spec: O5"""
    desk.policy = replace(BREAKING, breaker_minimum=0)
    deliver(desk, 3)
    fail(desk, "bounce", 3)
    assert isinstance(try_to_send(desk), Sent)
    with desk.store.transaction(1.0) as tx:
        assert not tx.rows(TrafficRow)


# -- effect budget -------------------------------------------------------------------------------


def test_beyond_its_budget_an_agent_needs_a_person(desk: Desk) -> None:
    """Each agent has its own. spec: O5"""
    desk.policy = FRUGAL
    answers = [code_of(try_to_send(desk)) for _ in range(3)]
    assert answers == [None, None, Code.APPROVAL_REQUIRED]
    assert isinstance(try_to_send(desk, "support-01"), Sent)
    assert len(desk.transport.taken) == 3
    assert desk.log("send")[2].state["spent"] == 2


def test_a_person_approves_a_number_of_sends(desk: Desk) -> None:
    """No agent does. spec: O5, O7"""
    desk.policy = FRUGAL
    for _ in range(2):
        try_to_send(desk)
    assert code_of(desk.mailbox().approve("sales-01", "sales-01", 9)) is Code.NOT_AUTHORISED
    assert isinstance(desk.mailbox().approve("sales-01", "grace", -9), Noted)
    assert code_of(try_to_send(desk)) is Code.APPROVAL_REQUIRED
    assert isinstance(desk.mailbox("support-01").approve("sales-01", "grace"), Noted)
    assert [code_of(try_to_send(desk)) for _ in range(2)] == [None, Code.APPROVAL_REQUIRED]
    assert [each.decision for each in desk.log("approve")] == ["not_authorised", "noted", "noted"]


@pytest.mark.parametrize(("early_ms", "free"), [(1, False), (0, True)])
def test_a_send_counts_for_the_whole_window(desk: Desk, early_ms: int, free: bool) -> None:
    """spec: O5"""
    desk.policy = FRUGAL
    for _ in range(2):
        try_to_send(desk)
    desk.clock.advance_ms(HOUR_MS - early_ms)
    assert isinstance(try_to_send(desk), Sent) is free


def test_a_retry_is_counted_once(desk: Desk) -> None:
    """A withdrawn send tried again, and a replay. spec: O5, K2, S9"""
    desk.policy = FRUGAL
    lease = desk.lease()
    message = desk.message(lease)
    desk.transport.behaviour = "refuse"
    for _ in range(3):
        assert code_of(desk.mailbox().send(message)) is Code.INVALID_MESSAGE
    desk.transport.behaviour = "accept"
    assert isinstance(desk.mailbox().send(message), Sent)
    assert isinstance(desk.mailbox().send(message), Sent)
    assert isinstance(desk.mailbox().send(desk.message(lease)), Sent)
    assert code_of(desk.mailbox().send(desk.message(lease))) is Code.APPROVAL_REQUIRED


def test_a_refused_send_spends_nothing(desk: Desk) -> None:
    """spec: O5"""
    desk.policy = FRUGAL
    desk.mailbox().send(desk.message(token=7))
    with desk.store.transaction(1.0) as tx:
        assert not tx.rows(BudgetRow)


def test_two_processes_of_one_agent_can_not_both_have_the_last_send(desk: Desk) -> None:
    """The budget is read where the send is authorised. spec: O5, S6, X5"""
    desk.policy = replace(FRUGAL, budget_sends=1)
    lease = desk.lease()
    messages: list[Message] = [desk.message(lease), desk.message(lease)]
    other = desk.mailbox()
    other.lookup("warm")
    answers: list[object] = []
    points.listen(
        Watch("send.checked", lambda: answers.append(in_thread(lambda: other.send(messages[1]))))
    )
    assert isinstance(desk.mailbox().send(messages[0]), Sent)
    points.listen(None)
    assert code_of(answers[0]) is Code.STORE_BUSY
    assert code_of(other.send(messages[1])) is Code.APPROVAL_REQUIRED
    assert len(desk.transport.taken) == 1


def test_stronger_refusals_are_answered_first(desk: Desk) -> None:
    """And all are carried. spec: S7, O5"""
    desk.policy = replace(BREAKING, budget_sends=20)
    deliver(desk, 20)
    fail(desk, "bounce", 3)
    desk.clock.advance_ms(60_000)
    lease = desk.lease(address=person(0))
    refused = desk.mailbox().send(desk.message(lease, to=person(0)))
    assert isinstance(refused, Refused)
    assert refused.reasons == (Code.SUPPRESSED, Code.SENDING_HALTED, Code.APPROVAL_REQUIRED)
