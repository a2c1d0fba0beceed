"""The rule over suppression: the shared list beats everything else."""

from __future__ import annotations

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.suppression import Wins
from tests.support.ops import DIGEST, SALES, SUPPORT, Tape


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(Wins)
    assert not judgement.findings
    assert judgement.exercised == {Wins.name: 0}


def test_a_send_after_the_suppression_is_refused() -> None:
    """spec: C1, S4, T race 4."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.noted(SUPPORT, "suppress")
    tape.refused(SALES, "send", "suppressed")
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["suppression.wins"] == 1


def test_a_send_after_the_suppression_that_is_acknowledged_is_a_finding() -> None:
    """spec: C1: although the lease lives."""
    tape = Tape()
    tape.granted(SALES, 41)
    ban = tape.noted(SUPPORT, "suppress")
    op = tape.sent(SALES, arrives=False)
    (finding,) = tape.findings(Wins)
    assert finding.ops == (ban, op)


@pytest.mark.parametrize("outcome", ["refused", "unknown"])
def test_mail_that_arrives_after_the_suppression_is_a_finding(outcome: str) -> None:
    """spec: C1, decision 1."""
    tape = Tape()
    tape.noted(SUPPORT, "suppress")
    op = tape.invoke(SALES, "send")
    tape.fail(op, "suppressed") if outcome == "refused" else tape.info(op)
    tape.delivery()
    (finding,) = tape.findings(Wins)
    assert "its mail arrived" in finding.message


def test_a_send_that_overlaps_the_suppression_may_fall_either_way() -> None:
    """spec: S10."""
    tape = Tape()
    op = tape.invoke(SALES, "send")
    tape.noted(SUPPORT, "suppress")
    tape.delivery()
    tape.accept(op)
    assert not tape.findings(Wins)


def test_a_replay_to_a_suppressed_contact_sends_nothing_and_is_answered() -> None:
    """spec: C1, S2."""
    tape = Tape()
    tape.sent(SALES)
    tape.noted(SUPPORT, "suppress")
    tape.replay(tape.invoke(SALES, "send"))
    assert not tape.findings(Wins)


@pytest.mark.parametrize("outcome", ["ok", "unknown", "under way"])
def test_a_lift_that_may_have_come_since_excuses(outcome: str) -> None:
    """spec: C1, S10."""
    tape = Tape()
    tape.noted(SUPPORT, "suppress")
    lift = tape.invoke(DIGEST, "unsuppress")
    if outcome == "ok":
        tape.ok(lift, answer="Noted", at_ms=tape.now_ms)
    elif outcome == "unknown":
        tape.info(lift)
    tape.sent(SALES)
    assert not tape.findings(Wins)


def test_a_refused_lift_or_one_before_the_suppression_excuses_nothing() -> None:
    """spec: C1."""
    tape = Tape()
    tape.noted(DIGEST, "unsuppress")
    tape.noted(SUPPORT, "suppress")
    tape.refused(DIGEST, "unsuppress", "not_authorised")
    tape.sent(SALES)
    assert tape.findings(Wins)


def test_a_second_suppression_binds_after_the_lift_of_the_first() -> None:
    """spec: C1: the list is forgotten up to its last entry."""
    tape = Tape()
    tape.noted(SUPPORT, "suppress")
    tape.noted(DIGEST, "unsuppress")
    tape.noted(SUPPORT, "suppress")
    tape.sent(SALES)
    assert tape.findings(Wins)


@pytest.mark.parametrize(("older_ms", "excused"), [(1, False), (0, True)])
def test_a_lift_told_late_takes_only_what_is_older(older_ms: int, excused: bool) -> None:
    """spec: C7."""
    tape = Tape()
    noted_ms = tape.now_ms
    tape.noted(SUPPORT, "suppress", at_ms=noted_ms)
    lift = tape.invoke(DIGEST, "unsuppress", event_at_ms=noted_ms - older_ms)
    tape.ok(lift, answer="Noted", at_ms=tape.now_ms)
    tape.sent(SALES)
    assert bool(tape.findings(Wins)) is not excused


def test_a_refused_suppression_binds_nobody() -> None:
    """spec: S10."""
    tape = Tape()
    tape.refused(SUPPORT, "suppress", "store_busy")
    tape.info(tape.invoke(SUPPORT, "suppress"))
    tape.sent(SALES)
    assert not tape.findings(Wins)


@pytest.mark.parametrize(
    ("event", "decision"), [("send", "authorized"), ("dispatch", "dispatching")]
)
def test_the_commit_order_shows_a_send_let_through_behind_the_suppression(
    event: str, decision: str
) -> None:
    """spec: S6, S8: no interval excuses anything there."""
    tape = Tape(capabilities=Capability)
    tape.audit("suppress", "noted", SUPPORT)
    tape.audit(event, decision)
    (finding,) = tape.findings(Wins)
    assert "after record 1 had suppressed it" in finding.message


def test_the_commit_order_allows_a_send_before_the_suppression_and_after_its_lift() -> None:
    """spec: S6, C7: an event that came too late changes nothing."""
    tape = Tape(capabilities=Capability)
    tape.audit("send", "authorized")
    tape.audit("suppress", "noted", SUPPORT)
    tape.audit("deliver", "delivered")
    tape.audit("unsuppress", "noted", "a person")
    tape.audit("suppress", "noted", SUPPORT, state={"too_late": True})
    tape.audit("send", "authorized")
    assert not tape.findings(Wins)


def test_an_event_from_before_a_persons_lift_binds_nobody() -> None:
    """spec: C7."""
    for late, found in ((True, False), (False, True)):
        tape = Tape()
        tape.noted(DIGEST, "unsuppress")
        at_ms = tape.now_ms - 500 if late else tape.now_ms
        op = tape.invoke(SUPPORT, "suppress", event_at_ms=at_ms)
        tape.ok(op, answer="Noted", at_ms=tape.now_ms)
        tape.sent(SALES)
        assert bool(tape.findings(Wins)) is found
