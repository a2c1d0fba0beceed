"""Rules over what contacts write: each event is taken once, and its opt-out is a suppression."""

from __future__ import annotations

from typing import Any

from leaserace.harness.rules.inbound import OncePerEvent
from leaserace.harness.rules.refusals import Explained
from leaserace.harness.rules.suppression import Wins
from tests.support.ops import SALES, SUPPORT, Tape

EVENT = {"event_id": "<1@acme.com>", "sender": "jane@example.com"}


def asked(tape: Tape, agent: str, **event: Any) -> str:
    return tape.invoke(agent, "receive", event=EVENT | event)


def taken(tape: Tape, agent: str, *, first: bool = True, out: bool = False, **event: Any) -> str:
    op = asked(tape, agent, **event)
    return told(tape, op, first=first, out=out)


def told(tape: Tape, op: str, *, first: bool = True, out: bool = False) -> str:
    return tape.ok(op, answer="Taken", key="k", first=first, opted_out=out, at_ms=tape.now_ms)


def test_one_first_and_one_that_was_not_is_legal() -> None:
    """spec: O4, X20"""
    tape = Tape()
    taken(tape, SALES)
    taken(tape, SUPPORT, first=False)
    taken(tape, SUPPORT, event_id="<2@acme.com>")
    judgement = tape.judge(OncePerEvent)
    assert not judgement.findings
    assert judgement.exercised["inbound.once"] == 3


def test_two_firsts_are_a_finding_even_at_one_instant() -> None:
    """spec: O4, X20"""
    tape = Tape()
    one, two = asked(tape, SALES), asked(tape, SUPPORT, event_id=" <1@acme.com> ")
    told(tape, one)
    told(tape, two)
    (finding,) = tape.findings(OncePerEvent)
    assert finding.ops == (one, two)


def test_an_answer_nobody_saw_may_have_been_the_first() -> None:
    """spec: O4"""
    tape = Tape()
    tape.info(asked(tape, SALES), "reply_lost")
    taken(tape, SUPPORT, first=False)
    assert not tape.findings(OncePerEvent)


def test_a_repeat_of_nothing_is_a_finding() -> None:
    """spec: O4: nobody answers such a message."""
    tape = Tape()
    tape.fail(asked(tape, SALES), "store_busy")
    op = taken(tape, SUPPORT, first=False)
    (finding,) = tape.findings(OncePerEvent)
    assert finding.ops == (op,)


def test_an_opt_out_in_a_message_is_a_suppression() -> None:
    """spec: O4, C3, S4"""
    tape = Tape()
    ban = taken(tape, SALES, out=True)
    send = tape.sent(SUPPORT)
    found = tape.findings(Wins)
    assert {finding.ops for finding in found} == {(ban, send)}


def test_a_message_without_one_suppresses_nobody_and_explains_no_refusal() -> None:
    """spec: O4, R"""
    tape = Tape()
    taken(tape, SALES)
    tape.fail(asked(tape, SALES, event_id="<2@acme.com>"), "invalid_message")
    tape.sent(SUPPORT)
    refused = tape.refused(SUPPORT, "send", "suppressed")
    assert not tape.findings(Wins)
    (finding,) = tape.findings(Explained)
    assert finding.ops == (refused,)


def test_an_opt_out_told_again_after_a_person_cleared_it_changes_nothing() -> None:
    """spec: C7, O4"""
    tape = Tape()
    first = asked(tape, SALES)
    tape.ok(first, answer="Taken", key="k", first=True, opted_out=True, at_ms=1_000)
    tape.noted(SUPPORT, "unsuppress", at_ms=2_000)
    again = asked(tape, SALES)
    tape.ok(again, answer="Taken", key="k", first=False, opted_out=True, at_ms=1_000)
    old = asked(tape, SALES, event_id="<2@acme.com>", received_at_ms=1_500)
    tape.ok(old, answer="Taken", key="k", first=True, opted_out=True, at_ms=3_000)
    tape.sent(SUPPORT)
    assert not tape.findings(Wins)


def test_an_opt_out_told_again_may_have_been_cleared_by_a_call_without_a_reply() -> None:
    """spec: C1, O4, S10: while nobody may have cleared it, a repeat is as good as the first."""
    for is_cleared in (True, False):
        tape = Tape()
        tape.info(asked(tape, SALES), "reply_lost")
        if is_cleared:
            tape.info(tape.invoke(SALES, "unsuppress", person="grace"), "reply_lost")
        taken(tape, SUPPORT, first=False, out=True)
        tape.sent(SUPPORT)
        assert bool(tape.findings(Wins)) is not is_cleared
