"""The rule over what only a person may decide."""

from __future__ import annotations

import pytest

from leaserace.harness.rules.persons import Decide
from tests.support.ops import SALES, Tape


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(Decide)
    assert not judgement.findings
    assert judgement.exercised == {"people.decide": 0}


@pytest.mark.parametrize("f", ["unsuppress", "override"])
def test_a_person_decides_and_an_agent_is_refused(f: str) -> None:
    """spec: C1, C4, O7."""
    tape = Tape()
    tape.ok(tape.invoke(SALES, f, person="grace"), answer="Noted", at_ms=tape.now_ms)
    tape.refused(SALES, f, "not_authorised", person=SALES)
    judgement = tape.judge(Decide)
    assert not judgement.findings
    assert judgement.exercised == {"people.decide": 1}


@pytest.mark.parametrize("f", ["unsuppress", "override"])
def test_an_agent_that_decides_in_its_own_name_is_a_finding(f: str) -> None:
    """spec: C1, C4, O7."""
    tape = Tape()
    op = tape.ok(tape.invoke(SALES, f, person=SALES), answer="Noted", at_ms=tape.now_ms)
    (finding,) = tape.findings(Decide)
    assert finding.ops == (op,)
    assert "only a person may decide" in finding.message
