"""Cooldown, contact load and override: one timeline for every agent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness import points
from leaserace.harness.contract import Code, Lease, MessageKind, Noted, Refused, Sent
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import Crash, Watch, crash


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def hand_on(desk: Desk, lease: Lease, agent: str = "support-01") -> Lease:
    """The holder releases, another agent takes over."""
    desk.mailbox(lease.owner).release(JANE, lease.token)
    return desk.lease(agent)


def test_a_delivery_binds_every_agent_also_after_the_release(cooling_desk: Desk) -> None:
    """spec: C2, S5, S9"""
    lease, _, _ = cooling_desk.sent("sales-01")
    until_ms = cooling_desk.clock.now_ms() + 600_000
    taken = hand_on(cooling_desk, lease)
    assert taken.cooldown_until_ms == until_ms
    refused = cooling_desk.mailbox("support-01").send(cooling_desk.message(taken))
    assert isinstance(refused, Refused)
    assert (refused.code, refused.until_ms) == (Code.COOLDOWN_ACTIVE, until_ms)
    assert len(cooling_desk.transport.taken) == 1


def test_the_sender_itself_is_bound_too(cooling_desk: Desk) -> None:
    """spec: C2"""
    lease, _, _ = cooling_desk.sent()
    answer = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert code_of(answer) is Code.COOLDOWN_ACTIVE


@pytest.mark.parametrize(("early_ms", "sent"), [(1, False), (0, True)])
def test_a_cooldown_ends_at_its_very_end(cooling_desk: Desk, early_ms: int, sent: bool) -> None:
    """spec: C2"""
    cooling_desk.sent()
    cooling_desk.clock.advance_ms(600_000 - early_ms)
    lease = cooling_desk.lease("support-01")
    answer = cooling_desk.mailbox("support-01").send(cooling_desk.message(lease))
    assert isinstance(answer, Sent) is sent


def test_a_transactional_reply_skips_it_and_counts_for_the_next(cooling_desk: Desk) -> None:
    """spec: C2"""
    lease, _, _ = cooling_desk.sent()
    cooling_desk.clock.advance_ms(30_000)
    reply = cooling_desk.message(lease, kind=MessageKind.TRANSACTIONAL)
    assert isinstance(cooling_desk.mailbox().send(reply), Sent)
    refused = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert isinstance(refused, Refused)
    assert refused.until_ms == cooling_desk.clock.now_ms() + 600_000


def test_the_policy_can_bind_transactional_mail_as_well(cooling_desk: Desk) -> None:
    """spec: C2"""
    cooling_desk.policy = replace(cooling_desk.policy, transactional_cooldown_s=60.0)
    lease, _, _ = cooling_desk.sent()
    reply = cooling_desk.message(lease, kind=MessageKind.TRANSACTIONAL)
    assert code_of(cooling_desk.mailbox().send(reply)) is Code.COOLDOWN_ACTIVE


def test_an_authorisation_reserves_the_cooldown_at_once(cooling_desk: Desk) -> None:
    """While one send is on its way no other passes. spec: S9, X5"""
    answers: list[object] = []

    def meanwhile() -> None:
        cooling_desk.clock.advance_ms(60_000)
        lease = cooling_desk.lease("support-01")
        answers.append(cooling_desk.mailbox("support-01").send(cooling_desk.message(lease)))

    cooling_desk.policy = replace(cooling_desk.policy, transport_timeout_s=100.0)
    lease = cooling_desk.lease()
    points.listen(Watch("send.dispatching", meanwhile))
    assert isinstance(cooling_desk.mailbox().send(cooling_desk.message(lease)), Sent)
    assert code_of(answers[0]) is Code.COOLDOWN_ACTIVE


def test_a_refused_hand_over_frees_the_cooldown(cooling_desk: Desk) -> None:
    """spec: S9"""
    lease = cooling_desk.lease()
    cooling_desk.transport.behaviour = "refuse"
    answer = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert code_of(answer) is Code.INVALID_MESSAGE
    cooling_desk.transport.behaviour = "accept"
    assert isinstance(cooling_desk.mailbox().send(cooling_desk.message(lease)), Sent)


def test_an_unknown_outcome_keeps_the_cooldown(cooling_desk: Desk) -> None:
    """spec: S9, K10"""
    lease = cooling_desk.lease()
    cooling_desk.transport.behaviour = "silent"
    first = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert code_of(first) is Code.SEND_STATUS_UNKNOWN
    second = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert code_of(second) is Code.COOLDOWN_ACTIVE


@pytest.mark.parametrize(("where", "freed"), [("send.recorded", True), ("send.dispatching", False)])
def test_what_a_crash_reserved_is_freed_if_nothing_can_have_left(
    cooling_desk: Desk, where: str, freed: bool
) -> None:
    """Past its deadline an authorised send is withdrawn, a dispatching one unknown. spec: S8, S9"""
    lease = cooling_desk.lease()
    points.listen(Watch(where, crash))
    with pytest.raises(Crash):
        cooling_desk.mailbox().send(cooling_desk.message(lease))
    points.listen(None)
    at_once = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert code_of(at_once) is Code.COOLDOWN_ACTIVE
    cooling_desk.clock.advance_ms(round(cooling_desk.policy.send_deadline_s * 1000))
    later = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert isinstance(later, Sent) is freed


def test_an_override_lets_one_send_through_and_erases_nothing(cooling_desk: Desk) -> None:
    """spec: C4"""
    lease, _, _ = cooling_desk.sent()
    mailbox = cooling_desk.mailbox()
    noted = mailbox.override(JANE, "grace", "she asked on the phone")
    assert noted == Noted(at_ms=cooling_desk.clock.now_ms())
    assert isinstance(mailbox.send(cooling_desk.message(lease)), Sent)
    assert code_of(mailbox.send(cooling_desk.message(lease))) is Code.COOLDOWN_ACTIVE
    record = cooling_desk.log("override")[0]
    assert (record.actor, record.decision) == ("grace", "noted")
    assert record.state == {"person": "grace", "reason": "she asked on the phone"}


def test_an_override_that_is_not_used_ends_by_itself(cooling_desk: Desk) -> None:
    """spec: C4"""
    cooling_desk.policy = replace(cooling_desk.policy, override_s=30.0)
    lease, _, _ = cooling_desk.sent()
    cooling_desk.mailbox().override(JANE, "grace", "she asked")
    cooling_desk.clock.advance_ms(30_000)
    answer = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert code_of(answer) is Code.COOLDOWN_ACTIVE


def test_an_override_that_was_not_needed_is_kept(cooling_desk: Desk) -> None:
    """spec: C4"""
    cooling_desk.mailbox().override(JANE, "grace", "she asked")
    lease, _, _ = cooling_desk.sent()
    assert isinstance(cooling_desk.mailbox().send(cooling_desk.message(lease)), Sent)


@pytest.mark.parametrize("person", ["", "sales-01"])
def test_an_agent_can_not_override_in_its_own_name(cooling_desk: Desk, person: str) -> None:
    """spec: C4, O7"""
    refused = cooling_desk.mailbox("sales-01").override(JANE, person, "I want to")
    assert code_of(refused) is Code.NOT_AUTHORISED
    assert [record.decision for record in cooling_desk.log("override")] == [Code.NOT_AUTHORISED]


def test_the_policy_can_name_the_people(cooling_desk: Desk) -> None:
    """spec: C4, O7"""
    cooling_desk.policy = replace(cooling_desk.policy, people=("grace",))
    assert isinstance(cooling_desk.mailbox().override(JANE, "grace", "x"), Noted)
    assert code_of(cooling_desk.mailbox().override(JANE, "ada", "x")) is Code.NOT_AUTHORISED


def test_a_renewal_carries_the_contact_load_of_all_agents(desk: Desk) -> None:
    """spec: C5"""
    for agent in ("sales-01", "support-01"):
        lease, _, _ = desk.sent(agent)
        desk.mailbox(agent).release(JANE, lease.token)
    lease = desk.lease("digest-01")
    assert lease.contact_load == 2
    renewed = desk.mailbox("digest-01").renew(JANE, lease.token)
    assert isinstance(renewed, Lease)
    assert renewed.contact_load == 2


def test_contacts_by_other_channels_and_teams_count_too(cooling_desk: Desk) -> None:
    """spec: C5, C2"""
    noted = cooling_desk.mailbox("billing-01").note_contact("JANE.doe@acme.com", "telephone")
    assert isinstance(noted, Noted)
    lease = cooling_desk.lease()
    assert lease.contact_load == 1
    answer = cooling_desk.mailbox().send(cooling_desk.message(lease))
    assert code_of(answer) is Code.COOLDOWN_ACTIVE
    assert cooling_desk.log("note_contact")[0].state == {"channel": "telephone"}


def test_old_messages_are_no_load(desk: Desk) -> None:
    """spec: C5"""
    desk.sent()
    desk.clock.advance_ms(7 * 86_400_000 + 1)
    assert desk.lease().contact_load == 0
