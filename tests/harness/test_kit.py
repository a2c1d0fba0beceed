"""The agent's kit: every call is recorded, with what the agent saw and what was done to its reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from leaserace.harness.answers import event_to_json
from leaserace.harness.contract import (
    Answer,
    Code,
    Endpoint,
    Lease,
    Message,
    NoReply,
    Received,
    Refused,
    Sent,
    Taken,
)
from leaserace.harness.history import AnyEvent, FaultEvent, History, OpEvent, OpType
from leaserace.harness.kit import CONTRACT_BROKEN, RAISED, REPLY_LOST, Kit
from leaserace.harness.points import listen

LEASE = Lease(key="jane", owner="sales-01", token=7, acquired_at_ms=1, expires_at_ms=2)
MESSAGE = Message(to="jane@example.com", subject="Hello", body="Hi", intent="i1")


class Unmade:
    """An answer the target can't even make."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


class Scripted:
    """A mailbox that does what it was told to, once for each call.

    Args:
        does: Values to return, or exceptions to raise.
    """

    def __init__(self, *does: object) -> None:
        self._does = list(does)
        self.heard: list[tuple[Any, ...]] = []

    def __getattr__(self, f: str) -> Callable[..., Any]:
        def method(*args: Any, **named: Any) -> Any:
            self.heard.append((f, *args, named))
            done = self._does.pop(0)
            if isinstance(done, Exception | SystemExit):
                raise done
            if isinstance(done, Unmade):
                return done.make()
            return done

        return method


class Recorded:
    """A kit and what it recorded."""

    def __init__(self, *does: object, **more: Any) -> None:
        self.mailbox = Scripted(*does)
        self.events: list[AnyEvent] = []
        self.kit = Kit(
            mailbox=self.mailbox,
            agent="sales-01",
            incarnation=more.get("incarnation", 0),
            record=self.events.append,
            now_ns=iter(range(1, 1000)).__next__,
            seat=more.get("seat", ""),
        )

    def acquire(self) -> Answer:
        return self.kit.call("acquire", "jane", {"address": "jane@example.com"})

    @property
    def ops(self) -> list[OpEvent]:
        return [event for event in self.events if isinstance(event, OpEvent)]

    @property
    def faults(self) -> list[tuple[str, str]]:
        return [(e.fault, e.phase) for e in self.events if isinstance(e, FaultEvent)]


@pytest.fixture
def points() -> Iterator[list[str]]:
    """Names of the points that were passed."""
    passed: list[str] = []

    class Hears:
        def reached(self, name: str, touches: tuple[str, ...]) -> None:
            passed.append(name)

        def enter(self, resource: str, deadline_s: float) -> bool:
            return True

        def leave(self, resource: str) -> None:
            pass

    listen(Hears())
    yield passed
    listen(None)


def test_a_call_is_recorded_from_invoke_to_answer(points: list[str]) -> None:
    """spec: S10: the agent can stand still before its invoke is recorded."""
    recorded = Recorded(LEASE)
    assert recorded.acquire() == LEASE
    invoke, done = recorded.ops
    assert (invoke.type, invoke.f, invoke.contact) == (OpType.INVOKE, "acquire", "jane")
    assert invoke.value == {"address": "jane@example.com"}
    assert (done.type, done.code, done.value["token"]) == (OpType.OK, None, 7)
    assert (
        (invoke.op, invoke.process) == (done.op, done.process) == ("sales-01.0:1", "sales-01#0.0")
    )
    assert points == ["acquire.think", "acquire.invoked", "acquire.returned"]


def test_a_reply_is_a_send_by_another_method() -> None:
    """spec: K8: every rule about sends hears of it."""
    recorded = Recorded(Sent(message_id="<a@x>"))
    reply = replace(MESSAGE, endpoint=Endpoint.REPLY, refers_to="<question@y>")
    assert recorded.kit.call("send", "jane", {"message": reply}) == Sent(message_id="<a@x>")
    assert recorded.mailbox.heard == [("reply", reply, {})]
    invoke, done = recorded.ops
    assert (invoke.f, done.f, done.type) == ("send", "send", OpType.OK)
    assert invoke.value["message"]["endpoint"] == "reply"
    assert invoke.value["message"]["refers_to"] == "<question@y>"


def test_a_wrong_answer_to_a_reply_names_the_reply() -> None:
    """spec: R"""
    recorded = Recorded(LEASE)
    forward = replace(MESSAGE, endpoint=Endpoint.FORWARD, refers_to="<question@y>")
    answer = recorded.kit.call("send", "jane", {"message": forward})
    assert isinstance(answer, NoReply)
    assert answer.why.startswith("forward returned Lease(")


def test_a_received_message_is_recorded_as_json_and_given_as_it_is() -> None:
    """spec: O4"""
    taken = Taken(key="jane@example.com", first=True, opted_out=False, at_ms=1)
    recorded = Recorded(taken)
    event = Received(event_id="<1@x>", sender="jane@example.com", body="Hello")
    assert recorded.kit.call("receive", "jane", {"event": event_to_json(event)}) == taken
    assert recorded.mailbox.heard == [("receive", event, {})]
    invoke, done = recorded.ops
    assert invoke.value == {
        "event": {"event_id": "<1@x>", "sender": "jane@example.com", "body": "Hello"}
    }
    assert (done.type, done.value["first"]) == (OpType.OK, True)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_message_is_recorded_as_json_and_given_to_the_mailbox_as_it_is(as_json: bool) -> None:
    recorded = Recorded(Sent(message_id="<m>"), Sent(message_id="<m>", replay=True))
    recorded.kit.call("send", "jane", {"message": MESSAGE})
    if as_json:
        recorded.kit.call("send", "jane", recorded.ops[0].value)
    assert all(heard == ("send", MESSAGE, {}) for heard in recorded.mailbox.heard)
    assert recorded.ops[0].value["message"]["intent"] == "i1"


@pytest.mark.parametrize(
    ("done", "kind", "code"),
    [
        (Refused(code=Code.CONTACT_OWNED), OpType.FAIL, "contact_owned"),
        (Refused(code=Code.SEND_STATUS_UNKNOWN), OpType.INFO, "send_status_unknown"),
        (None, OpType.INFO, CONTRACT_BROKEN),
        (ConnectionResetError("gone"), OpType.INFO, RAISED),
        (SystemExit(3), OpType.INFO, RAISED),
        (OSError("no such file: \udcff"), OpType.INFO, RAISED),
    ],
)
def test_an_outcome_is_what_the_answer_allows_to_say(done: object, kind: OpType, code: str) -> None:
    """spec: R: only a definite refusal says that it did not happen."""
    recorded = Recorded(done)
    recorded.acquire()
    assert (recorded.ops[-1].type, recorded.ops[-1].code) == (kind, code)


@pytest.mark.parametrize(
    ("done", "why"),
    [
        (None, "acquire returned None; allowed: Lease or Refused"),
        (ConnectionResetError("gone"), "ConnectionResetError: gone"),
    ],
)
def test_what_is_no_answer_reaches_the_agent_as_no_reply(done: object, why: str) -> None:
    assert Recorded(done).acquire() == NoReply(why=why)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (
            lambda: Lease(key="k", owner="a", token=1, acquired_at_ms=1),  # type: ignore[call-arg]
            "acquire returned Lease without 'expires_at_ms'",
        ),
        (Refused, "acquire returned Refused without 'code'"),
        (
            lambda: Refused(code=Code.SUPPRESSED, reason="x"),  # type: ignore[call-arg]
            "acquire returned Refused with what it does not have: 'reason'",
        ),
        (lambda: Refused(code=Code("whatever")), "acquire returned unknown code='whatever'"),
    ],
)
def test_an_answer_that_can_not_be_made_breaks_the_contract(
    make: Callable[[], object], why: str
) -> None:
    """A missing field is named, and never taken for a timeout (spec: R)."""
    recorded = Recorded(Unmade(make))

    answer = recorded.kit.call("acquire", "jane", {"address": "jane@example.com"})

    assert answer == NoReply(why=why)
    assert isinstance(recorded.events[-1], OpEvent)
    assert recorded.events[-1].code == CONTRACT_BROKEN


@pytest.mark.parametrize("mailbox", [None, object()])
def test_a_method_the_mailbox_lacks_is_a_breach_and_no_crash(mailbox: Any) -> None:
    recorded = Recorded()
    recorded.kit.mailbox = mailbox

    answer = recorded.acquire()

    assert answer == NoReply(
        why=f"acquire is missing: connect() returned a {type(mailbox).__name__} without it, "
        "the target declares it"
    )
    assert recorded.ops[-1].code == CONTRACT_BROKEN


def test_another_error_of_the_targets_is_an_unknown_outcome() -> None:
    recorded = Recorded(TypeError("Basket.__init__() missing 1 required argument: 'x'"))

    recorded.kit.call("acquire", "jane", {"address": "jane@example.com"})

    assert isinstance(recorded.events[-1], OpEvent)
    assert recorded.events[-1].code == RAISED


def test_an_interrupt_is_not_swallowed() -> None:
    class Interrupted(Scripted):
        def acquire(self, address: str) -> Lease:
            raise KeyboardInterrupt

    recorded = Recorded()
    recorded.kit.mailbox = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        recorded.acquire()
    assert [op.type for op in recorded.ops] == [OpType.INVOKE]


def test_a_lost_reply_is_executed_and_dropped_and_both_instants_are_recorded() -> None:
    """spec: S10, T race 3."""
    recorded = Recorded(LEASE, LEASE)
    recorded.kit.lose_next_reply()
    assert recorded.acquire() == NoReply(why="the reply was lost")
    assert recorded.mailbox.heard
    assert (recorded.ops[-1].type, recorded.ops[-1].code) == (OpType.INFO, REPLY_LOST)
    assert recorded.faults == [("lost_reply", "begin"), ("lost_reply", "end")]
    assert recorded.acquire() == LEASE


def test_a_slow_reply_is_held_back_by_the_engines_time() -> None:
    recorded = Recorded(LEASE, LEASE)
    waits: list[float] = []
    recorded.kit.wait_s = waits.append
    recorded.kit.slow_next_reply(0.5)
    assert recorded.acquire() == LEASE
    assert recorded.acquire() == LEASE
    assert waits == [0.5]
    assert recorded.faults == [("slow_reply", "begin"), ("slow_reply", "end")]


def test_by_itself_a_kit_waits_for_nothing() -> None:
    recorded = Recorded(LEASE)
    recorded.kit.slow_next_reply(5.0)
    assert recorded.acquire() == LEASE


def test_after_an_unknown_outcome_the_agent_goes_on_as_its_next_process() -> None:
    recorded = Recorded(OSError("x"), LEASE, incarnation=2)
    recorded.acquire()
    recorded.acquire()
    assert [op.process for op in recorded.ops] == [
        *["sales-01#2.0"] * 2,
        *["sales-01#2.1"] * 2,
    ]
    History(recorded.events).validate()


def test_two_processes_of_one_agent_are_told_apart_by_their_seats() -> None:
    """spec: L3: two processes may share an agent id."""
    recorded = Recorded(LEASE, seat="sales-01.r1")
    recorded.acquire()
    assert recorded.ops[0].agent == "sales-01"
    assert recorded.ops[0].op == "sales-01.r1.0:1"
    assert recorded.ops[0].process == "sales-01.r1#0.0"
