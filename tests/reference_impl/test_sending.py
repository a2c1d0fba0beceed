"""The send path: six steps, then the delivery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from leaserace.harness import points
from leaserace.harness.contract import (
    Cleaned,
    Code,
    Found,
    Lease,
    Message,
    Outgoing,
    Refused,
    SendState,
    Sent,
)
from leaserace.reference_impl.outcomes import STRENGTH, strongest
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import Crash, Watch, crash, in_thread

ALL_POINTS = [
    "send.normalised",
    "send.key_resolved",
    "send.checked",
    "send.recorded",
    "send.dispatching",
    "send.handed_over",
    "send.settled",
]


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def overdue(desk: Desk) -> None:
    """Let the deadline of a try pass; leases of this policy live on."""
    desk.clock.advance_ms(round(desk.policy.send_deadline_s * 1000))


def crash_at(desk: Desk, where: str) -> tuple[Lease, Message]:
    """A send whose worker dies at `where`; returns its lease and message."""
    lease = desk.lease()
    message = desk.message(lease)
    points.listen(Watch(where, crash))
    with pytest.raises(Crash):
        desk.mailbox().send(message)
    points.listen(None)
    return lease, message


# -- the steps -----------------------------------------------------------------------------------


def test_a_send_goes_through_its_steps_in_their_order(desk: Desk) -> None:
    """spec: S1, S2, S3, S4, S5, S6, S8"""
    lease = desk.lease()
    message = desk.message(lease)
    watch = Watch()
    points.listen(watch)
    sent = desk.mailbox().send(message)
    assert isinstance(sent, Sent)
    assert (sent.status, sent.replay) == (201, False)
    assert watch.passed == ALL_POINTS
    assert set(watch.touches) == {(JANE, message.key)}
    (taken,) = desk.transport.taken
    assert (taken.message_id, taken.intent) == (sent.message_id, message.intent)


def test_a_send_in_another_spelling_is_under_the_same_lease(desk: Desk) -> None:
    """spec: S1, I1"""
    lease = desk.lease(address="Jane.Doe@ACME.com")
    answer = desk.mailbox().send(desk.message(lease, to="Jane <JANE.doe@acme.com.>"))
    assert isinstance(answer, Sent)
    assert desk.transport.taken[0].recipient == "JANE.doe@acme.com"


def test_the_key_is_resolved_before_any_other_check(cooling_desk: Desk) -> None:
    """The first delivery set a cooldown, its lease is over; the retry is answered. spec: S2"""
    lease, message, sent = cooling_desk.sent()
    cooling_desk.clock.set_ms(lease.expires_at_ms)
    cooling_desk.lease("support-01")
    again = cooling_desk.mailbox().send(message)
    assert again == replace(sent, replay=True)
    assert len(cooling_desk.transport.taken) == 1


def test_a_stale_token_sends_nothing(desk: Desk) -> None:
    """spec: S3, S10"""
    lease = desk.lease("sales-01")
    desk.clock.set_ms(lease.expires_at_ms)
    newer = desk.lease("support-01")
    refused = desk.mailbox("sales-01").send(desk.message(lease))
    assert isinstance(refused, Refused)
    assert refused.code is Code.STALE_FENCING_TOKEN
    assert (refused.token, refused.owner) == (newer.token, "support-01")
    assert not desk.transport.taken


def test_a_lease_that_is_over_sends_nothing_even_if_nobody_came(desk: Desk) -> None:
    """spec: S3"""
    lease = desk.lease()
    desk.clock.set_ms(lease.expires_at_ms)
    assert code_of(desk.mailbox().send(desk.message(lease))) is Code.LEASE_EXPIRED


@pytest.mark.parametrize("token", [None, 1, 2])
def test_without_a_lease_of_its_own_nobody_sends(desk: Desk, token: int | None) -> None:
    """No token, another's token, a token nobody was given. spec: S3, O7"""
    desk.lease("sales-01")
    answer = desk.mailbox("support-01").send(desk.message(token=token))
    assert code_of(answer) is Code.NOT_HOLDER


def test_a_released_lease_sends_nothing(desk: Desk) -> None:
    """spec: S3, L7"""
    lease = desk.lease()
    desk.mailbox().release(JANE, lease.token)
    assert code_of(desk.mailbox().send(desk.message(lease))) is Code.NOT_HOLDER


def test_the_strongest_refusal_answers_and_carries_all() -> None:
    """spec: S7"""
    refusals = [Refused(code=code, reasons=(code,)) for code in reversed(STRENGTH)]
    assert strongest(refusals).code is Code.SUPPRESSED
    assert strongest(refusals).reasons == STRENGTH
    assert strongest(refusals[:1]) is refusals[0]


# -- one atomic step, then a second look ---------------------------------------------------------


def test_checks_and_record_are_one_transaction(desk: Desk) -> None:
    """Nobody can come between them: the store is held. spec: S6"""
    lease = desk.lease("sales-01")
    others: list[object] = []
    claim = partial(desk.mailbox("support-01").acquire, JANE)
    points.listen(Watch("send.checked", lambda: others.append(in_thread(claim))))
    assert isinstance(desk.mailbox("sales-01").send(desk.message(lease)), Sent)
    assert code_of(others[0]) is Code.STORE_BUSY


def test_a_crash_before_the_commit_leaves_no_record(desk: Desk) -> None:
    """spec: S6, K2"""
    _, message = crash_at(desk, "send.checked")
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.ABSENT)
    assert isinstance(desk.mailbox().send(message), Sent)


def test_a_takeover_between_record_and_hand_over_stops_the_send(desk: Desk) -> None:
    """spec: S8, S10"""
    lease = desk.lease("sales-01")

    def take_over() -> None:
        desk.clock.set_ms(lease.expires_at_ms)
        desk.lease("support-01")

    message = desk.message(lease)
    points.listen(Watch("send.recorded", take_over))
    assert code_of(desk.mailbox("sales-01").send(message)) is Code.STALE_FENCING_TOKEN
    assert not desk.transport.taken
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.WITHDRAWN)


def test_what_was_stopped_before_the_hand_over_may_be_tried_again(desk: Desk) -> None:
    """Same key, same Message-ID, a new lease. spec: S8, K2"""
    lease = desk.lease("sales-01")
    message = desk.message(lease)

    def take_over() -> None:
        desk.clock.set_ms(lease.expires_at_ms)
        other = desk.lease("support-01")
        desk.mailbox("support-01").release(JANE, other.token)

    points.listen(Watch("send.recorded", take_over))
    desk.mailbox("sales-01").send(message)
    points.listen(None)
    first_id = desk.log("send")[0].message_id
    again = desk.lease("sales-01")
    sent = desk.mailbox("sales-01").send(replace(message, token=again.token))
    assert isinstance(sent, Sent)
    assert sent.message_id == first_id


def test_the_message_id_comes_from_the_key_and_the_senders_domain(desk: Desk) -> None:
    """spec: S8"""
    lease, _, one = desk.sent()
    two = desk.mailbox().send(desk.message(lease))
    assert isinstance(two, Sent)
    assert one.message_id != two.message_id
    assert one.message_id.endswith("@mailbox.example.com>")


# -- crashes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["send.recorded", "send.dispatching", "send.handed_over"])
def test_a_send_under_way_is_not_run_twice(desk: Desk, where: str) -> None:
    """spec: K4, S8, X1"""
    _, message = crash_at(desk, where)
    again = desk.mailbox("support-01").send(message)
    assert code_of(again) is Code.SEND_IN_PROGRESS


def test_an_authorised_send_of_a_crashed_worker_is_run_by_the_retry(desk: Desk) -> None:
    """It was never handed over. spec: S8, X9"""
    _, message = crash_at(desk, "send.recorded")
    overdue(desk)
    sent = desk.mailbox().send(message)
    assert isinstance(sent, Sent)
    assert not sent.replay
    assert sent.message_id == desk.log("send")[0].message_id
    assert len(desk.transport.taken) == 1


@pytest.mark.parametrize(("where", "taken"), [("send.dispatching", 0), ("send.handed_over", 1)])
def test_what_may_have_been_handed_over_is_unknown_and_never_run_again(
    desk: Desk, where: str, taken: int
) -> None:
    """spec: S8, K10, X4"""
    _, message = crash_at(desk, where)
    overdue(desk)
    for _ in range(2):
        answer = desk.mailbox().send(message)
        assert isinstance(answer, Refused)
        assert answer.code is Code.SEND_STATUS_UNKNOWN
        assert answer.message_id == desk.log("send")[0].message_id
    assert len(desk.transport.taken) == taken


def test_a_look_up_settles_what_a_crash_left(desk: Desk) -> None:
    """spec: S8, R"""
    crash_at(desk, "send.handed_over")
    assert desk.mailbox().lookup("run:1:send") == Found(
        state=SendState.DISPATCHING, message_id=desk.transport.taken[0].message_id
    )
    overdue(desk)
    assert desk.mailbox().lookup("run:1:send") == Found(
        state=SendState.UNKNOWN, message_id=desk.transport.taken[0].message_id
    )


def test_a_look_up_shows_no_id_while_nothing_was_handed_over(desk: Desk) -> None:
    """spec: R, S8"""
    crash_at(desk, "send.recorded")
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.AUTHORIZED)


def test_a_worker_that_wakes_up_too_late_finds_its_send_withdrawn(desk: Desk) -> None:
    """spec: S8"""
    lease = desk.lease()
    message = desk.message(lease)

    def sleep() -> None:
        overdue(desk)
        assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.WITHDRAWN)

    points.listen(Watch("send.recorded", sleep))
    assert code_of(desk.mailbox().send(message)) is Code.SEND_IN_PROGRESS
    assert not desk.transport.taken


def test_the_last_look_at_a_send_that_is_late_but_its_own_keeps_its_reservation(
    desk: Desk,
) -> None:
    """A worker that is slow and still has its record goes on with it. spec: S8, S9"""
    desk.policy = replace(desk.policy, commercial_cooldown_s=600.0)
    lease = desk.lease()
    message = desk.message(lease)
    points.listen(Watch("send.recorded", lambda: overdue(desk)))
    assert isinstance(desk.mailbox().send(message), Sent)
    points.listen(None)
    assert code_of(desk.mailbox().send(desk.message(lease))) is Code.COOLDOWN_ACTIVE


def test_a_worker_that_wakes_up_after_its_retry_replays_it(desk: Desk) -> None:
    """spec: S8, K2"""
    lease = desk.lease()
    message = desk.message(lease)
    retries: list[object] = []

    def sleep() -> None:
        overdue(desk)
        retries.append(desk.mailbox().send(message))

    points.listen(Watch("send.recorded", sleep))
    late = desk.mailbox().send(message)
    (retry,) = retries
    assert isinstance(late, Sent)
    assert isinstance(retry, Sent)
    assert (late.message_id, late.replay) == (retry.message_id, True)
    assert len(desk.transport.taken) == 1


def asleep_before_the_hand_over(desk: Desk, then: Callable[[], object]) -> object:
    """The answer of a worker that sleeps past its deadline, a message in its hand, while others act."""
    desk.transport.searchable = True
    message = desk.message(desk.lease())

    def sleep() -> None:
        overdue(desk)
        then()

    points.listen(Watch("send.dispatching", sleep))
    answer = desk.mailbox().send(message)
    points.listen(None)
    return answer


def test_what_a_look_up_found_withdrawn_is_not_handed_over_by_a_worker_that_wakes_up(
    desk: Desk,
) -> None:
    """No message exists, says the look-up, and none does from then on. spec: S8, S9, R"""
    found: list[object] = []

    def look_up() -> None:
        found.append(desk.mailbox("support-01").lookup("run:1:send"))
        desk.clock.advance_ms(round(desk.policy.absent_after_s * 1000))
        found.append(desk.mailbox("support-01").lookup("run:1:send"))

    answer = asleep_before_the_hand_over(desk, look_up)
    assert [each.state for each in found if isinstance(each, Found)] == [
        SendState.UNKNOWN,
        SendState.WITHDRAWN,
    ]
    assert code_of(answer) is Code.SEND_IN_PROGRESS
    assert not desk.transport.taken
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.WITHDRAWN)


def test_a_worker_that_wakes_up_before_its_hand_over_replays_what_another_sent(desk: Desk) -> None:
    """spec: S8, K2: the retry was right to run, and the sleeper does not run too."""
    retries: list[object] = []

    def retry() -> None:
        desk.mailbox("support-01").lookup("run:1:send")
        desk.clock.advance_ms(round(desk.policy.absent_after_s * 1000))
        desk.mailbox("support-01").lookup("run:1:send")
        lease = desk.mailbox("support-01").acquire(JANE)
        assert isinstance(lease, Lease)
        again = replace(desk.message(lease), key="run:1:send", subject="Follow-up 1")
        again = replace(again, body="Hello, this is number 1.\n")
        retries.append(desk.mailbox("support-01").send(again))

    late = asleep_before_the_hand_over(desk, retry)
    (sent,) = retries
    assert isinstance(sent, Sent)
    assert late == replace(sent, replay=True)
    assert len(desk.transport.taken) == 1


def test_a_worker_that_is_late_and_alone_takes_its_send_back(desk: Desk) -> None:
    """Its word is proof that no message exists: the key is free at once. spec: S8, S9"""
    answer = asleep_before_the_hand_over(desk, lambda: None)
    assert code_of(answer) is Code.SEND_IN_PROGRESS
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.WITHDRAWN)
    assert not desk.transport.taken


def test_a_worker_that_can_not_say_so_leaves_its_send_unknown(desk: Desk) -> None:
    """spec: S8, K10"""
    hold = desk.store.transaction(5.0)
    desk.policy = replace(desk.policy, transport_timeout_s=0.05)
    desk.mailbox().lookup("warm")
    message = desk.message(desk.lease())
    worker = desk.mailbox()

    def sleep() -> None:
        overdue(desk)
        hold.__enter__()

    points.listen(Watch("send.dispatching", sleep))
    answer = in_thread(lambda: worker.send(message))
    hold.__exit__(None, None, None)
    points.listen(None)
    assert code_of(answer) is Code.STORE_BUSY
    assert not desk.transport.taken
    found = desk.mailbox().lookup("run:1:send")
    assert isinstance(found, Found)
    assert found.state is SendState.UNKNOWN


def test_a_worker_that_wakes_up_after_clean_up_sends_nothing(desk: Desk) -> None:
    """spec: S8, K5"""
    lease = desk.lease()

    def sleep() -> None:
        overdue(desk)
        desk.mailbox().lookup("run:1:send")
        desk.clock.advance_ms(3600_000)
        assert isinstance(desk.mailbox().clean_up(), Cleaned)

    points.listen(Watch("send.recorded", sleep))
    assert code_of(desk.mailbox().send(desk.message(lease))) is Code.SEND_IN_PROGRESS
    assert not desk.transport.taken


def test_a_slow_hand_over_is_still_recorded_as_what_it_was(desk: Desk) -> None:
    """Others were told "unknown" meanwhile; the worker knows better. spec: S8"""
    lease = desk.lease()
    message = desk.message(lease)

    def sleep() -> None:
        overdue(desk)
        assert code_of(desk.mailbox().send(message)) is Code.SEND_STATUS_UNKNOWN

    points.listen(Watch("send.handed_over", sleep))
    sent = desk.mailbox().send(message)
    assert isinstance(sent, Sent)
    points.listen(None)
    assert desk.mailbox().send(message) == replace(sent, replay=True)


# -- what the transport says ---------------------------------------------------------------------


def test_a_hand_over_without_an_answer_is_unknown_and_stays_so(desk: Desk) -> None:
    """spec: S8, K10, X10"""
    lease = desk.lease()
    message = desk.message(lease)
    desk.transport.behaviour = "silent"
    first = desk.mailbox().send(message)
    desk.transport.behaviour = "accept"
    assert isinstance(first, Refused)
    assert first.code is Code.SEND_STATUS_UNKNOWN
    assert first.message_id == desk.transport.taken[0].message_id
    assert desk.mailbox().send(message) == first
    assert len(desk.transport.taken) == 1
    desk.clock.advance_ms(100 * 86_400_000)
    desk.mailbox().clean_up()
    assert code_of(desk.mailbox().send(message)) is Code.SEND_STATUS_UNKNOWN


def test_a_refused_hand_over_may_be_tried_again_under_its_key(desk: Desk) -> None:
    """Nothing was taken. spec: S8, S9"""
    lease = desk.lease()
    message = desk.message(lease)
    desk.transport.behaviour = "refuse"
    refused = desk.mailbox().send(message)
    assert isinstance(refused, Refused)
    assert refused.code is Code.INVALID_MESSAGE
    assert "nothing was taken" in refused.detail
    assert "550" in refused.detail
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.WITHDRAWN)
    desk.transport.behaviour = "accept"
    assert isinstance(desk.mailbox().send(message), Sent)
    assert len(desk.transport.taken) == 1


def test_a_transport_that_breaks_may_have_taken_the_message(desk: Desk) -> None:
    """spec: S8, K10"""

    class Broken:
        def hand_over(self, outgoing: Outgoing) -> None:
            raise KeyError(outgoing.recipient)

    lease = desk.lease()
    desk.transport = Broken()  # type: ignore[assignment]
    answer = desk.mailbox().send(desk.message(lease))
    assert code_of(answer) is Code.SEND_STATUS_UNKNOWN
    assert "KeyError" in desk.log("deliver")[0].state["why"]


# -- a busy store --------------------------------------------------------------------------------


def busy_from(desk: Desk, point: str) -> object:
    """A send whose store is held by somebody else from `point` on; returns its answer."""
    desk.policy = replace(desk.policy, transport_timeout_s=0.05)
    lease = desk.lease()
    hold = desk.store.transaction(5.0)
    desk.mailbox().lookup("warm")
    points.listen(Watch(point, hold.__enter__))
    worker = desk.mailbox()
    message = desk.message(lease)
    answer = in_thread(lambda: worker.send(message))
    hold.__exit__(None, None, None)
    return answer


@pytest.mark.parametrize(
    ("point", "code"),
    [
        ("send.normalised", Code.STORE_BUSY),
        ("send.recorded", Code.STORE_BUSY),
        ("send.dispatching", Code.SEND_STATUS_UNKNOWN),
    ],
)
def test_a_store_that_stays_busy_is_answered_by_what_may_have_happened(
    desk: Desk, point: str, code: Code
) -> None:
    """spec: R, S8"""
    assert code_of(busy_from(desk, point)) is code
    assert len(desk.transport.taken) == (point == "send.dispatching")


# -- messages that can't be sent -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code", "detail"),
    [
        ({"to": "nobody"}, Code.INVALID_ADDRESS, "@-sign"),
        ({"subject": "Hi\r\nBcc: all@acme.com"}, Code.INVALID_MESSAGE, "subject"),
        ({"body": "Hi \ud83d"}, Code.INVALID_MESSAGE, "lone surrogate"),
        ({"intent": "a\nb"}, Code.INVALID_MESSAGE, "intent"),
        ({"headers": {"X-Team": "a\rb"}}, Code.INVALID_MESSAGE, "'X-Team' contains a line break"),
        ({"headers": {"X Team": "a"}}, Code.INVALID_MESSAGE, "'X Team' contains what"),
        ({"headers": {"to": "x@y.com"}}, Code.INVALID_MESSAGE, "'to' is set by the mailbox"),
        ({"key": None}, Code.KEY_MISSING, "no idempotency key"),
        ({"key": "a b"}, Code.KEY_INVALID, "visible ASCII"),
    ],
)
def test_what_can_not_be_sent_is_refused_before_the_key_is_used(
    desk: Desk, fields: dict[str, object], code: Code, detail: str
) -> None:
    """spec: S1, I4, K4, R3"""
    lease = desk.lease()
    refused = desk.mailbox().send(desk.message(lease, **fields))
    assert isinstance(refused, Refused)
    assert refused.code is code
    assert detail in refused.detail
    assert desk.log("send")[0].decision == code
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.ABSENT)


@pytest.mark.parametrize("f", ["acquire", "suppress", "resubscribe"])
def test_every_method_refuses_what_is_no_address(desk: Desk, f: str) -> None:
    """spec: I4, R3"""
    extra = ("opt-out",) if f == "suppress" else ()
    assert code_of(getattr(desk.mailbox(), f)("nobody", *extra)) is Code.INVALID_ADDRESS
    assert [record.event for record in desk.log()] == [f]


def test_a_look_up_of_what_is_no_key_is_refused(desk: Desk) -> None:
    """spec: K3"""
    assert code_of(desk.mailbox().lookup("a b")) is Code.KEY_INVALID


def test_a_refusal_that_can_not_be_logged_is_a_busy_store(desk: Desk) -> None:
    """spec: R3"""
    mailbox = desk.mailbox()
    with desk.store.transaction(5.0):
        assert code_of(in_thread(lambda: mailbox.acquire("nobody"))) is Code.STORE_BUSY


def test_nothing_else_is_swallowed(desk: Desk) -> None:
    lease = desk.lease()
    with pytest.raises(AttributeError):
        desk.mailbox().send(desk.message(lease, to=None))
