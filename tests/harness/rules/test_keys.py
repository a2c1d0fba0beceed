"""Rules over idempotency keys."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.rules.base import Rule
from leaserace.harness.rules.keys import PayloadBound, ReplayIsOriginal
from tests.support.ops import SALES, SUPPORT, Tape


@pytest.mark.parametrize("rule", [ReplayIsOriginal, PayloadBound])
def test_an_empty_history_has_no_finding_and_exercises_nothing(rule: type[Rule]) -> None:
    judgement = Tape().judge(rule)
    assert not judgement.findings
    assert judgement.exercised == {rule.name: 0}


def test_a_retry_gets_the_original_answer() -> None:
    """spec: K2, K6: whoever asks."""
    tape = Tape()
    tape.sent(SALES)
    tape.replay(tape.invoke(SALES, "send"))
    tape.replay(tape.invoke(SUPPORT, "send"))
    judgement = tape.judge(ReplayIsOriginal)
    assert not judgement.findings
    assert judgement.exercised["keys.replay_is_original"] == 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"message_id": "<m2>"}, "message_id <m1> at first, then <m2>"),
        ({"status": 200}, "status 201 at first, then 200"),
        ({"replay": False}, "it was executed twice"),
    ],
)
def test_a_retry_with_another_answer_is_a_finding(answer: dict[str, Any], said: str) -> None:
    """spec: K2: same id, same status, marked."""
    tape = Tape()
    first = tape.sent(SALES)
    second = tape.replay(tape.invoke(SALES, "send"), **answer) if "replay" not in answer else ""
    if not second:
        second = tape.accept(tape.invoke(SALES, "send"))
    (finding,) = tape.findings(ReplayIsOriginal)
    assert finding.ops == (first, second)
    assert said in finding.message


def test_two_tries_at_once_that_both_execute_are_a_finding() -> None:
    """spec: K2, X1."""
    tape = Tape()
    first, second = tape.invoke(SALES, "send"), tape.invoke(SALES, "send")
    tape.accept(first)
    tape.accept(second)
    assert tape.findings(ReplayIsOriginal)


def test_a_retry_after_the_window_is_a_new_request() -> None:
    """spec: K5."""
    tape = Tape(key_window_s=10.0)
    tape.sent(SALES)
    tape.at(10_100).sent(SALES)
    assert not tape.findings(ReplayIsOriginal)


def test_a_try_that_was_answered_long_after_the_window_is_no_second_execution() -> None:
    """spec: K5: the first one stood still meanwhile, and the second was a new request."""
    tape = Tape(key_window_s=10.0)
    first = tape.invoke(SALES, "send")
    tape.at(20_000).sent(SUPPORT)
    tape.accept(first)
    assert not tape.findings(ReplayIsOriginal)


def test_a_replay_may_repeat_a_call_of_unknown_outcome() -> None:
    """spec: K2, S10."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "send"), "reply_lost")
    tape.replay(tape.invoke(SALES, "send"))
    assert not tape.findings(ReplayIsOriginal)


def test_a_replay_of_nothing_is_a_finding() -> None:
    """spec: K2: there must be one call that did it."""
    tape = Tape()
    tape.refused(SALES, "send", "suppressed")
    op = tape.replay(tape.invoke(SALES, "send"))
    (finding,) = tape.findings(ReplayIsOriginal)
    assert finding.ops == (op,)
    assert "no call can be its original" in finding.message


def test_two_replays_are_not_each_others_original() -> None:
    """spec: K2."""
    tape = Tape()
    first, second = tape.invoke(SALES, "send"), tape.invoke(SALES, "send")
    tape.replay(first)
    tape.replay(second)
    assert len(tape.findings(ReplayIsOriginal)) == 2


def test_a_replay_without_a_key_is_a_finding() -> None:
    """spec: K2."""
    tape = Tape()
    tape.replay(tape.invoke(SALES, "send", key=None))
    assert tape.findings(ReplayIsOriginal)


@pytest.mark.parametrize("code", ["cooldown_active", "lease_expired", "key_reused", "suppressed"])
def test_a_retry_of_a_completed_send_that_is_refused_is_a_finding(code: str) -> None:
    """spec: S2: the key is looked at before any other check."""
    tape = Tape()
    first = tape.sent(SALES)
    second = tape.refused(SALES, "send", code)
    (finding,) = tape.findings(ReplayIsOriginal)
    assert finding.ops == (first, second)


def test_a_retry_of_a_completed_send_told_unknown_is_a_finding() -> None:
    """spec: S2, K10."""
    tape = Tape()
    tape.sent(SALES)
    op = tape.invoke(SALES, "send")
    tape.info(op, "send_status_unknown", message_id="<m1>")
    assert tape.findings(ReplayIsOriginal)


@pytest.mark.parametrize("code", ["send_in_progress", "store_busy"])
def test_a_retry_may_be_told_to_wait(code: str) -> None:
    """spec: K4, R."""
    tape = Tape()
    tape.sent(SALES)
    tape.refused(SALES, "send", code)
    assert not tape.findings(ReplayIsOriginal)


def test_a_retry_that_overlaps_the_first_try_may_be_refused() -> None:
    """spec: S10."""
    tape = Tape()
    first = tape.invoke(SALES, "send")
    second = tape.invoke(SALES, "send")
    tape.accept(first)
    tape.fail(second, "cooldown_active")
    assert not tape.findings(ReplayIsOriginal)


def test_a_refusal_after_the_window_is_no_retry() -> None:
    """spec: K5."""
    tape = Tape(key_window_s=10.0)
    tape.sent(SALES)
    tape.at(10_100).refused(SALES, "send", "cooldown_active")
    assert not tape.findings(ReplayIsOriginal)


def test_a_refusal_before_the_first_success_is_legal() -> None:
    """spec: S2."""
    tape = Tape()
    tape.refused(SALES, "send", "cooldown_active")
    tape.info(tape.invoke(SALES, "send"))
    tape.refused(SALES, "send", "cooldown_active")
    tape.sent(SALES)
    assert not tape.findings(ReplayIsOriginal)


def test_a_message_id_told_with_an_unknown_outcome_stays() -> None:
    """spec: S8, K10."""
    legal, illegal = Tape(), Tape()
    for tape, told in ((legal, "<m1>"), (illegal, "<m2>")):
        tape.info(tape.invoke(SALES, "send"), "send_status_unknown", message_id="<m1>")
        tape.replay(tape.invoke(SALES, "send"), told)
    assert not legal.findings(ReplayIsOriginal)
    (finding,) = illegal.findings(ReplayIsOriginal)
    assert "message id <m1> while its outcome was unknown, and <m2>" in finding.message


def test_a_look_up_agrees_with_what_was_sent() -> None:
    """spec: K1, K2."""
    tape = Tape()
    tape.sent(SALES)
    op = tape.invoke(SALES, "lookup", key="KEY-i1")
    tape.ok(op, answer="Found", state="delivered", message_id="<m1>")
    tape.refused(SALES, "lookup", "store_busy", key="key-i1")
    tape.ok(tape.invoke(SALES, "lookup", key="other"), answer="Found", state="absent")
    judgement = tape.judge(ReplayIsOriginal)
    assert not judgement.findings
    assert judgement.exercised["keys.replay_is_original"] == 1


@pytest.mark.parametrize(
    "found", [{"state": "absent"}, {"state": "delivered", "message_id": "<m2>"}]
)
def test_a_look_up_that_contradicts_the_send_is_a_finding(found: dict[str, Any]) -> None:
    """spec: K2, R: an agent that trusts it sends again."""
    tape = Tape()
    tape.sent(SALES)
    tape.ok(tape.invoke(SALES, "lookup", key="key-i1"), answer="Found", **found)
    assert tape.findings(ReplayIsOriginal)


def test_a_look_up_after_the_window_or_under_way_is_not_judged() -> None:
    """spec: K5, S10."""
    tape = Tape(key_window_s=10.0)
    op = tape.invoke(SALES, "lookup", key="key-i1")
    tape.sent(SALES)
    tape.ok(op, answer="Found", state="absent")
    late = tape.at(10_100).invoke(SALES, "lookup", key="key-i1")
    tape.ok(late, answer="Found", state="absent")
    assert not tape.findings(ReplayIsOriginal)


# -- keys.payload_bound ---------------------------------------------------------------------------


def test_another_payload_under_the_same_key_is_refused() -> None:
    """spec: K4, X7."""
    tape = Tape()
    tape.sent(SALES, key="k")
    tape.refused(SALES, "send", "key_reused", key="k", intent="i2")
    judgement = tape.judge(PayloadBound)
    assert not judgement.findings
    assert judgement.exercised["keys.payload_bound"] == 1


@pytest.mark.parametrize("change", [{"subject": "Other"}, {"body": "Other"}, {"contact": "bob"}])
def test_another_payload_that_is_acknowledged_is_a_finding(change: dict[str, Any]) -> None:
    """spec: K4: also where it is answered as a replay."""
    tape = Tape()
    first = tape.sent(SALES, key="k")
    second = tape.replay(tape.invoke(SALES, "send", key="K", **change))
    (finding,) = tape.findings(PayloadBound)
    assert finding.ops == (first, second)


def test_a_key_of_a_refused_send_is_free() -> None:
    """spec: K4: nothing was executed under it."""
    tape = Tape()
    tape.refused(SALES, "send", "invalid_message", key="k")
    tape.sent(SALES, key="k", intent="i2")
    assert not tape.findings(PayloadBound)


def test_a_key_of_an_unknown_send_is_bound_if_its_message_arrived() -> None:
    """spec: K4, S10."""
    legal, illegal = Tape(), Tape()
    for tape in (legal, illegal):
        tape.info(tape.invoke(SALES, "send", key="k"))
    illegal.delivery()
    for tape in (legal, illegal):
        tape.sent(SALES, key="k", intent="i2")
    assert not legal.findings(PayloadBound)
    assert illegal.findings(PayloadBound)


def test_a_message_that_arrived_under_another_key_of_its_caller_binds_nothing() -> None:
    """spec: K4, K9: only if each of its keys must have sent it."""
    legal, illegal = Tape(), Tape()
    for tape in (legal, illegal):
        tape.sent(SALES, key="first")
        tape.info(tape.invoke(SALES, "send", key="k"))
    illegal.delivery()
    for tape in (legal, illegal):
        tape.sent(SALES, key="k", intent="i2")
    assert not legal.findings(PayloadBound)
    assert illegal.findings(PayloadBound)


def test_a_message_that_arrived_by_another_endpoint_binds_nothing() -> None:
    """spec: K4, K8: a reply that crashed, and the same words sent."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "send", key="k", endpoint="reply", refers_to="<a@b>"))
    tape.sent(SALES, key="k")
    assert not tape.findings(PayloadBound)


def test_a_message_that_may_have_arrived_twice_by_one_endpoint_binds_nothing() -> None:
    """spec: K4, K5: its key's window had ended between two tries; inside it one try alone arrives."""
    for later_ms, findings in ((10_100, 0), (9_000, 1)):
        tape = Tape(key_window_s=10.0)
        tape.info(tape.invoke(SALES, "send", key="k"))
        tape.delivery()
        tape.at(later_ms)
        tape.info(tape.invoke(SALES, "send", key="k", endpoint="reply", refers_to="<a@b>"))
        tape.sent(SALES, key="k")
        assert len(tape.findings(PayloadBound)) == findings


def test_a_key_is_free_for_another_payload_after_its_window() -> None:
    """spec: K5."""
    tape = Tape(key_window_s=10.0)
    tape.sent(SALES, key="k")
    tape.at(10_100).sent(SALES, key="k", intent="i2")
    assert not tape.findings(PayloadBound)


def test_a_replay_late_in_the_window_does_not_stretch_it() -> None:
    """spec: K5: it runs from the first use, for both rules."""
    tape = Tape(key_window_s=10.0)
    tape.sent(SALES, key="k")
    tape.at(9_000).replay(tape.invoke(SALES, "send", key="k"))
    tape.at(10_100).sent(SALES, key="k")
    tape.at(10_200).sent(SALES, key="k", intent="i2")
    lookup = tape.invoke(SALES, "lookup", key="k")
    tape.ok(lookup, answer="Found", state="delivered", message_id="<m9>")
    assert not tape.findings(ReplayIsOriginal, PayloadBound)


@pytest.mark.parametrize("state", ["absent", "authorized", "withdrawn"])
def test_a_look_up_that_says_nothing_left_of_what_had_arrived_is_a_finding(state: str) -> None:
    """spec: K10, R: it is what an agent asks before it writes anew."""
    tape = Tape()
    first = tape.invoke(SALES, "send")
    tape.delivery("i1")
    tape.info(first, "send_status_unknown", message_id="<m1>")
    asked = tape.invoke(SALES, "lookup", key="key-i1")
    tape.ok(asked, answer="Found", state=state)
    (finding,) = tape.findings(ReplayIsOriginal)
    assert finding.ops == (first, asked)
    assert f"was told {state}, but the message had arrived" in finding.message


def test_a_look_up_may_say_nothing_left_where_that_may_be_so() -> None:
    """spec: K10, S10: nothing arrived, or only later, or perhaps under another key."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "send"), "send_status_unknown", message_id="<m1>")
    asked = tape.invoke(SALES, "lookup", key="key-i1")
    tape.delivery("i1")
    tape.ok(asked, answer="Found", state="absent")
    tape.info(tape.invoke(SALES, "send", intent="", key="key-none"))
    tape.ok(tape.invoke(SALES, "lookup", key="key-none"), answer="Found", state="absent")
    tape.info(tape.invoke(SALES, "send", intent="i1", key="other"))
    tape.ok(tape.invoke(SALES, "lookup", key="other"), answer="Found", state="unknown")
    tape.ok(tape.invoke(SALES, "lookup", key="other"), answer="Found", state="absent")
    assert not tape.findings(ReplayIsOriginal)


def test_a_replay_after_the_window_is_a_finding_where_time_is_exact() -> None:
    """spec: K2, K5: the end of the window is outside of it."""
    for clock, ms, found in (
        ("virtual", 10_002, True),
        ("virtual", 10_001, False),
        ("real", 10_100, False),
    ):
        tape = Tape(key_window_s=10.0, clock=clock)
        first = tape.accept(tape.invoke(SALES, "send"))
        second = tape.replay(tape.at(ms).invoke(SALES, "send"))
        findings = tape.findings(ReplayIsOriginal)
        assert bool(findings) is found
        if found:
            assert findings[0].ops == (first, second)
            assert "after its window had ended" in findings[0].message


def test_a_late_replay_of_what_may_have_been_settled_late_is_legal() -> None:
    """spec: K5, K10: the window opens when the outcome is known; a moved clock tells nothing."""
    late = Tape(key_window_s=10.0, clock="virtual")
    late.info(late.invoke(SALES, "send"), "send_status_unknown", message_id="<m1>")
    late.replay(late.at(20_000).invoke(SALES, "send"))
    moved = Tape(key_window_s=10.0, clock="virtual")
    moved.accept(moved.invoke(SALES, "send"))
    moved.fault("store_clock")
    moved.replay(moved.at(20_000).invoke(SALES, "send"))
    for tape in (late, moved):
        assert not tape.findings(ReplayIsOriginal)
