"""Well-behaved agents: after each answer they do what the table of spec R says."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import (
    Answer,
    Code,
    Found,
    Lease,
    NoReply,
    Refused,
    Released,
    SendState,
    Sent,
    Settings,
)
from leaserace.harness.playbooks import (
    draft,
    five_step_sequence,
    sales_follow_up,
    scheduled_digest,
    support_reply,
)

LEASE = Lease(key="k", owner="a", token=7, acquired_at_ms=0, expires_at_ms=60_000)
SENT = Sent(message_id="<1@x>")
RELEASED = Released(key="k", token=7)
ARGS = {"contact": "contact-1", "address": "jane@example.com", "run": "run"}


class ScriptedSeat:
    """Answers in order; notes what was asked."""

    id = "sales-01"
    settings = Settings()
    incarnation = 0
    one_thread = True
    clock = ManualClock()

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.rng = random.Random(1)
        self._answers = list(answers)
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.waits: list[float] = []
        self.kept: dict[str, str] = {}

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        self.calls.append((f, args))
        return self._answers.pop(0)

    def running(self) -> bool:
        return True

    def wait_s(self, seconds: float) -> None:
        self.waits.append(seconds)

    def lose_next_reply(self) -> None:
        """Nothing: its answers are scripted."""

    def stand_before(self, put: object) -> None:
        """Nothing: there is no mailbox."""

    def mark(self, name: str, **data: Any) -> None:
        """Nothing."""

    @property
    def asked(self) -> list[str]:
        return [f for f, _ in self.calls]


def refused(code: Code, **more: Any) -> Refused:
    return Refused(code=code, **more)


def test_a_granted_contact_is_written_to_and_given_back() -> None:
    seat = ScriptedSeat([LEASE, SENT, RELEASED])
    sales_follow_up(seat, ARGS)
    assert seat.asked == ["acquire", "send", "release"]
    assert seat.calls[1][1]["message"].token == 7


def test_a_conflict_is_waited_for_and_then_handed_over() -> None:
    """No silent retry, and no more than the policy's repeats (spec: R1, R2)."""
    seat = ScriptedSeat([refused(Code.CONTACT_OWNED)] * 3)
    sales_follow_up(seat, ARGS)
    assert seat.asked == ["acquire"] * 3
    assert len(seat.waits) == 3
    impatient = ScriptedSeat([refused(Code.CONTACT_OWNED)])
    sales_follow_up(impatient, ARGS | {"patience": 1})
    assert impatient.asked == ["acquire"]


@pytest.mark.parametrize("code", [Code.SUPPRESSED, Code.COOLDOWN_ACTIVE])
def test_a_suppressed_or_cooling_contact_is_left_alone(code: Code) -> None:
    """Nothing more is sent, and the lease is given back (spec: A1, A2)."""
    seat = ScriptedSeat([LEASE, refused(code), RELEASED])
    sales_follow_up(seat, ARGS)
    assert seat.asked == ["acquire", "send", "release"]


def test_a_stale_token_means_the_draft_is_discarded() -> None:
    seat = ScriptedSeat([LEASE, refused(Code.STALE_FENCING_TOKEN)])
    sales_follow_up(seat, ARGS)
    assert seat.asked == ["acquire", "send"]


def test_after_an_expiry_the_lease_is_claimed_again_before_the_send() -> None:
    seat = ScriptedSeat([LEASE, refused(Code.LEASE_EXPIRED), LEASE, SENT, RELEASED])
    sales_follow_up(seat, ARGS)
    assert seat.asked == ["acquire", "send", "acquire", "send", "release"]
    first, second = (args["message"] for f, args in seat.calls if f == "send")
    assert first.key == second.key, "a retry keeps its key (spec: K7)"


@pytest.mark.parametrize("unknown", [NoReply(why="lost"), refused(Code.SEND_STATUS_UNKNOWN)])
def test_an_unknown_outcome_is_looked_up_and_retried_only_if_nothing_left(unknown: Answer) -> None:
    may_have_left = Found(state=SendState.UNKNOWN, message_id="<1@x>")
    seat = ScriptedSeat([LEASE, unknown, may_have_left, RELEASED])
    sales_follow_up(seat, ARGS)
    assert seat.asked == ["acquire", "send", "lookup", "release"]
    nothing_left = Found(state=SendState.ABSENT)
    seat = ScriptedSeat([LEASE, unknown, nothing_left, SENT, RELEASED])
    sales_follow_up(seat, ARGS)
    assert seat.asked == ["acquire", "send", "lookup", "send", "release"]


def test_a_busy_store_is_asked_again_after_the_time_it_named() -> None:
    seat = ScriptedSeat([refused(Code.STORE_BUSY, retry_after_s=0.3), LEASE, SENT, RELEASED])
    sales_follow_up(seat, ARGS)
    assert seat.waits == [0.3]
    assert seat.asked == ["acquire", "acquire", "send", "release"]


def test_a_sequence_renews_between_its_steps_and_stops_when_one_is_refused() -> None:
    """Renewed at each step, never on a timer; a failed renewal means a new claim (spec: L6, L10)."""
    seat = ScriptedSeat([LEASE, SENT, LEASE, SENT, RELEASED])
    five_step_sequence(seat, ARGS | {"steps": 2})
    assert seat.asked == ["acquire", "send", "renew", "send", "release"]
    keys = [args["message"].key for f, args in seat.calls if f == "send"]
    assert len(set(keys)) == 2
    lost = ScriptedSeat([LEASE, SENT, refused(Code.LEASE_EXPIRED), LEASE, SENT, RELEASED])
    five_step_sequence(lost, ARGS | {"steps": 2})
    assert lost.asked == ["acquire", "send", "renew", "acquire", "send", "release"]


def test_a_reply_is_transactional_and_a_digest_waits_for_its_time() -> None:
    seat = ScriptedSeat([LEASE, SENT, RELEASED])
    support_reply(seat, ARGS)
    assert seat.calls[1][1]["message"].kind == "transactional"
    digest = ScriptedSeat([LEASE, SENT, RELEASED] * 2)
    scheduled_digest(digest, ARGS)
    assert len(digest.waits) == 2
    assert digest.asked == ["acquire", "send", "release"] * 2


def test_another_step_wording_or_agent_makes_another_key_and_a_retry_never_does() -> None:
    """The first recipe (spec: K7)."""
    base = {
        "run": "run",
        "agent": "sales-01",
        "step": "one",
        "contact": "c",
        "address": "jane@example.com",
        "token": 1,
    }
    key = draft(**base).key
    assert draft(**(base | {"token": 2})).key == key
    for change in ({"step": "two"}, {"wording": " again"}, {"agent": "sales-02"}, {"run": "r2"}):
        assert draft(**(base | change)).key != key


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([refused(Code.CONTACT_OWNED)], ["acquire"]),
        ([refused(Code.STORE_BUSY)], ["acquire"]),
        ([LEASE, refused(Code.STORE_BUSY), RELEASED], ["acquire", "send", "release"]),
    ],
)
def test_a_wait_that_the_end_of_the_time_cut_short_is_no_reason_to_ask_again(
    answers: list[Answer], asked: list[str]
) -> None:
    """spec: R1"""
    seat = ScriptedSeat(answers)
    seat.running = lambda: not seat.waits  # type: ignore[method-assign]
    sales_follow_up(seat, ARGS)
    assert seat.asked == asked
