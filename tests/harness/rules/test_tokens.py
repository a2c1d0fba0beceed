"""Rules over fencing tokens: they rise, and an older one never sends."""

from __future__ import annotations

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.base import Rule
from leaserace.harness.rules.tokens import CommitOrder, Rise, StaleNeverSends
from tests.support.ops import DIGEST, SALES, SUPPORT, Tape


@pytest.mark.parametrize("rule", [Rise, StaleNeverSends, CommitOrder])
def test_an_empty_history_has_no_finding_and_exercises_nothing(rule: type[Rule]) -> None:
    judgement = Tape(capabilities=Capability).judge(rule)
    assert not judgement.findings
    assert judgement.exercised == {rule.name: 0}


# -- tokens.rise ----------------------------------------------------------------------------------


def test_tokens_may_leave_gaps() -> None:
    """spec: L4: an acquire of unknown outcome may have used one up."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.released(SALES, 41)
    tape.info(tape.invoke(DIGEST, "acquire"))
    tape.granted(SUPPORT, 43)
    judgement = tape.judge(Rise)
    assert not judgement.findings
    assert judgement.exercised["tokens.rise"] == 1


@pytest.mark.parametrize("token", [40, 41])
def test_a_token_that_does_not_rise_is_a_finding(token: int) -> None:
    """spec: L4, X11."""
    tape = Tape()
    first = tape.granted(SALES, 41)
    tape.released(SALES, 41)
    second = tape.granted(SUPPORT, token)
    (finding,) = tape.findings(Rise)
    assert finding.ops == (first, second)


def test_overlapping_grants_may_be_answered_in_either_order() -> None:
    """spec: L4, S10."""
    tape = Tape()
    slow = tape.invoke(SALES, "acquire")
    fast = tape.invoke(SUPPORT, "acquire")
    at_ms = tape.now_ms
    tape.lease(fast, 42, at_ms=at_ms + 1)
    tape.lease(slow, 41, at_ms=at_ms)
    assert not tape.findings(Rise)


def test_one_token_for_two_overlapping_grants_is_a_finding() -> None:
    """spec: L4."""
    tape = Tape()
    first = tape.invoke(SALES, "acquire")
    second = tape.invoke(SUPPORT, "acquire")
    tape.lease(first, 41)
    tape.lease(second, 41)
    (finding,) = tape.findings(Rise)
    assert finding.ops == (first, second)


def test_overlapping_grants_against_the_order_of_their_store_times_are_a_finding() -> None:
    """spec: L4, L5."""
    tape = Tape()
    first = tape.invoke(SALES, "acquire")
    second = tape.invoke(SUPPORT, "acquire")
    at_ms = tape.now_ms
    tape.lease(first, 41, at_ms=at_ms + 1)
    tape.lease(second, 42, at_ms=at_ms)
    (finding,) = tape.findings(Rise)
    assert finding.ops == (second, first)


@pytest.mark.parametrize("how", ["no times", "a jump"])
def test_store_times_that_say_nothing_order_nothing(how: str) -> None:
    """spec: L5, S10."""
    tape = Tape()
    if how == "a jump":
        tape.fault("store_clock")
    first = tape.invoke(SALES, "acquire")
    second = tape.invoke(SUPPORT, "acquire")
    at_ms = tape.now_ms
    tape.lease(first, 41, at_ms=at_ms + 1)
    tape.lease(second, 42, at_ms=0 if how == "no times" else at_ms)
    assert not tape.findings(Rise)


# -- tokens.stale_never_sends ---------------------------------------------------------------------


def _taken_over(tape: Tape) -> None:
    tape.granted(SALES, 41)
    tape.at(1100).granted(SUPPORT, 42)


def test_a_stale_send_that_is_refused_is_legal() -> None:
    """spec: S3, T race 2."""
    tape = Tape()
    _taken_over(tape)
    tape.refused(SALES, "send", "stale_fencing_token")
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["tokens.stale_never_sends"] == 1


def test_a_stale_send_that_is_acknowledged_is_a_finding() -> None:
    """spec: S3, S10."""
    tape = Tape()
    _taken_over(tape)
    op = tape.sent(SALES, arrives=False)
    (finding,) = tape.findings(StaleNeverSends)
    assert finding.ops[-1] == op
    assert "after support-01 had been granted 42" in finding.message


def test_a_replay_to_a_stale_caller_is_legal() -> None:
    """spec: S2: it is answered before the token is looked at."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.sent(SALES)
    tape.at(1100).granted(SUPPORT, 42)
    tape.replay(tape.invoke(SALES, "send"))
    assert not tape.findings()


@pytest.mark.parametrize("outcome", ["refused", "unknown", "never"])
def test_a_stale_send_whose_mail_arrives_is_a_finding_whatever_was_answered(outcome: str) -> None:
    """spec: S3, S10, decision 1: the receiving mailbox is the ground truth."""
    tape = Tape()
    _taken_over(tape)
    op = tape.invoke(SALES, "send")
    if outcome == "refused":
        tape.fail(op, "stale_fencing_token")
    elif outcome == "unknown":
        tape.info(op)
    tape.delivery()
    (finding,) = tape.findings(StaleNeverSends)
    assert "its mail arrived" in finding.message


def test_a_send_that_overlaps_the_newer_grant_may_fall_either_way() -> None:
    """spec: S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    op = tape.at(990).invoke(SALES, "send")
    tape.at(1100).granted(SUPPORT, 42)
    tape.delivery()
    tape.accept(op)
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.late_hand_overs == 1


def test_an_earlier_try_explains_a_late_delivery() -> None:
    """spec: S8, S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.info(tape.invoke(SALES, "send"))
    tape.at(1100).granted(SUPPORT, 42)
    tape.refused(SALES, "send", "stale_fencing_token")
    tape.delivery()
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.late_hand_overs == 1


def test_mail_of_unknown_origin_or_without_token_is_not_judged() -> None:
    """spec: S3."""
    tape = Tape()
    _taken_over(tape)
    tape.delivery("nobody's")
    tape.sent(SALES, token=None)
    tape.sent(SUPPORT, token=42, intent="i2")
    judgement = tape.judge(StaleNeverSends)
    assert not judgement.findings
    assert judgement.late_hand_overs == 0


# -- tokens.commit_order --------------------------------------------------------------------------


def _log(*records: tuple[str, str, str, int | None]) -> Tape:
    tape = Tape(capabilities=Capability)
    for event, decision, actor, token in records:
        tape.audit(event, decision, actor, token=token)
    return tape


def test_a_send_authorized_before_the_newer_grant_is_legal() -> None:
    """spec: S6."""
    tape = _log(
        ("acquire", "granted", SALES, 41),
        ("acquire", "contact_owned", SUPPORT, None),
        ("send", "authorized", SALES, 41),
        ("dispatch", "dispatching", SALES, 41),
        ("release", "released", SALES, 41),
        ("deliver", "delivered", SALES, 41),
        ("acquire", "granted", SUPPORT, 42),
        ("send", "replayed", SALES, 41),
    )
    tape.audit("acquire", "granted", SUPPORT, token=1, key="bob@example.com")
    judgement = tape.judge(CommitOrder)
    assert not judgement.findings
    assert judgement.exercised["tokens.commit_order"] == 2


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (
            [("acquire", "granted", SUPPORT, 42), ("send", "authorized", SALES, 41)],
            "was authorized after support-01 had been granted 42",
        ),
        (
            [("acquire", "granted", SUPPORT, 42), ("dispatch", "dispatching", SALES, 41)],
            "was dispatching after support-01 had been granted 42",
        ),
        ([("send", "authorized", SALES, 42)], "no grant gave that token"),
        ([("send", "authorized", SUPPORT, 41)], "sales-01 holds that lease"),
        (
            [("release", "released", SALES, 41), ("send", "authorized", SALES, 41)],
            "after that lease had been released",
        ),
    ],
)
def test_a_send_let_through_under_a_lease_that_was_over_is_a_finding(
    records: list[tuple[str, str, str, int]], said: str
) -> None:
    """spec: S6, S8, S10."""
    tape = _log(("acquire", "granted", SALES, 41), *records)
    (finding,) = tape.findings(CommitOrder)
    assert said in finding.message


def test_records_without_token_or_of_an_unknown_contact_order_nothing() -> None:
    """spec: S6."""
    tape = _log(("acquire", "granted", SALES, None), ("send", "authorized", SALES, 41))
    judgement = tape.judge(CommitOrder)
    assert not judgement.findings
    assert judgement.exercised["tokens.commit_order"] == 0
