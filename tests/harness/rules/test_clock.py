"""The rule over the clock: all times in answers are the store's."""

from __future__ import annotations

import pytest

from leaserace.harness.rules.clock import StoreDecides
from tests.support.ops import DIGEST, SALES, SUPPORT, Tape

HOUR_MS = 3_600_000


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(StoreDecides)
    assert not judgement.findings
    assert judgement.exercised == {StoreDecides.name: 0}


def test_answers_to_all_agents_come_from_one_clock() -> None:
    """spec: L5, T race 6."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(500).renewed(SALES, 41)
    tape.at(1600).granted(SUPPORT, 42)
    tape.noted(DIGEST, "suppress")
    judgement = tape.judge(StoreDecides)
    assert not judgement.findings
    assert judgement.exercised["clock.store_decides"] == 4


@pytest.mark.parametrize("skew_ms", [HOUR_MS, -HOUR_MS, 300, -300])
def test_a_skewed_agents_clock_in_an_answer_is_a_finding(skew_ms: int) -> None:
    """spec: L5: told once for each pair of agents."""
    tape = Tape()
    for number in range(3):
        tape.at(number * 2500 + 1).granted(SALES, 41 + 2 * number, at_ms=tape.now_ms)
        tape.at(number * 2500 + 1200)
        tape.granted(SUPPORT, 42 + 2 * number, at_ms=tape.now_ms + skew_ms)
    findings = tape.findings(StoreDecides)
    assert len(findings) == 1
    assert set(findings[0].agents) == {SALES, SUPPORT}
    assert "another clock was used" in findings[0].message


def test_a_clock_that_steps_back_under_one_agent_is_a_finding() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.renewed(SALES, 41, granted_at_ms=tape.now_ms - HOUR_MS, expires_at_ms=tape.now_ms)
    (finding, *_) = tape.findings(StoreDecides)
    assert finding.agents == (SALES,)


def test_a_small_correction_of_a_real_clock_is_legal() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(1100).granted(SUPPORT, 42, at_ms=tape.now_ms + 200)
    assert not tape.findings(StoreDecides)


def test_virtual_time_is_the_stores_own() -> None:
    """spec: L5."""
    tape = Tape(clock="virtual")
    tape.granted(SALES, 41)
    tape.at(1100).granted(SUPPORT, 42, at_ms=tape.now_ms + 200)
    assert tape.findings(StoreDecides)


def test_a_slow_answer_leaves_room_for_any_instant_of_the_call() -> None:
    """spec: S10."""
    tape = Tape(lease_s=60.0)
    op = tape.invoke(SALES, "acquire")
    at_ms = tape.now_ms
    tape.at(30_000).lease(op, 41, at_ms=at_ms)
    tape.released(SALES, 41)
    tape.granted(SUPPORT, 42)
    assert not tape.findings(StoreDecides)


def test_a_suppression_noted_again_may_carry_the_first_notes_time() -> None:
    """spec: C1, L5: no later than now."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.noted(SUPPORT, "suppress", at_ms=tape.now_ms - HOUR_MS)
    assert not tape.findings(StoreDecides)
    tape.noted(SUPPORT, "override", at_ms=tape.now_ms + HOUR_MS)
    assert tape.findings(StoreDecides)


@pytest.mark.parametrize("f", ["receive", "note_contact"])
def test_a_time_ahead_of_the_store_is_a_finding_in_any_answer(f: str) -> None:
    """spec: L5, O4, C5."""
    legal, illegal = Tape(), Tape()
    for tape, ahead_ms in ((legal, -HOUR_MS), (illegal, HOUR_MS)):
        tape.granted(SALES, 41)
        op = tape.invoke(SUPPORT, f, event={"event_id": "<1@acme.com>", "sender": "jane"})
        tape.ok(op, answer="Noted", at_ms=tape.now_ms + ahead_ms)
    assert not legal.findings(StoreDecides)
    assert illegal.findings(StoreDecides)


def test_a_fault_that_moves_the_stores_clock_starts_the_bounds_anew() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41)
    under_way = tape.invoke(DIGEST, "suppress")
    tape.fault("pause")
    tape.fault("store_clock")
    tape.ok(under_way, answer="Noted", at_ms=tape.now_ms + HOUR_MS)
    tape.granted(SUPPORT, 42, at_ms=tape.now_ms - HOUR_MS)
    assert not tape.findings(StoreDecides)


def test_a_lease_of_another_length_is_a_finding() -> None:
    """spec: L3, L6."""
    tape = Tape()
    op = tape.granted(SALES, 41, expires_at_ms=tape.now_ms + 1100)
    (finding,) = tape.findings(StoreDecides)
    assert finding.ops == (op,)
    assert "not for the 1000 ms" in finding.message


def test_a_length_is_taken_from_the_acquisition_where_no_now_is_told() -> None:
    """spec: L3."""
    tape = Tape()
    tape.granted(SALES, 41, granted_at_ms=None, expires_at_ms=tape.now_ms + 1100)
    assert len(tape.findings(StoreDecides)) == 1


def test_answers_without_times_are_not_judged() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41, granted_at_ms=None, acquired_at_ms=None)
    tape.renewed(SALES, 41, granted_at_ms=None)
    tape.noted(DIGEST, "suppress", at_ms=0)
    judgement = tape.judge(StoreDecides)
    assert not judgement.findings
    assert judgement.exercised["clock.store_decides"] == 0
