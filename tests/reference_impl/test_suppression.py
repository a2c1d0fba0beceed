"""The list nobody gets past."""

from __future__ import annotations

import pytest

from leaserace.harness import points
from leaserace.harness.contract import Code, Noted, Refused, Sent
from leaserace.harness.points import listen
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import Watch


def is_suppressed(desk: Desk) -> bool:
    lease = desk.lease("digest-01")
    answer = desk.mailbox("digest-01").send(desk.message(lease))
    desk.mailbox("digest-01").release(JANE, lease.token)
    assert isinstance(answer, Sent | Refused)
    return isinstance(answer, Refused) and answer.code is Code.SUPPRESSED


def test_a_suppressed_contact_is_refused_to_every_agent_under_any_lease(desk: Desk) -> None:
    """spec: C1, S4"""
    lease = desk.lease("sales-01")
    assert desk.mailbox("support-01").suppress("JANE.DOE@acme.com", "opt-out") == Noted(
        at_ms=desk.clock.now_ms()
    )
    refused = desk.mailbox("sales-01").send(desk.message(lease))
    assert isinstance(refused, Refused)
    assert refused.code is Code.SUPPRESSED
    assert "opt-out" in refused.detail
    desk.mailbox("sales-01").release(JANE, lease.token)
    assert is_suppressed(desk)
    assert not desk.transport.taken


def test_a_suppression_never_expires_by_itself(desk: Desk) -> None:
    """spec: C1"""
    desk.mailbox().suppress(JANE, "complaint")
    desk.clock.advance_ms(50 * 365 * 86_400_000)
    desk.mailbox().clean_up()
    assert is_suppressed(desk)


def test_suppression_beats_an_override(cooling_desk: Desk) -> None:
    """spec: C1, C4"""
    lease, _, _ = cooling_desk.sent()
    mailbox = cooling_desk.mailbox()
    mailbox.suppress(JANE, "opt-out")
    mailbox.override(JANE, "grace", "she asked")
    refused = mailbox.send(cooling_desk.message(lease))
    assert isinstance(refused, Refused)
    assert refused.code is Code.SUPPRESSED


def test_suppression_beats_every_other_refusal_and_the_log_has_all(cooling_desk: Desk) -> None:
    """spec: C1, S7"""
    lease, _, _ = cooling_desk.sent()
    cooling_desk.mailbox().suppress(JANE, "bounce")
    cooling_desk.clock.set_ms(lease.expires_at_ms)
    refused = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert isinstance(refused, Refused)
    every = (Code.SUPPRESSED, Code.LEASE_EXPIRED, Code.COOLDOWN_ACTIVE)
    assert refused.reasons == every
    assert cooling_desk.log("send")[-1].reasons == every


def test_a_replay_is_answered_although_the_contact_is_suppressed(desk: Desk) -> None:
    """It sends nothing. spec: C1, S2"""
    _, message, sent = desk.sent()
    desk.mailbox().suppress(JANE, "opt-out")
    again = desk.mailbox().send(message)
    assert isinstance(again, Sent)
    assert (again.message_id, again.replay) == (sent.message_id, True)


def test_a_person_takes_a_contact_off_the_list(desk: Desk) -> None:
    """spec: C1"""
    desk.mailbox().suppress(JANE, "opt-out")
    desk.mailbox().suppress(JANE, "bounce")
    assert isinstance(desk.mailbox().unsuppress(JANE, "grace"), Noted)
    assert not is_suppressed(desk)
    assert desk.log("unsuppress")[0].actor == "grace"
    assert desk.log("unsuppress")[0].state["suppression"] == ["opt-out", "bounce"]


@pytest.mark.parametrize("person", ["", "sales-01"])
def test_an_agent_clears_nothing_in_its_own_name(desk: Desk, person: str) -> None:
    """spec: C1, O7"""
    desk.mailbox().suppress(JANE, "opt-out")
    refused = desk.mailbox("sales-01").unsuppress(JANE, person)
    assert isinstance(refused, Refused)
    assert refused.code is Code.NOT_AUTHORISED
    assert is_suppressed(desk)


def test_a_late_bounce_does_not_undo_a_persons_clearance(desk: Desk) -> None:
    """spec: C7, X16"""
    bounced_at_ms = desk.clock.now_ms()
    desk.clock.advance_ms(1000)
    desk.mailbox().unsuppress(JANE, "grace")
    desk.clock.advance_ms(1000)
    assert isinstance(desk.mailbox().suppress(JANE, "bounce", bounced_at_ms), Noted)
    assert not is_suppressed(desk)
    assert desk.log("suppress") == []
    assert desk.log("suppress_late")[0].state["event_at_ms"] == bounced_at_ms


def test_an_opt_out_at_the_instant_of_the_clearance_counts(desk: Desk) -> None:
    """spec: C7"""
    desk.mailbox().unsuppress(JANE, "grace")
    desk.mailbox().suppress(JANE, "opt-out")
    assert is_suppressed(desk)


def test_a_new_subscription_withdraws_an_opt_out_only(desk: Desk) -> None:
    """spec: C1, C7"""
    desk.mailbox().suppress(JANE, "opt-out")
    assert isinstance(desk.mailbox().resubscribe(JANE), Noted)
    assert not is_suppressed(desk)
    desk.mailbox().suppress(JANE, "complaint")
    desk.mailbox().suppress(JANE, "opt-out")
    desk.mailbox().resubscribe(JANE)
    assert is_suppressed(desk)


def test_a_subscription_from_before_the_opt_out_changes_nothing(desk: Desk) -> None:
    """spec: C7"""
    subscribed_at_ms = desk.clock.now_ms()
    desk.clock.advance_ms(1000)
    desk.mailbox().suppress(JANE, "opt-out")
    desk.mailbox().resubscribe(JANE, subscribed_at_ms)
    assert is_suppressed(desk)


def test_the_same_cause_is_listed_once(desk: Desk) -> None:
    desk.mailbox().suppress(JANE, "bounce")
    desk.mailbox().suppress(JANE, "bounce")
    desk.mailbox().unsuppress(JANE, "grace")
    assert desk.log("unsuppress")[0].state["suppression"] == ["bounce"]


def test_an_opt_out_is_on_the_list_before_its_call_returns(desk: Desk) -> None:
    """So it is there before any lease is released. spec: C3"""
    watch = Watch()
    listen(watch)
    lease = desk.lease()
    desk.mailbox().suppress(JANE, "opt-out")
    points.listen(None)
    assert watch.passed[-2:] == ["suppress.written", "suppress.committed"]
    desk.mailbox().release(JANE, lease.token)
    assert is_suppressed(desk)


def test_an_opt_out_between_record_and_hand_over_still_wins(desk: Desk) -> None:
    """spec: S4, S8, C1"""
    lease = desk.lease("sales-01")
    points.listen(
        Watch("send.recorded", lambda: desk.mailbox("support-01").suppress(JANE, "opt-out"))
    )
    refused = desk.mailbox("sales-01").send(desk.message(lease))
    assert isinstance(refused, Refused)
    assert refused.code is Code.SUPPRESSED
    assert not desk.transport.taken
