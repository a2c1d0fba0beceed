"""The mailbox and the stop signal that an agent under test is given."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.agents import AgentTask, Assignment, OutcomeUnknown
from leaserace.harness.agents.mailbox import (
    CALLS_MAX,
    GRACE_CALLS,
    CutOff,
    RecordedMailbox,
    SeatStop,
    answer_of,
)
from leaserace.harness.contract import (
    INTENT_HEADER,
    Answer,
    Code,
    Found,
    Message,
    NoReply,
    Noted,
    Refused,
    SendState,
)
from leaserace.harness.scenario import Contact

JANE = Contact(name="contact-1", spellings=("jane@example.com", "Jane@Example.com"))


class PlainSeat:
    """A seat that answers as it is told and remembers its calls."""

    one_thread = False

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self.is_running = True
        self.waited: list[float] = []

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        self.calls.append((f, contact, args))
        return self.answer

    def running(self) -> bool:
        return self.is_running

    def wait_s(self, seconds: float) -> None:
        self.waited.append(seconds)


def wanted(subject: str, intent: str, to: str = "jane@example.com") -> Assignment:
    return Assignment(to=to, subject=subject, draft=f"about {subject}", intent=intent, step=intent)


def mailbox(seat: Any, *messages: Assignment) -> RecordedMailbox:
    task = AgentTask(agent="a", run="r", thread="t", goal="g", messages=messages)
    return RecordedMailbox(seat, task, [JANE])


def mail(**changes: Any) -> Message:
    return Message(**({"to": "jane@example.com", "subject": "one", "body": "x"} | changes))


def test_a_call_is_recorded_under_the_persons_name_whatever_the_spelling() -> None:
    seat = PlainSeat(Refused(code=Code.CONTACT_OWNED))
    box = mailbox(seat, wanted("one", "i1"))

    assert box.acquire(" JANE@example.com ") == Refused(code=Code.CONTACT_OWNED)
    box.renew("jane@example.com", 3)
    box.release("somebody@else.org", 4)

    assert [(f, contact) for f, contact, _ in seat.calls] == [
        ("acquire", "contact-1"),
        ("renew", "contact-1"),
        ("release", "somebody@else.org"),
    ]
    assert seat.calls[1][2] == {"address": "jane@example.com", "token": 3}


def test_a_look_up_belongs_to_the_person_the_key_was_made_for() -> None:
    seat = PlainSeat(Found(state=SendState.ABSENT))
    box = mailbox(seat, wanted("one", "i1"))
    box.send(mail(key="k"))
    box.suppress("other@example.com", "opt-out")
    box.lookup("k")
    box.lookup("never used")
    assert [contact for f, contact, _ in seat.calls if f == "lookup"] == [
        "contact-1",
        "other@example.com",
    ]


def test_what_a_person_decides_goes_through_too() -> None:
    seat = PlainSeat(Noted(at_ms=1))
    box = mailbox(seat, wanted("one", "i1"))
    assert box.unsuppress("jane@example.com", "person-01") == Noted(at_ms=1)
    assert box.override("jane@example.com", "person-01", "asked for") == Noted(at_ms=1)
    assert [f for f, _, _ in seat.calls] == ["unsuppress", "override"]


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        (mail(), "i1"),
        (mail(intent="own"), "own"),
        (mail(headers={INTENT_HEADER: "in the header"}), ""),
        (mail(subject="else", body="so: about two, and more"), "i2"),
        (mail(subject="else"), ""),
        (mail(to="john@example.com", subject="anything"), "i3"),
        (mail(to="nobody@example.com"), ""),
    ],
)
def test_a_message_without_an_intent_gets_the_one_it_must_be(message: Message, intent: str) -> None:
    """So that what arrives can be counted, also from an agent that does not care."""
    seat = PlainSeat(Refused(code=Code.SUPPRESSED))
    three = (wanted("one", "i1"), wanted("two", "i2"), wanted("three", "i3", "john@example.com"))
    mailbox(seat, *three).send(message)
    assert seat.calls[0][2]["message"].intent == intent


def test_no_reply_is_raised_as_an_unknown_outcome() -> None:
    box = mailbox(PlainSeat(NoReply(why="the reply was lost")), wanted("one", "i1"))
    with pytest.raises(OutcomeUnknown, match="send: the reply was lost"):
        box.send(mail())
    assert answer_of(lambda: box.send(mail())) == NoReply(why="send: the reply was lost")


def test_an_agent_is_cut_off_after_so_many_calls() -> None:
    box = mailbox(PlainSeat(Refused(code=Code.SUPPRESSED)), wanted("one", "i1"))
    for _ in range(CALLS_MAX):
        box.acquire("jane@example.com")
    with pytest.raises(CutOff, match="more than"):
        box.acquire("jane@example.com")


def test_an_agent_that_is_told_to_stop_may_still_give_back_what_it_holds() -> None:
    seat = PlainSeat(Refused(code=Code.SUPPRESSED))
    box = mailbox(seat, wanted("one", "i1"))
    seat.is_running = False
    for _ in range(GRACE_CALLS):
        box.release("jane@example.com", 1)
    with pytest.raises(CutOff, match="after it was told to stop"):
        box.release("jane@example.com", 1)


def test_waiting_ends_at_once_when_the_time_is_up() -> None:
    seat: Any = PlainSeat(NoReply(why=""))
    stop = SeatStop(seat)
    assert (stop.is_set(), stop.wait(0.5), stop.wait(0.0)) == (False, False, False)
    seat.is_running = False
    assert stop.wait(0.5)
    assert seat.waited == [0.5]
