"""The rule over the circuit breaker."""

from __future__ import annotations

import pytest

from leaserace.harness.rules.halts import Halted
from tests.support.ops import BOB, SALES, SUPPORT, Tape


def _told(tape: Tape, reason: str = "bounce") -> None:
    """A bounce or complaint comes in."""
    op = tape.invoke(SALES, "suppress", BOB, reason=reason)
    tape.ok(op, answer="Noted", at_ms=tape.now_ms)


def _halted(tape: Tape, agent: str = SALES, intent: str = "i9") -> str:
    return tape.refused(agent, "send", "sending_halted", intent=intent)


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(Halted)
    assert not judgement.findings
    assert judgement.exercised == {"sends.halted": 0}


def test_a_halt_after_a_bounce_binds_everybody() -> None:
    """spec: O5."""
    tape = Tape(clock="virtual", breaker_minimum=1.0)
    tape.sent(SALES)
    _told(tape)
    _halted(tape)
    _halted(tape, SUPPORT)
    judgement = tape.judge(Halted)
    assert not judgement.findings
    assert judgement.exercised == {"sends.halted": 2}


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_a_send_between_two_that_were_halted_is_a_finding(clock: str) -> None:
    """spec: O5."""
    tape = Tape(clock=clock)
    _told(tape, "complaint")
    ops = (
        _halted(tape),
        tape.sent(SUPPORT, intent="i2"),
        tape.sent(SUPPORT, intent="i3"),
        _halted(tape),
    )
    (finding,) = tape.findings(Halted)
    assert finding.ops == (ops[0], ops[1], ops[3])
    assert f"{SUPPORT} sent while sending was halted for {SALES}" in finding.message


@pytest.mark.parametrize("between", ["bounce", "resume"])
def test_what_may_have_changed_in_between_excuses_a_send(between: str) -> None:
    """spec: O5: a person resumed, and too many bounced again."""
    tape = Tape()
    _told(tape)
    _halted(tape)
    if between == "bounce":
        _told(tape)
    else:
        tape.ok(tape.invoke(SALES, "resume", person="grace"), answer="Noted", at_ms=tape.now_ms)
    tape.sent(SUPPORT, intent="i2")
    _halted(tape)
    assert not tape.findings(Halted)


def test_calls_that_overlap_and_replays_prove_nothing() -> None:
    """spec: S10."""
    tape = Tape()
    _told(tape)
    early = tape.invoke(SUPPORT, "send", intent="i2")
    _halted(tape)
    tape.accept(early)
    tape.replay(tape.invoke(SUPPORT, "send", intent="i2"))
    late = tape.invoke(SALES, "send", intent="i9")
    tape.sent(SUPPORT, intent="i3")
    tape.fail(late, "sending_halted")
    assert not tape.findings(Halted)


def test_a_halt_without_cause_is_a_finding_where_everything_is_told() -> None:
    """spec: O5: an opt-out is no bounce; a mailbox that was there before may have other causes."""
    for clock, found in (("virtual", True), ("real", False)):
        tape = Tape(clock=clock)
        _told(tape, "opt-out")
        op = _halted(tape)
        findings = tape.findings(Halted)
        assert bool(findings) is found
        if found:
            assert findings[0].ops == (op,)
            assert "no bounce or complaint was told" in findings[0].message


def test_a_halt_before_enough_was_delivered_is_a_finding() -> None:
    """spec: O5: rates are judged on a least number of deliveries."""
    tape = Tape(clock="virtual", breaker_minimum=2.0)
    tape.sent(SALES)
    _told(tape)
    _halted(tape)
    (finding,) = tape.findings(Halted)
    assert "1 messages had been delivered, of at least 2" in finding.message
