"""Rules over the contract and over what a scenario expects."""

from __future__ import annotations

from leaserace.harness.rules.contract import Expected, Kept
from tests.support.ops import SALES, SUPPORT, Tape


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(Kept, Expected)
    assert not judgement.findings
    assert judgement.exercised == {"contract.kept": 0, "scenario.expected": 0}


def test_an_answer_that_is_none_is_a_finding() -> None:
    """spec: R."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "acquire"))
    op = tape.info(tape.invoke(SALES, "acquire"), "contract_broken", why="acquire returned None")
    judgement = tape.judge(Kept)
    (finding,) = judgement.findings
    assert finding.ops == (op,)
    assert "acquire returned None" in finding.message
    assert judgement.exercised["contract.kept"] == 2


def test_a_target_that_broke_the_contract_outside_of_a_call_is_a_finding() -> None:
    """spec: R, L5."""
    tape = Tape()
    tape.mark("round.begin")
    tape.mark("contract.broken", what="target t: now_ms()='noon', not a whole number of at least 0")
    (finding,) = tape.findings(Kept)
    assert "now_ms()='noon'" in finding.message


def test_what_is_observed_as_expected_is_legal() -> None:
    """spec: T."""
    tape = Tape()
    tape.mark("round.begin")
    tape.mark("expect", what="x", wanted="Lease", observed="Lease", holds=True)
    judgement = tape.judge(Expected)
    assert not judgement.findings
    assert judgement.exercised["scenario.expected"] == 1


def test_what_is_not_names_the_last_operation_that_was_answered_so() -> None:
    """spec: T."""
    tape = Tape()
    granted = tape.granted(SALES, 41)
    refused = tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.noted(SUPPORT, "suppress")
    for observed in ("contact_owned", "Lease", "2"):
        tape.mark("expect", what="it", wanted="Sent", observed=observed, holds=False)
    first, second, third = tape.findings(Expected)
    assert first.message == "it: expected Sent, observed contact_owned"
    assert (first.ops, second.ops) == ((refused,), (granted,))
    assert len(third.ops) == 1
    assert first.t == tape.events[-3].t


def test_a_fact_about_nothing_that_was_done_has_no_operations() -> None:
    """spec: T."""
    tape = Tape()
    tape.mark("expect", what="mail", wanted="1", observed="0", holds=False)
    (finding,) = tape.findings(Expected)
    assert finding.ops == ()
