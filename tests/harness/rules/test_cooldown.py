"""Rules over the cooldown: after a delivery every agent waits."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.rules.base import Rule
from leaserace.harness.rules.cooldown import BindsAll, NoDoubleContact
from tests.support.ops import BOB, DIGEST, SALES, SUPPORT, Tape

BOTH = (BindsAll, NoDoubleContact)


def _tape(**settings: float) -> Tape:
    lengths: dict[str, Any] = {"lease_s": 100.0, "cooldown_s": 10.0, **settings}
    return Tape(**lengths)


@pytest.mark.parametrize("rule", BOTH)
def test_an_empty_history_has_no_finding_and_exercises_nothing(rule: type[Rule]) -> None:
    judgement = Tape().judge(rule)
    assert not judgement.findings
    assert judgement.exercised == {rule.name: 0}


def test_a_second_send_inside_the_cooldown_is_refused() -> None:
    """spec: C2, T race 5."""
    tape = _tape()
    tape.granted(SALES, 41)
    tape.sent(SALES)
    tape.released(SALES, 41)
    tape.granted(SUPPORT, 42)
    tape.refused(SUPPORT, "send", "cooldown_active", intent="i2", token=42)
    assert not tape.findings()


def test_a_second_send_inside_the_cooldown_that_is_accepted_is_a_finding() -> None:
    """spec: C2, S5, S10."""
    tape = _tape()
    first = tape.sent(SALES)
    second = tape.sent(SUPPORT, intent="i2")
    judgement = tape.judge(*BOTH)
    assert [(each.rule, each.ops) for each in judgement.findings] == [
        ("cooldown.no_double_contact", (first, second)),
        ("cooldown.binds_all", (first, second)),
    ]
    assert judgement.double_contacts == 1
    assert judgement.exercised == {"cooldown.binds_all": 1, "cooldown.no_double_contact": 1}


def test_the_cooldown_binds_the_same_agent_too() -> None:
    """spec: C2: no double contact, but a breach."""
    tape = _tape()
    tape.sent(SALES)
    tape.sent(SALES, intent="i2")
    judgement = tape.judge(*BOTH)
    assert [each.rule for each in judgement.findings] == ["cooldown.binds_all"]
    assert judgement.double_contacts == 0


def test_overlapping_sends_can_not_both_pass() -> None:
    """spec: S9, X5."""
    tape = _tape()
    first = tape.invoke(SALES, "send")
    second = tape.invoke(SUPPORT, "send", intent="i2")
    tape.accept(first)
    tape.accept(second, "<m2>")
    (finding,) = tape.findings(BindsAll)
    assert finding.ops == (first, second)


def test_a_send_of_unknown_outcome_that_arrived_had_been_let_through() -> None:
    """spec: S9."""
    tape = _tape()
    op = tape.invoke(SALES, "send")
    tape.delivery()
    tape.info(op, "send_status_unknown")
    tape.sent(SUPPORT, intent="i2", arrives=False)
    assert tape.findings(BindsAll)


@pytest.mark.parametrize("outcome", ["refused", "unknown", "a replay"])
def test_a_send_that_may_not_have_left_sets_no_cooldown(outcome: str) -> None:
    """spec: S9, S10."""
    tape = _tape()
    op = tape.invoke(SALES, "send")
    if outcome == "refused":
        tape.fail(op, "suppressed")
    elif outcome == "unknown":
        tape.info(op)
    else:
        tape.replay(op)
    tape.sent(SUPPORT, intent="i2")
    assert not tape.findings(*BOTH)


def test_a_late_arrival_of_a_send_tried_twice_is_in_doubt() -> None:
    """spec: S10."""
    tape = _tape()
    tape.info(tape.invoke(SALES, "send"))
    op = tape.invoke(SALES, "send")
    tape.delivery()
    tape.info(op)
    tape.sent(SUPPORT, intent="i2", arrives=False)
    assert not tape.findings(BindsAll)


def test_a_send_after_the_cooldown_is_legal() -> None:
    """spec: C2."""
    tape = _tape()
    tape.sent(SALES)
    tape.at(10_100).sent(SUPPORT, intent="i2")
    judgement = tape.judge(*BOTH)
    assert not judgement.findings
    assert judgement.double_contacts == 0


def test_a_hand_over_that_came_late_is_counted_and_no_finding() -> None:
    """spec: S8, S10: its sender stood still between authorisation and transport."""
    tape = _tape()
    paused = tape.invoke(SALES, "send")
    tape.at(10_100).sent(SUPPORT, intent="i2")
    tape.delivery("i1")
    tape.accept(paused)
    judgement = tape.judge(*BOTH)
    assert not judgement.findings
    assert judgement.double_contacts == 1


def test_an_earlier_try_may_have_reserved_the_cooldown_long_before() -> None:
    """spec: S9, S10."""
    tape = _tape()
    tape.info(tape.invoke(SALES, "send"))
    tape.at(10_100).sent(SUPPORT, intent="i2")
    tape.sent(SALES)
    assert not tape.findings(*BOTH)


def test_transactional_mail_may_skip_the_cooldown() -> None:
    """spec: C2."""
    tape = _tape()
    tape.sent(SALES)
    tape.sent(SUPPORT, intent="i2", kind="transactional")
    tape.sent(DIGEST, BOB, intent="i3", kind="transactional")
    tape.sent(SALES, BOB, intent="i4")
    judgement = tape.judge(*BOTH)
    assert not judgement.findings
    assert judgement.double_contacts == 0


@pytest.mark.parametrize("outcome", ["ok", "unknown"])
def test_an_override_that_may_be_in_force_skips_the_cooldown(outcome: str) -> None:
    """spec: C4, S10."""
    tape = _tape()
    tape.sent(SALES)
    if outcome == "ok":
        tape.noted(DIGEST, "override")
    else:
        tape.info(tape.invoke(DIGEST, "override"))
    tape.sent(SUPPORT, intent="i2")
    assert not tape.findings(*BOTH)


def test_a_refused_override_skips_nothing() -> None:
    """spec: C4."""
    tape = _tape()
    tape.sent(SALES)
    tape.refused(DIGEST, "override", "not_authorised")
    tape.sent(SUPPORT, intent="i2")
    assert len(tape.findings(*BOTH)) == 2


def test_without_a_cooldown_or_after_a_clock_jump_nothing_is_judged() -> None:
    """spec: C2, L5."""
    off, jumped = _tape(cooldown_s=0.0), _tape()
    jumped.fault("store_clock")
    for tape in (off, jumped):
        tape.sent(SALES)
        tape.sent(SUPPORT, intent="i2")
        assert not tape.findings(*BOTH)


def test_mail_without_intent_is_judged_by_what_was_acknowledged() -> None:
    """spec: C2."""
    tape = _tape()
    tape.sent(SALES, intent="", arrives=False)
    tape.sent(SUPPORT, intent="", arrives=False)
    tape.delivery("")
    assert [each.rule for each in tape.findings(*BOTH)] == ["cooldown.binds_all"]


def test_virtual_time_is_exact_to_the_millisecond() -> None:
    """spec: C2."""
    for ms, found in ((9_999, True), (10_001, False)):
        tape = Tape(lease_s=100.0, cooldown_s=10.0, clock="virtual")
        tape.ms = 0
        op = tape.invoke(SALES, "send")
        tape.ms = 0
        tape.accept(op)
        op = tape.at(ms).invoke(SUPPORT, "send", intent="i2")
        tape.ms -= 1
        tape.accept(op, "<m2>")
        assert bool(tape.findings(BindsAll)) is found


def test_one_override_lets_one_send_skip_the_cooldown() -> None:
    """spec: C4: it is used up by the send it was made for."""
    tape = _tape()
    tape.sent(SALES)
    tape.noted(DIGEST, "override")
    tape.sent(SALES, intent="i2")
    assert not tape.findings(BindsAll)
    tape.sent(SALES, intent="i3")
    (finding,) = tape.findings(BindsAll)
    assert finding.rule == "cooldown.binds_all"


def test_an_override_may_serve_a_send_that_is_still_under_way() -> None:
    """spec: C4, S10: the first send is judged when all that overlapped it is over."""
    tape = _tape()
    claim = tape.invoke(SUPPORT, "acquire")
    tape.sent(SALES)
    tape.noted(DIGEST, "override")
    second = tape.invoke(SALES, "send", intent="i2")
    tape.delivery("i2")
    tape.fail(claim, "contact_owned")
    tape.accept(second)
    assert not tape.findings(BindsAll)


def test_as_many_sends_skip_the_cooldown_as_there_are_overrides() -> None:
    """spec: C4."""
    tape = _tape()
    tape.sent(SALES)
    for number in (2, 3):
        tape.noted(DIGEST, "override")
        tape.sent(SALES, intent=f"i{number}")
    assert not tape.findings(BindsAll)


def test_an_override_may_serve_again_where_the_first_cooldown_may_be_over() -> None:
    """spec: C4, S10: not all of the sends lie inside one cooldown for certain."""
    tape = _tape(cooldown_s=1.0)
    first = tape.invoke(SUPPORT, "send", intent="i0")
    tape.noted(DIGEST, "override")
    tape.at(600).sent(SALES, intent="i1")
    tape.at(900).accept(first)
    last = tape.at(1_000).invoke(SALES, "send", intent="i2")
    tape.at(1_100).accept(last)
    assert not tape.findings(BindsAll)
