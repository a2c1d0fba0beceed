"""What an agent does next: each clause of A1 with a history that breaks it and one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.codes import MEANINGS
from leaserace.harness.contract import Capability, Code
from leaserace.harness.rules.agents import Keys, NextAction
from tests.support.agent_tape import AgentTape
from tests.support.ops import BOB, EPOCH_MS, SALES, SUPPORT, UNLOGGED, Tape

AGAIN_AS_IT_WAS: dict[Code, dict[str, Any]] = {
    Code.KEY_REUSED: {},
    Code.KEY_INVALID: {},
    Code.KEY_MISSING: {"key": None},
    Code.INVALID_ADDRESS: {"to": "jane@@example.com"},
    Code.INVALID_MESSAGE: {},
    Code.SEND_CANCELLED: {},
    Code.NOT_AUTHORISED: {},
    Code.APPROVAL_REQUIRED: {},
}
"""Refusals after which the same send is wrong, with what the send says."""


def slips(tape: AgentTape) -> list[str]:
    return tape.slips(NextAction)


# -- the mark ---------------------------------------------------------------------------------------


def test_an_agent_nobody_marked_is_not_judged() -> None:
    """spec: A1"""
    tape = Tape()
    tape.refused(SALES, "acquire", "contact_owned")
    tape.sent(SALES)
    judgement = tape.judge(NextAction)
    assert judgement.findings == ()
    assert judgement.exercised == {}


def test_only_the_agent_that_is_marked_is_judged() -> None:
    """spec: A1"""
    tape = AgentTape(SUPPORT)
    tape.refused(SALES, "acquire", "contact_owned")
    tape.sent(SALES)
    judgement = tape.judge(NextAction)
    assert judgement.findings == ()
    assert judgement.exercised == {"agent.next_action": 0}


def test_what_was_under_way_when_the_mark_came_is_learnt_from() -> None:
    """spec: A1"""
    marked = AgentTape()
    mark = marked.events.pop()
    op = marked.invoke(SALES, "acquire")
    marked.events.append(mark)
    marked.mark("another mark")
    marked.fail(op, "contact_owned", owner=SUPPORT)
    marked.sent(SALES)
    assert slips(marked) == [
        "sales-01 sent to jane after a conflict with support-01 and no grant since"
    ]


# -- contact_owned ----------------------------------------------------------------------------------


def test_nothing_is_sent_after_a_conflict_without_a_grant() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.refused(SALES, "acquire", "contact_owned")
    tape.sent(SALES, token=None)
    assert slips(tape) == [
        "sales-01 sent to jane after a conflict with somebody else and no grant since"
    ]


def test_after_a_conflict_a_grant_allows_the_send() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.refused(SALES, "acquire", "contact_owned")
    tape.at(1_500).granted(SALES, 41)
    tape.sent(SALES)
    assert slips(tape) == []


def test_a_conflict_with_ones_own_live_lease_forbids_nothing() -> None:
    """Asking twice is a conflict too. spec: L3"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.fail(tape.invoke(SALES, "acquire"), "contact_owned", owner=SALES)
    tape.sent(SALES)
    assert slips(tape) == []


def test_a_conflict_with_another_process_of_the_same_agent_forbids_the_send() -> None:
    """spec: L3"""
    tape = AgentTape()
    tape.fail(tape.invoke(SALES, "acquire"), "contact_owned", owner=SALES)
    tape.sent(SALES)
    assert len(slips(tape)) == 1


def test_a_conflict_is_not_asked_about_again_at_once() -> None:
    """spec: R1"""
    tape = AgentTape()
    tape.granted(SUPPORT, 41)
    for _ in range(2):
        tape.fail(tape.invoke(SALES, "acquire"), "contact_owned", owner=SUPPORT)
    assert slips(tape) == [
        "sales-01 claimed jane again at once, while the lease of support-01 lived on"
    ]
    assert tape.habits() == {"blind-retry"}


def test_a_conflict_may_be_asked_about_again_after_a_wait_or_when_the_lease_is_another() -> None:
    """spec: R1"""
    tape = AgentTape()
    tape.granted(SUPPORT, 41)
    tape.refused(SALES, "acquire", "contact_owned")
    tape.at(20).refused(SALES, "acquire", "contact_owned")
    tape.released(SUPPORT, 41)
    tape.granted(SUPPORT, 42)
    tape.refused(SALES, "acquire", "contact_owned")
    assert slips(tape) == []


# -- cooldown_active --------------------------------------------------------------------------------


def cooling(until_ms: int, *, kind: str = "commercial") -> AgentTape:
    """A refusal at about 10 ms; the store's clock is known from the lease."""
    tape = AgentTape(cooldown_s=1.0)
    tape.granted(SALES, 41)
    op = tape.invoke(SALES, "send", kind=kind)
    tape.fail(op, "cooldown_active", until_ms=EPOCH_MS + until_ms)
    return tape


def test_nothing_is_sent_before_the_end_of_the_cooldown() -> None:
    """spec: A1"""
    tape = cooling(1_000)
    tape.at(900).sent(SALES, intent="i2")
    (said,) = slips(tape)
    assert said.startswith("sales-01 sent to jane 9")
    assert said.endswith("ms before the end of the cooldown it was told of")
    assert tape.habits() == set()


def test_the_same_message_sent_before_the_end_of_the_cooldown_is_a_blind_retry() -> None:
    """spec: A3"""
    tape = cooling(1_000)
    tape.sent(SALES)
    assert tape.habits() == {"blind-retry"}


def test_after_the_cooldown_it_may_send_and_to_others_at_any_time() -> None:
    """spec: A1"""
    tape = cooling(1_000)
    tape.sent(SALES, BOB, intent="i2")
    tape.at(1_010).sent(SALES)
    assert slips(tape) == []


def test_a_transactional_message_may_pass_a_cooldown_that_a_commercial_one_met() -> None:
    """spec: C2"""
    tape = cooling(1_000)
    tape.sent(SALES, intent="i2", kind="transactional")
    assert slips(tape) == []
    tape = cooling(1_000, kind="transactional")
    tape.sent(SALES, intent="i2", kind="transactional")
    assert len(slips(tape)) == 1


def test_a_person_may_let_a_message_pass_the_cooldown() -> None:
    """spec: C4"""
    tape = cooling(1_000)
    tape.noted(SUPPORT, "override")
    tape.sent(SALES)
    assert slips(tape) == []


def test_when_the_stores_clock_jumped_no_send_is_too_early() -> None:
    """spec: L5"""
    tape = cooling(1_000)
    tape.fault("store_clock")
    tape.sent(SALES)
    assert slips(tape) == []


def test_without_the_stores_clock_the_same_refusal_again_shows_that_it_was_too_early() -> None:
    """spec: A1"""
    tape = AgentTape(cooldown_s=1.0)
    for intent, until_ms in (("i1", 1_000), ("i2", 2_000), ("i3", 2_000)):
        op = tape.invoke(SALES, "send", intent=intent)
        tape.fail(op, "cooldown_active", until_ms=EPOCH_MS + until_ms)
    action = MEANINGS[Code.COOLDOWN_ACTIVE].next_action
    assert slips(tape) == [f"sales-01 was told cooldown_active ({action}) and called send again"]


# -- a token that is dead -----------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["lease_expired", "stale_fencing_token", "not_holder"])
def test_a_token_that_was_refused_is_never_sent_with_again(code: str) -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.refused(SALES, "send", code)
    tape.sent(SALES)
    assert slips(tape) == [
        f"sales-01 sent under token 41 of jane although send was answered {code}"
    ]
    assert tape.habits() == {"old-token"}


@pytest.mark.parametrize("code", ["lease_expired", "not_holder"])
def test_under_a_new_lease_it_may_send_again(code: str) -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.refused(SALES, "send", code)
    tape.granted(SALES, 42)
    tape.sent(SALES, token=42)
    assert slips(tape) == []


def test_a_token_is_dead_once_it_was_given_back_or_a_newer_one_was_granted() -> None:
    """spec: A1, A2"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.released(SALES, 41)
    tape.sent(SALES)
    assert slips(tape) == [
        "sales-01 sent under token 41 of jane although it had given that lease back"
    ]
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.at(1_500).granted(SALES, 42)
    tape.sent(SALES, token=41)
    assert slips(tape) == ["sales-01 sent under token 41 of jane although it held a newer lease"]


def test_only_the_newest_dead_tokens_are_remembered() -> None:
    """spec: A1"""
    tape = AgentTape()
    for token in range(1, 40):
        tape.granted(SALES, token)
    tape.sent(SALES, token=1)
    assert slips(tape) == []
    tape.sent(SALES, token=38)
    assert len(slips(tape)) == 1


def test_a_token_that_is_granted_again_lives_again() -> None:
    """A mailbox without fencing may hand out one number over and over. spec: L4"""
    tape = AgentTape()
    tape.granted(SALES, 1)
    tape.released(SALES, 1)
    tape.granted(SALES, 1)
    tape.sent(SALES, token=1)
    assert slips(tape) == []


# -- suppressed ---------------------------------------------------------------------------------------


def suppressed(how: str) -> AgentTape:
    """The agent learns that the contact is on the list."""
    tape = AgentTape()
    tape.granted(SALES, 41)
    if how == "told":
        tape.noted(SUPPORT, "suppress")
        tape.refused(SALES, "send", "suppressed")
    elif how == "noted":
        tape.noted(SALES, "suppress")
    else:
        op = tape.invoke(SALES, "receive", event={"event_id": "<1>", "sender": "jane@example.com"})
        tape.ok(op, answer="Taken", key="jane@example.com", first=True, opted_out=True, at_ms=1)
    return tape


@pytest.mark.parametrize("how", ["told", "noted", "received"])
def test_who_knows_that_a_contact_is_suppressed_is_silent(how: str) -> None:
    """spec: A1, C1"""
    tape = suppressed(how)
    tape.sent(SALES, intent="i2")
    assert slips(tape) == ["sales-01 sent to jane although it knew that the contact is suppressed"]
    assert tape.habits() == set()


def test_who_was_told_so_long_ago_may_send_again_once_a_person_cleared_the_contact() -> None:
    """spec: C1"""
    tape = suppressed("told")
    tape.noted(SUPPORT, "unsuppress")
    tape.sent(SALES)
    assert slips(tape) == []


def test_a_clearing_that_failed_or_came_before_clears_nothing() -> None:
    """spec: C1"""
    tape = AgentTape()
    tape.noted(SUPPORT, "unsuppress")
    tape.granted(SALES, 41)
    tape.noted(SALES, "suppress")
    tape.refused(SUPPORT, "unsuppress", "not_authorised")
    tape.sent(SALES)
    assert len(slips(tape)) == 1


def test_the_suppressed_message_itself_sent_again_is_a_blind_retry() -> None:
    """spec: A3"""
    tape = suppressed("told")
    tape.sent(SALES)
    assert tape.habits() == {"blind-retry"}


# -- an outcome that is unknown -------------------------------------------------------------------------


def without_answer(tape: AgentTape, code: str, **more: Any) -> None:
    op = tape.invoke(SALES, "send", **more)
    if code == "reply_lost":
        tape.info(op, code, answer="NoReply", why="the reply was lost")
    elif code == "send_in_progress":
        tape.fail(op, code)
    else:
        tape.info(op, code, answer="Refused", message_id="<m1>")


UNKNOWN = ["reply_lost", "send_in_progress", "send_status_unknown"]


@pytest.mark.parametrize("code", UNKNOWN)
def test_a_send_of_unknown_outcome_is_looked_up_before_it_is_tried_again(code: str) -> None:
    """spec: A1, K10"""
    tape = AgentTape()
    without_answer(tape, code)
    tape.sent(SALES)
    told = "no reply" if code != "send_status_unknown" else code
    told = code if code == "send_in_progress" else told
    assert slips(tape) == [f"sales-01 sent to jane again after {told}, without a look-up"]
    assert tape.habits() == {"blind-retry"}


@pytest.mark.parametrize("code", UNKNOWN)
def test_after_a_look_up_that_tells_of_no_message_id_it_may_try_again(code: str) -> None:
    """spec: A1"""
    tape = AgentTape()
    without_answer(tape, code)
    tape.found()
    tape.sent(SALES)
    tape.sent(SALES, intent="i2")
    assert slips(tape) == []


def test_after_a_look_up_that_tells_of_a_message_id_it_never_tries_again() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.unknown()
    tape.found(message_id="<m1>")
    tape.sent(SALES)
    assert slips(tape) == ["sales-01 sent to jane again although the look-up told of a message id"]


def test_a_look_up_without_an_answer_is_none() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.unknown()
    tape.refused(SALES, "lookup", "store_busy", key="key-i1")
    tape.info(tape.invoke(SALES, "lookup", key="key-i1"), "reply_lost")
    tape.sent(SALES)
    assert len(slips(tape)) == 1


def test_a_try_whose_reply_is_lost_is_looked_up_anew() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.unknown()
    tape.found()
    tape.unknown()
    tape.sent(SALES)
    assert len(slips(tape)) == 1


def test_a_look_up_under_another_key_is_a_fault_of_the_key_not_of_the_next_action() -> None:
    """spec: K9"""
    tape = AgentTape()
    tape.unknown(key="k1")
    tape.found("k2")
    tape.sent(SALES, key="k2")
    assert slips(tape) == []
    assert len(tape.slips(Keys)) == 1


def test_a_refusal_after_an_unknown_outcome_does_not_tell_it() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.unknown()
    tape.found()
    tape.refused(SALES, "send", "lease_expired")
    tape.granted(SALES, 42)
    tape.sent(SALES, token=42)
    assert slips(tape) == []


def test_where_nothing_can_be_looked_up_no_look_up_is_asked_for() -> None:
    """spec: A1"""
    tape = AgentTape(capabilities=UNLOGGED - {Capability.LOOKUP})
    tape.unknown()
    tape.sent(SALES)
    assert slips(tape) == []


def test_after_a_crash_nothing_is_known_of_the_reply() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.unknown()
    tape.crash()
    tape.sent(SALES)
    assert slips(tape) == []


def test_what_another_process_of_the_agent_saw_is_not_known() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.refused(SALES, "acquire", "contact_owned")
    tape.fault("crash", SUPPORT)
    tape._incarnations[SALES] = 7
    tape.sent(SALES)
    assert slips(tape) == []


# -- store_busy -------------------------------------------------------------------------------------------


def busy(waits_ms: int, f: str = "acquire", again: str = "acquire", **told: Any) -> list[str]:
    tape = AgentTape()
    args: dict[str, Any] = {"token": 41} if f == "renew" else {}
    at_ms = tape.ms
    tape.fail(tape.invoke(SALES, f, **args), "store_busy", **told)
    tape.at(at_ms + 2 + waits_ms)
    tape.granted(SALES, 41) if again == "acquire" else tape.sent(SALES)
    return slips(tape)


def test_a_busy_store_is_given_the_time_it_asked_for() -> None:
    """spec: R"""
    assert busy(200, retry_after_s=0.5) == [
        "sales-01 was told to wait 0.5 s and called acquire again after 0.2 s"
    ]
    assert busy(500, retry_after_s=0.5) == []
    assert busy(1) == []


def test_another_call_need_not_wait_for_a_busy_store() -> None:
    """A refused renewal is followed by a new claim. spec: L6"""
    assert busy(1, f="renew", retry_after_s=0.5) == []


# -- what was refused is not asked again as it was --------------------------------------------------------


@pytest.mark.parametrize("code", AGAIN_AS_IT_WAS)
def test_what_was_refused_is_not_sent_again_as_it_was(code: Code) -> None:
    """spec: A1, R"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    says = AGAIN_AS_IT_WAS[code]
    tape.refused(SALES, "send", code, **says)
    tape.sent(SALES, **says)
    assert slips(tape) == [
        f"sales-01 was told {code} ({MEANINGS[code].next_action}) and called send again"
    ]
    assert tape.habits() == {"blind-retry"}


CORRECTED: dict[Code, dict[str, Any]] = {
    Code.KEY_REUSED: {"key": "key-i1-b"},
    Code.KEY_INVALID: {"key": "key-i1-b"},
    Code.KEY_MISSING: {"key": "key-i1-b"},
    Code.SEND_CANCELLED: {"key": "key-i1-b"},
    Code.INVALID_ADDRESS: {"key": "key-i1-b"},
    Code.INVALID_MESSAGE: {"subject": "Hello again", "key": "key-i1-b"},
}


@pytest.mark.parametrize("code", CORRECTED)
def test_what_was_corrected_may_be_sent(code: Code) -> None:
    """spec: A1, R"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.refused(SALES, "send", code, **AGAIN_AS_IT_WAS[code])
    tape.sent(SALES, **CORRECTED[code])
    assert slips(tape) == []
    assert tape.slips(Keys) == []


def test_another_contact_may_be_written_to_after_a_refusal_that_was_about_one() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.refused(SALES, "send", "approval_required")
    tape.refused(SALES, "send", "not_authorised", BOB, intent="i2")
    tape.sent(SALES, "carol", intent="i3")
    assert slips(tape) == []


def test_a_look_up_under_a_key_that_is_not_valid_is_not_repeated() -> None:
    """spec: A1"""
    tape = AgentTape()
    for key in ("", "k", ""):
        tape.refused(SALES, "lookup", "key_invalid", key=key)
    assert len(slips(tape)) == 1


def test_an_address_that_is_none_is_not_claimed_again() -> None:
    """spec: I4"""
    tape = AgentTape()
    tape.refused(SALES, "acquire", "invalid_address", address="jane")
    tape.granted(SALES, 41)
    assert slips(tape) == []
    tape.refused(SALES, "acquire", "invalid_address", address="jane")
    assert len(slips(tape)) == 1


def test_a_send_that_a_person_has_to_approve_may_go_once_a_person_let_it_pass() -> None:
    """spec: O5"""
    tape = AgentTape()
    tape.refused(SALES, "send", "approval_required")
    tape.noted(SUPPORT, "override")
    tape.sent(SALES)
    assert slips(tape) == []


def test_a_conflict_that_a_person_has_to_decide_is_left_alone() -> None:
    """spec: R2"""
    tape = AgentTape()
    tape.granted(SUPPORT, 41)
    tape.refused(SALES, "acquire", "approval_required")
    tape.granted(SALES, 42)
    assert slips(tape) == [
        "sales-01 was told approval_required (hand the thread over to a person) and called acquire again"
    ]
    assert tape.habits() == {"blind-retry"}


def test_a_later_lease_is_another_conflict() -> None:
    """spec: R2"""
    tape = AgentTape()
    tape.granted(SUPPORT, 41)
    tape.refused(SALES, "acquire", "approval_required")
    tape.released(SUPPORT, 41)
    tape.granted(SUPPORT, 42)
    tape.refused(SALES, "acquire", "approval_required")
    assert slips(tape) == []


def test_the_same_conflict_is_the_same_however_late_it_is_asked_about() -> None:
    """spec: R2"""
    tape = AgentTape()
    tape.granted(SUPPORT, 41)
    tape.refused(SALES, "acquire", "approval_required")
    tape.at(5_000).refused(SALES, "acquire", "approval_required")
    assert len(slips(tape)) == 1
    tape = AgentTape()
    tape.refused(SALES, "acquire", "approval_required")
    tape.at(5_000).granted(SALES, 42)
    assert slips(tape) == [], "a conflict can be over by then"


def test_while_sending_is_halted_nothing_more_is_sent() -> None:
    """spec: O5"""
    tape = AgentTape()
    tape.refused(SALES, "send", "sending_halted")
    tape.refused(SALES, "send", "sending_halted", BOB, intent="i2")
    action = MEANINGS[Code.SENDING_HALTED].next_action
    assert slips(tape) == [f"sales-01 was told sending_halted ({action}) and called send again"]
    assert tape.habits() == set()


def test_a_send_that_goes_through_after_a_halt_shows_that_a_person_resumed_it() -> None:
    """spec: O5"""
    tape = AgentTape()
    tape.refused(SALES, "send", "sending_halted")
    tape.sent(SALES, BOB, intent="i2")
    assert slips(tape) == []


def test_only_so_many_refusals_are_remembered() -> None:
    """spec: A1"""
    tape = AgentTape()
    for number in range(100):
        tape.refused(SALES, "send", "invalid_address", to=f"a{number}", intent=f"i{number}")
    tape.refused(SALES, "send", "invalid_address", to="a0", intent="i0")
    assert slips(tape) == []
    tape.refused(SALES, "send", "invalid_address", to="a99", intent="i99")
    assert len(slips(tape)) == 1


ELSEWHERE = {
    Code.CONTACT_OWNED,
    Code.COOLDOWN_ACTIVE,
    Code.LEASE_EXPIRED,
    Code.STALE_FENCING_TOKEN,
    Code.NOT_HOLDER,
    Code.SUPPRESSED,
    Code.SEND_STATUS_UNKNOWN,
    Code.SEND_IN_PROGRESS,
    Code.STORE_BUSY,
    Code.SENDING_HALTED,
}
"""Codes with tests of their own above."""


def test_every_code_has_a_clause() -> None:
    """spec: R"""
    assert ELSEWHERE | set(AGAIN_AS_IT_WAS) == set(Code)
