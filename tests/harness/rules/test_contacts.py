"""The rule over contacts: one person has one key, whatever the spelling."""

from __future__ import annotations

from leaserace.harness.contract import Capability
from leaserace.harness.rules.contacts import OneKey
from tests.support.ops import BOB, SALES, SUPPORT, UNLOGGED, Tape


def _claim(tape: Tape, agent: str, token: int, address: str, key: str) -> str:
    op = tape.invoke(agent, "acquire", address=address)
    return tape.lease(op, token, key=key)


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(OneKey)
    assert not judgement.findings
    assert judgement.exercised == {OneKey.name: 0}


def test_two_spellings_with_one_key_are_legal() -> None:
    """spec: I1."""
    tape = Tape()
    _claim(tape, SALES, 41, "Jane@Example.com", "jane@example.com")
    tape.released(SALES, 41)
    _claim(tape, SUPPORT, 42, " jane@example.com ", "jane@example.com")
    tape.granted(SALES, 1, BOB)
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["contacts.one_key"] == 2


def test_two_keys_for_letter_cases_are_a_finding_for_every_target() -> None:
    """spec: I1, T race 1."""
    tape = Tape(capabilities=UNLOGGED - {Capability.ALIASES})
    first = _claim(tape, SALES, 41, "Jane@Example.com", "Jane@Example.com")
    second = _claim(tape, SUPPORT, 41, "jane@example.com", "jane@example.com")
    (finding,) = tape.findings(OneKey)
    assert finding.ops == (first, second)


def test_two_keys_for_aliases_are_a_finding_only_where_aliases_are_declared() -> None:
    """spec: I2, I3."""
    for capabilities, found in ((UNLOGGED, True), (UNLOGGED - {Capability.ALIASES}, False)):
        tape = Tape(capabilities=capabilities)
        _claim(tape, SALES, 41, "jane@gmail.com", "jane@gmail.com")
        _claim(tape, SUPPORT, 41, "jane@googlemail.com", "jane@googlemail.com")
        assert bool(tape.findings(OneKey)) is found


def test_one_key_for_two_persons_is_a_finding() -> None:
    """spec: I3: look-alikes are not the same person."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.granted(SUPPORT, 42, BOB, key="jane@example.com")
    (finding,) = tape.findings(OneKey)
    assert "are two persons and have one key" in finding.message


def test_an_answer_without_key_is_not_judged() -> None:
    """spec: I1."""
    tape = Tape()
    tape.granted(SALES, 41, key=None)
    assert not tape.findings(OneKey)
