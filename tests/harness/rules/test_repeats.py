"""The rule over conflicts that keep coming back."""

from __future__ import annotations

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.repeats import Escalated
from tests.support.ops import SALES, SUPPORT, Tape

OWNED, PERSON = "contact_owned", "approval_required"


def _refused(
    *steps: tuple[str, int], token: int = 41, actor: str = SUPPORT, tape: Tape | None = None
) -> Tape:
    """Claims that one lease refused, each with its count; three ask for a person."""
    tape = tape or Tape(capabilities=Capability)
    for code, count in steps:
        state = {"conflicts": count, "escalate_after": 3}
        tape.audit("acquire", code, actor, token=token, state=state)
    return tape


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape(capabilities=Capability).judge(Escalated)
    assert not judgement.findings
    assert judgement.exercised == {"refusals.escalated": 0}


def test_the_third_refusal_by_one_lease_asks_for_a_person() -> None:
    """spec: R2: counted for each agent and for each lease."""
    tape = _refused((OWNED, 1), (OWNED, 2), (PERSON, 3), (PERSON, 4))
    _refused((OWNED, 1), actor=SALES, tape=tape)
    _refused((OWNED, 1), (OWNED, 2), token=42, tape=tape)
    judgement = tape.judge(Escalated)
    assert not judgement.findings
    assert judgement.exercised == {"refusals.escalated": 7}


@pytest.mark.parametrize(
    "steps", [((OWNED, 1), (OWNED, 1)), ((OWNED, 2),), ((OWNED, 1), (PERSON, 3))]
)
def test_a_count_that_does_not_rise_by_one_is_a_finding(steps: tuple[tuple[str, int], ...]) -> None:
    """spec: R2, R3."""
    (finding,) = _refused(*steps).findings(Escalated)
    assert "follows refusal" in finding.message


@pytest.mark.parametrize("steps", [((OWNED, 1), (OWNED, 2), (OWNED, 3)), ((PERSON, 1),)])
def test_a_person_asked_for_too_late_or_too_early_is_a_finding(
    steps: tuple[tuple[str, int], ...],
) -> None:
    """spec: R1, R2: a conflict is information until it repeats."""
    (finding,) = _refused(*steps).findings(Escalated)
    assert "from refusal 3 on a person decides" in finding.message


def test_a_count_begins_anew_long_after() -> None:
    """spec: L4: old rows are cleaned up."""
    tape = _refused((OWNED, 1), (OWNED, 2))
    _refused((OWNED, 1), tape=tape.at(4_000_000))
    assert not tape.findings(Escalated)


def test_a_log_that_does_not_tell_the_count_is_not_judged() -> None:
    """spec: R3: a budget asks for a person too."""
    tape = Tape(capabilities=Capability)
    tape.audit("acquire", OWNED, SUPPORT, token=41, state={"lease": None})
    tape.audit("send", PERSON, SUPPORT)
    assert tape.judge(Escalated).exercised == {"refusals.escalated": 0}
