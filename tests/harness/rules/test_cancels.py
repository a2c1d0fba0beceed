"""The rule over cancellations: whoever wins, the answer is true."""

from __future__ import annotations

from leaserace.harness.rules.cancels import Truthful
from leaserace.harness.rules.keys import ReplayIsOriginal
from leaserace.harness.rules.refusals import Explained
from tests.support.ops import SALES, SUPPORT, Tape

KEY = "run:i1"


def cancelled(tape: Tape, state: str = "cancelled", key: str = KEY) -> str:
    op = tape.invoke(SUPPORT, "cancel", key=key)
    return tape.ok(op, answer="Found", state=state)


def test_a_cancellation_that_wins_and_one_that_is_late_are_legal() -> None:
    """spec: X17"""
    tape = Tape()
    cancelled(tape)
    tape.refused(SALES, "send", "send_cancelled", key=KEY, intent="i1")
    tape.sent(SALES, key="k2", intent="i2")
    cancelled(tape, "delivered", "k2")
    cancelled(tape, "absent", "k3")
    judgement = tape.judge(Truthful, Explained, ReplayIsOriginal)
    assert not judgement.findings
    assert judgement.exercised["cancels.truthful"] == 3


def test_a_message_that_arrives_after_its_cancellation_is_a_finding() -> None:
    """spec: X17"""
    tape = Tape()
    send = tape.invoke(SALES, "send", key=" RUN:i1 ", intent="i1")
    cancel = cancelled(tape)
    tape.delivery("i1")
    tape.accept(send)
    (finding,) = tape.findings(Truthful)
    assert finding.ops == (send, cancel)


def test_a_message_that_had_arrived_before_its_cancellation_is_a_finding() -> None:
    """spec: X17"""
    tape = Tape()
    send = tape.sent(SALES, key=KEY, intent="i1")
    cancel = cancelled(tape)
    (finding,) = tape.findings(Truthful)
    assert finding.ops == (send, cancel)


def test_a_message_that_left_under_another_key_proves_nothing() -> None:
    """spec: X17, K9"""
    tape = Tape()
    tape.info(tape.invoke(SALES, "send", key=KEY, intent="i1"))
    cancelled(tape)
    tape.sent(SALES, key="k2", intent="i1")
    tape.delivery("stray")
    assert not tape.findings(Truthful)


def test_a_cancellation_of_unknown_outcome_binds_nobody() -> None:
    """spec: X17"""
    tape = Tape()
    tape.info(tape.invoke(SUPPORT, "cancel", key=KEY))
    tape.sent(SALES, key=KEY, intent="i1")
    assert not tape.findings(Truthful)


def test_a_new_request_after_the_keys_window_is_no_lie() -> None:
    """spec: K5, X17"""
    tape = Tape(key_window_s=10.0)
    cancelled(tape)
    tape.at(20_000).sent(SALES, key=KEY, intent="i1")
    assert not tape.findings(Truthful)


def test_too_late_because_delivered_needs_a_delivery() -> None:
    """spec: X17, S8"""
    tape = Tape()
    tape.info(tape.invoke(SALES, "send", key=KEY, intent="i1"))
    cancel = cancelled(tape, "delivered")
    cancelled(tape, "delivered", "a key of another run")
    (finding,) = tape.findings(Truthful)
    assert finding.ops == (cancel,)


def test_a_refusal_for_a_cancellation_nobody_made_is_a_finding() -> None:
    """spec: R, X17"""
    tape = Tape()
    cancelled(tape, key="another")
    cancelled(tape, "dispatching")
    tape.fail(tape.invoke(SUPPORT, "cancel", key=KEY), "store_busy")
    refused = tape.refused(SALES, "send", "send_cancelled", key=KEY)
    (finding,) = tape.findings(Explained)
    assert finding.ops == (refused,)


def test_a_cancellation_that_may_have_happened_explains_the_refusal() -> None:
    """spec: R, X17"""
    tape = Tape()
    tape.info(tape.invoke(SUPPORT, "cancel", key=KEY))
    tape.refused(SALES, "send", "send_cancelled", key=KEY)
    assert not tape.findings(Explained)


def test_a_completed_send_is_not_answered_as_cancelled() -> None:
    """spec: K2, X17"""
    tape = Tape()
    tape.sent(SALES, key=KEY)
    tape.refused(SALES, "send", "send_cancelled", key=KEY)
    assert tape.findings(ReplayIsOriginal)
