"""The look-up that asks the receiving side: unknown becomes delivered, or free to be tried again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness import points
from leaserace.harness.contract import (
    Code,
    Found,
    Message,
    Outgoing,
    Refused,
    SendState,
    Sent,
)
from leaserace.reference_impl.inquiry import Searchable
from leaserace.reference_impl.records import SendRow
from leaserace.reference_impl.transports.memory import MemoryTransport
from leaserace.reference_impl.transports.smtp import SmtpTransport
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import Crash, Watch, crash

QUIET_MS = 60_000


def unknown(desk: Desk, behaviour: str, *, searchable: bool = True) -> tuple[Message, str]:
    """A send whose outcome nobody knows, taken or not; returns it and its Message-ID."""
    desk.transport.searchable = searchable
    desk.transport.behaviour = behaviour
    message = desk.message(desk.lease())
    answer = desk.mailbox().send(message)
    assert isinstance(answer, Refused)
    assert answer.code is Code.SEND_STATUS_UNKNOWN
    assert answer.message_id
    desk.transport.behaviour = "accept"
    return message, answer.message_id


def looked_up(desk: Desk, message: Message) -> Found:
    assert message.key
    found = desk.mailbox().lookup(message.key)
    assert isinstance(found, Found)
    return found


def under_new_lease(desk: Desk, message: Message) -> Message:
    """The same send after the first lease has ended."""
    return replace(message, token=desk.lease().token)


def test_a_message_that_is_there_was_delivered(cooling_desk: Desk) -> None:
    """And its retry is a replay, its cooldown confirmed. spec: R, S8, S9, K2"""
    desk = cooling_desk
    message, message_id = unknown(desk, "silent")
    assert looked_up(desk, message) == Found(state=SendState.DELIVERED, message_id=message_id)
    assert desk.mailbox().send(message) == Sent(message_id=message_id, replay=True)
    assert len(desk.transport.taken) == 1
    desk.clock.advance_ms(QUIET_MS)
    answer = desk.mailbox().send(desk.message(desk.lease()))
    assert isinstance(answer, Refused)
    assert answer.code is Code.COOLDOWN_ACTIVE
    assert [each.decision for each in desk.log("deliver")] == ["unknown", "delivered"]


def test_a_message_that_does_not_exist_may_be_sent_again_under_its_id(cooling_desk: Desk) -> None:
    """And has left no cooldown. spec: R, S8, S9, K10"""
    desk = cooling_desk
    message, message_id = unknown(desk, "lose")
    desk.clock.advance_ms(QUIET_MS)
    assert looked_up(desk, message) == Found(state=SendState.WITHDRAWN)
    answer = desk.mailbox().send(under_new_lease(desk, message))
    assert answer == Sent(message_id=message_id)
    assert [each.message_id for each in desk.transport.taken] == [message_id]


@pytest.mark.parametrize(("early_ms", "state"), [(1, SendState.UNKNOWN), (0, SendState.WITHDRAWN)])
def test_that_nothing_exists_is_believed_after_a_while(
    desk: Desk, early_ms: int, state: SendState
) -> None:
    """A message may be on its way. spec: S8, S9"""
    message, _ = unknown(desk, "lose")
    desk.clock.advance_ms(QUIET_MS - early_ms)
    assert looked_up(desk, message).state is state


def test_who_can_not_tell_settles_nothing(desk: Desk) -> None:
    """spec: K10"""
    message, message_id = unknown(desk, "lose", searchable=False)
    desk.clock.advance_ms(100 * QUIET_MS)
    assert looked_up(desk, message) == Found(state=SendState.UNKNOWN, message_id=message_id)
    answer = desk.mailbox().send(message)
    assert isinstance(answer, Refused)
    assert answer.code is Code.SEND_STATUS_UNKNOWN


def test_smtp_can_not_tell() -> None:
    """spec: K10"""
    transport = SmtpTransport("127.0.0.1", 1, 1.0)
    assert isinstance(transport, Searchable)
    assert transport.find("<a@b>") is None


class HandsOverOnly:
    """A transport with nothing but a door."""

    def hand_over(self, outgoing: Outgoing) -> None:
        raise KeyError(outgoing.recipient)


class BreaksWhenAsked(HandsOverOnly):
    def find(self, message_id: str) -> bool | None:
        raise OSError(message_id)


@pytest.mark.parametrize("transport", [HandsOverOnly(), BreaksWhenAsked()])
def test_a_transport_that_does_not_answer_settles_nothing(
    desk: Desk, transport: HandsOverOnly
) -> None:
    """spec: K10"""
    desk.transport = transport  # type: ignore[assignment]
    message = desk.message(desk.lease())
    assert isinstance(desk.mailbox().send(message), Refused)
    desk.clock.advance_ms(QUIET_MS)
    assert looked_up(desk, message).state is SendState.UNKNOWN


@pytest.mark.parametrize(
    ("where", "state", "mails"),
    [
        ("send.recorded", SendState.WITHDRAWN, 0),
        ("send.dispatching", SendState.WITHDRAWN, 0),
        ("send.handed_over", SendState.DELIVERED, 1),
    ],
)
def test_what_a_crash_left_is_settled_and_sent_once(
    desk: Desk, where: str, state: SendState, mails: int
) -> None:
    """Wherever the worker died, one message leaves in the end. spec: X4, X9, S8, K10"""
    desk.transport.searchable = True
    message = desk.message(desk.lease())
    points.listen(Watch(where, crash))
    with pytest.raises(Crash):
        desk.mailbox().send(message)
    points.listen(None)
    desk.clock.advance_ms(round(desk.policy.send_deadline_s * 1000))
    looked_up(desk, message)
    desk.clock.advance_ms(QUIET_MS)
    assert looked_up(desk, message).state is state
    assert len(desk.transport.taken) == mails
    assert isinstance(desk.mailbox().send(under_new_lease(desk, message)), Sent)
    assert len(desk.transport.taken) == 1


class Meanwhile(MemoryTransport):
    """Somebody else looks the key up while this one is being asked."""

    desk: Desk
    message: Message
    asked = False

    def find(self, message_id: str) -> bool | None:
        if not self.asked:
            self.asked = True
            looked_up(self.desk, self.message)
        return super().find(message_id)


def test_two_look_ups_at_once_settle_it_once(desk: Desk) -> None:
    """spec: R3, S8"""
    desk.transport = transport = Meanwhile()
    message, message_id = unknown(desk, "silent")
    transport.desk, transport.message = desk, message
    assert looked_up(desk, message) == Found(state=SendState.DELIVERED, message_id=message_id)
    assert [each.decision for each in desk.log("deliver")] == ["unknown", "delivered"]


def test_a_record_that_was_removed_meanwhile_stays_removed(desk: Desk) -> None:
    """spec: S8"""
    message, _ = unknown(desk, "silent")

    class Removing(MemoryTransport):
        def find(self, message_id: str) -> bool | None:
            with desk.store.transaction(1.0) as tx:
                tx.delete(SendRow, message.key or "")
            return bool(message_id)

    desk.transport = Removing()
    assert looked_up(desk, message).state is SendState.UNKNOWN
    assert looked_up(desk, message).state is SendState.ABSENT


# -- a worker that comes back late ---------------------------------------------------------------


class Slow(MemoryTransport):
    """Its first hand-over takes so long that the key is looked up and tried again meanwhile.

    Args:
        desk: Whose clock passes.
        outcome: What becomes of the first hand-over in the end.
        again: Whether the second try is made.
    """

    def __init__(self, desk: Desk, outcome: str, *, again: bool) -> None:
        super().__init__()
        self.searchable = True
        self._desk = desk
        self._outcome = outcome
        self._again = again
        self.message: Message | None = None

    def hand_over(self, outgoing: Outgoing) -> None:
        message, self.message = self.message, None
        if message is not None:
            self._meanwhile(message)
            self.behaviour = self._outcome
        super().hand_over(outgoing)

    def _meanwhile(self, message: Message) -> None:
        desk = self._desk
        desk.clock.advance_ms(round(desk.policy.send_deadline_s * 1000))
        looked_up(desk, message)
        desk.clock.advance_ms(QUIET_MS)
        assert looked_up(desk, message).state is SendState.WITHDRAWN
        if self._again:
            assert isinstance(desk.mailbox().send(under_new_lease(desk, message)), Sent)


@pytest.mark.parametrize("outcome", ["lose", "refuse", "accept"])
def test_a_late_worker_does_not_undo_what_was_delivered(desk: Desk, outcome: str) -> None:
    """Else its key would be free for a third message. spec: S8, K2, K10"""
    desk.transport = transport = Slow(desk, outcome, again=True)
    transport.message = message = desk.message(desk.lease())
    answer = desk.mailbox().send(message)
    assert isinstance(answer, Sent)
    assert looked_up(desk, message) == Found(
        state=SendState.DELIVERED, message_id=answer.message_id
    )
    assert desk.log("conclude")[0].state["why"].startswith("a late worker says")
    mails = len(transport.taken)
    assert desk.mailbox().send(message) == replace(answer, replay=True)
    assert len(transport.taken) == mails


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        ("lose", SendState.UNKNOWN),
        ("refuse", SendState.WITHDRAWN),
        ("accept", SendState.DELIVERED),
    ],
)
def test_a_late_worker_knows_better_than_a_look_up(
    desk: Desk, outcome: str, state: SendState
) -> None:
    """Nobody has tried again yet, so its outcome counts. spec: S8, K10"""
    desk.transport = transport = Slow(desk, outcome, again=False)
    transport.message = message = desk.message(desk.lease())
    desk.mailbox().send(message)
    transport.searchable = False
    assert looked_up(desk, message).state is state


class SlowThenCrash(Slow):
    """The second try is authorised and goes no further."""

    def _meanwhile(self, message: Message) -> None:
        super()._meanwhile(message)
        points.listen(Watch("send.recorded", crash))
        with pytest.raises(Crash):
            self._desk.mailbox().send(under_new_lease(self._desk, message))
        points.listen(None)


def test_a_late_delivery_stops_the_next_try(desk: Desk) -> None:
    """It was authorised, and finds the message delivered before it hands over. spec: S8, K2"""
    desk.transport = transport = SlowThenCrash(desk, "accept", again=False)
    transport.message = message = desk.message(desk.lease())
    answer = desk.mailbox().send(message)
    assert isinstance(answer, Sent)
    assert desk.mailbox().send(message) == replace(answer, replay=True)
    assert [each.recipient for each in transport.taken] == [JANE]
