"""How an agent keeps its leases: each clause of A2 with a history that breaks it and one that does not."""

from __future__ import annotations

import pytest

from leaserace.harness.errand import CONFLICTS_MAX as OURS
from leaserace.harness.rules.agents import Renewals
from leaserace.harness.rules.agents_renewals import AFTER_WORK, CONFLICTS_MAX, IN_A_ROW
from tests.support.agent_tape import AgentTape
from tests.support.ops import BOB, SALES, SUPPORT


def slips(tape: AgentTape) -> list[str]:
    return tape.slips(Renewals)


def holding(*, sends: int = 1) -> AgentTape:
    """The agent holds the contact and wrote to it."""
    tape = AgentTape()
    tape.granted(SALES, 41)
    for number in range(sends):
        tape.sent(SALES, intent=f"i{number}")
    return tape


def test_a_lease_that_is_renewed_for_each_step_and_given_back_is_well_kept() -> None:
    """spec: A2, L10"""
    tape = holding()
    for number in range(2, 8):
        tape.renewed(SALES, 41)
        tape.sent(SALES, intent=f"i{number}")
    tape.released(SALES, 41)
    judgement = tape.judge(Renewals)
    assert judgement.findings == ()
    assert judgement.exercised == {"agent.renewals": 8}


def test_renewals_after_the_work_was_done_are_a_timer_nobody_stopped() -> None:
    """spec: A2, L6"""
    tape = holding()
    for _ in range(AFTER_WORK):
        tape.renewed(SALES, 41)
    tape.released(SALES, 41)
    assert slips(tape) == ["sales-01 renewed its lease on jane 3 times after the work was done"]
    assert tape.habits() == {"detached-renewal"}


@pytest.mark.parametrize("does", ["send", "lookup", "fewer"])
def test_renewals_with_work_after_them_are_none(does: str) -> None:
    """spec: A2"""
    tape = holding()
    for _ in range(AFTER_WORK - (does == "fewer")):
        tape.renewed(SALES, 41)
    if does == "send":
        tape.sent(SALES, intent="i9")
    if does == "lookup":
        tape.found()
    tape.released(SALES, 41)
    assert slips(tape) == []


def test_a_long_draft_may_be_renewed_before_anything_is_sent() -> None:
    """spec: L10"""
    tape = holding(sends=0)
    for _ in range(IN_A_ROW - 1):
        tape.renewed(SALES, 41)
    tape.sent(SALES)
    tape.released(SALES, 41)
    assert slips(tape) == []


def test_a_timer_that_goes_on_and_on_is_told_once_while_it_does() -> None:
    """spec: A2, L6"""
    tape = holding()
    for _ in range(3 * IN_A_ROW):
        tape.renewed(SALES, 41)
    tape.released(SALES, 41)
    assert slips(tape) == [
        "sales-01 renewed its lease on jane 10 times in a row and did nothing else"
    ]
    assert tape.habits() == {"detached-renewal"}


def test_a_timer_that_outlives_the_history_is_told_at_its_end() -> None:
    """spec: A2"""
    tape = holding()
    for _ in range(AFTER_WORK):
        tape.renewed(SALES, 41)
    assert len(slips(tape)) == 2
    assert tape.habits() == {"detached-renewal"}


def test_who_was_refused_a_renewal_stops() -> None:
    """spec: A2, L6"""
    for f in ("send", "renew"):
        tape = holding()
        tape.refused(SALES, "renew", "lease_expired", token=41)
        tape.refused(SALES, f, "lease_expired", token=41)
        assert slips(tape) == [
            f"sales-01 called {f} under token 41 although its renewal failed: lease_expired"
        ]
        assert tape.habits() == {"ignores-failed-renewal"}


def test_who_was_refused_a_renewal_may_claim_again_and_give_back() -> None:
    """spec: L6"""
    tape = holding()
    tape.refused(SALES, "renew", "lease_expired", token=41)
    tape.refused(SALES, "release", "lease_expired", token=41)
    tape.granted(SALES, 42)
    tape.renewed(SALES, 42)
    tape.sent(SALES, token=42, intent="i9")
    tape.released(SALES, 42)
    assert slips(tape) == []


def test_a_renewal_whose_outcome_is_open_may_be_asked_for_again() -> None:
    """spec: L6"""
    tape = holding()
    tape.refused(SALES, "renew", "store_busy", token=41)
    tape.info(tape.invoke(SALES, "renew", token=41), "reply_lost")
    tape.renewed(SALES, 41)
    tape.sent(SALES, intent="i9")
    assert slips(tape) == ["sales-01 took a lease on jane and never gave it back"]
    tape.released(SALES, 41)
    assert slips(tape) == []


def test_a_lease_that_is_over_is_not_renewed() -> None:
    """spec: A2"""
    tape = holding()
    tape.released(SALES, 41)
    tape.refused(SALES, "renew", "not_holder", token=41)
    assert slips(tape) == ["sales-01 renewed token 41 of jane although that lease was over"]
    assert tape.habits() == {"detached-renewal"}
    tape = holding(sends=0)
    tape.refused(SALES, "send", "stale_fencing_token")
    tape.refused(SALES, "renew", "stale_fencing_token", token=41)
    assert len(slips(tape)) == 1
    assert tape.habits() == {"old-token"}


def test_a_lease_is_given_back_when_the_work_is_done() -> None:
    """spec: A2"""
    assert slips(holding()) == ["sales-01 took a lease on jane and never gave it back"]
    tape = holding()
    tape.info(tape.invoke(SALES, "release", token=41), "reply_lost")
    assert slips(tape) == [], "it tried"


def test_a_release_of_another_lease_gives_nothing_back() -> None:
    """spec: L7"""
    tape = holding()
    tape.refused(SALES, "release", "not_holder", token=40)
    assert slips(tape) == ["sales-01 took a lease on jane and never gave it back"]


def test_a_lease_that_is_not_used_is_given_back_at_least() -> None:
    """spec: A2"""
    tape = holding(sends=0)
    assert slips(tape) == [
        "sales-01 took a lease on jane, sent nothing under it and never gave it back"
    ]
    tape.released(SALES, 41)
    assert slips(tape) == []


def test_a_crash_excuses_what_is_still_held() -> None:
    """spec: A2, X9"""
    tape = holding()
    tape.crash()
    assert slips(tape) == []


def test_the_crash_of_one_process_does_not_excuse_another() -> None:
    """spec: A2"""
    tape = holding()
    tape.fault("crash", SUPPORT)
    tape.fault("crash", SALES, phase="end")
    tape.fault("pause", SALES)
    assert len(slips(tape)) == 1


def test_who_still_calls_when_the_history_ends_is_not_done() -> None:
    """spec: A2"""
    tape = holding()
    tape.invoke(SALES, "release", token=40)
    assert slips(tape) == []


def test_a_lease_that_the_mailbox_says_is_lost_is_not_held() -> None:
    """spec: A2"""
    for code in ("lease_expired", "stale_fencing_token", "not_holder"):
        tape = holding()
        tape.refused(SALES, "send", code, intent="i9")
        assert slips(tape) == []


def test_a_grant_that_came_after_its_own_end_is_worth_nothing() -> None:
    """spec: L8, X19"""
    tape = AgentTape()
    op = tape.invoke(SALES, "acquire")
    granted_ms = tape.now_ms
    tape.at(2_000).lease(op, 41, at_ms=granted_ms)
    assert slips(tape) == []


def test_a_renewal_of_a_lease_taken_before_the_mark_is_nobodys_debt() -> None:
    """spec: A2"""
    tape = AgentTape()
    tape.renewed(SALES, 41)
    assert slips(tape) == []


def test_one_conflict_is_met_three_times_at_most() -> None:
    """spec: A2, R2"""
    tape = AgentTape()
    tape.granted(SUPPORT, 41)
    for number in range(CONFLICTS_MAX):
        tape.at(100 * (number + 1)).refused(SALES, "acquire", "contact_owned")
    assert slips(tape) == []
    for number in range(3):
        tape.at(1_000 + 100 * number).refused(SALES, "acquire", "contact_owned")
    assert slips(tape) == [
        "sales-01 claimed jane 4 times against one lease and handed it to nobody"
    ]


def test_conflicts_with_several_leases_or_several_people_are_several_conflicts() -> None:
    """spec: R2"""
    tape = AgentTape()
    for number in range(1, 7):
        tape.granted(SUPPORT, number)
        tape.at(200 * number).refused(SALES, "acquire", "contact_owned")
        tape.refused(SALES, "acquire", "contact_owned", BOB) if number < CONFLICTS_MAX else None
        tape.released(SUPPORT, number)
    assert slips(tape) == []


def test_a_claim_whose_reply_was_lost_may_stand_behind_a_conflict() -> None:
    """spec: R2"""
    tape = AgentTape()
    for number in range(1, 7):
        tape.info(tape.invoke(SUPPORT, "acquire"), "reply_lost")
        tape.at(200 * number).refused(SALES, "acquire", "contact_owned")
    assert slips(tape) == []


def test_the_repeats_are_those_of_the_well_behaved_playbooks() -> None:
    """spec: R2"""
    assert CONFLICTS_MAX == OURS
