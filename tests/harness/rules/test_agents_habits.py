"""Habits that show over a longer time, and what the rules about agents keep in mind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leaserace.harness.habits import HABITS
from leaserace.harness.history import FaultEvent
from leaserace.harness.rules import ALL
from leaserace.harness.rules.agents import AGENT_RULES, Habits, NextAction, Renewals, habit_in
from leaserace.harness.rules.agents_case import LETTERS_MAX
from leaserace.harness.rules.agents_draft import process_of
from leaserace.harness.rules.agents_seen import DRAFTS_MAX
from leaserace.harness.rules.base import Judge
from leaserace.harness.verdict import Finding
from tests.support.agent_tape import AgentTape
from tests.support.ops import BOB, JANE, SALES, SUPPORT, Tape

# -- daily-after-window -----------------------------------------------------------------------------------


def test_a_run_that_is_made_again_after_the_keys_window_is_named() -> None:
    """spec: O3, K5"""
    tape = AgentTape(key_window_s=10.0)
    tape.sent(SALES)
    tape.at(11_000).sent(SALES)
    assert tape.habits() == {"daily-after-window"}
    (finding,) = tape.findings(Habits)
    assert finding.message == (
        "sales-01 shows the habit daily-after-window: it sent to jane again under key-i1, "
        "acknowledged before, after the key's window had closed"
    )
    assert finding.ops == ("sales-01:1", "sales-01:2")


@pytest.mark.parametrize("again", ["inside the window", "another send", "another key", "restart"])
def test_a_send_is_made_again_in_ways_that_are_no_daily_run(again: str) -> None:
    """spec: O3"""
    tape = AgentTape(key_window_s=10.0)
    tape.sent(SALES)
    if again == "restart":
        tape.crash()
    tape.at(9_000 if again == "inside the window" else 11_000)
    changes: dict[str, dict[str, Any]] = {
        "another send": {"intent": "i2"},
        "another key": {"key": "b"},
    }
    tape.sent(SALES, **changes.get(again, {}))
    assert "daily-after-window" not in tape.habits()


def test_what_was_refused_and_is_sent_again_after_the_window_is_a_daily_run_too() -> None:
    """spec: O3"""
    tape = AgentTape(key_window_s=10.0)
    tape.refused(SALES, "send", "suppressed")
    tape.at(11_000).sent(SALES)
    assert tape.habits() == {"daily-after-window"}


def test_an_unknown_outcome_is_not_acknowledged() -> None:
    """spec: O3"""
    tape = AgentTape(key_window_s=10.0)
    tape.unknown()
    tape.found()
    tape.at(11_000).sent(SALES)
    assert tape.habits() == set()


# -- opt-out-late -------------------------------------------------------------------------------------------


def test_an_opt_out_that_is_written_after_the_release_is_late() -> None:
    """spec: C3, O4"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    tape.sent(SALES)
    tape.released(SALES, 41)
    tape.noted(SALES, "suppress")
    assert tape.habits() == {"opt-out-late"}


@pytest.mark.parametrize("order", ["first", "much later", "refused", "alone", "another's"])
def test_an_opt_out_that_is_written_first_or_came_later_is_not(order: str) -> None:
    """spec: C3"""
    tape = AgentTape()
    if order != "alone":
        tape.granted(SALES, 41)
        tape.sent(SALES)
    if order == "first":
        tape.noted(SALES, "suppress")
    if order == "refused":
        tape.refused(SALES, "release", "not_holder", token=41)
    elif order != "alone":
        tape.released(SALES, 41)
    if order == "much later":
        tape.at(5_000)
    if order != "first":
        tape.noted(SUPPORT if order == "another's" else SALES, "suppress")
    assert tape.habits() == set()


# -- names --------------------------------------------------------------------------------------------------


def test_a_habit_is_named_once_for_each_agent() -> None:
    """spec: A3"""
    tape = AgentTape(SALES, SUPPORT)
    for agent in (SALES, SUPPORT, SALES):
        for _ in range(3):
            tape.unknown(agent)
    named = [(each.agents, habit_in(each)) for each in tape.findings(Habits)]
    assert named == [((SALES,), "blind-retry"), ((SUPPORT,), "blind-retry")]
    assert len(tape.findings(NextAction)) == 7


def test_the_rules_that_a_habit_breaks_are_rules() -> None:
    """spec: A3"""
    names = {rule.name for rule in AGENT_RULES}
    assert {name for habit in HABITS.values() for name in habit.breaks} == names
    assert set(AGENT_RULES) <= set(ALL)


def test_only_a_finding_about_habits_names_one() -> None:
    """spec: A3"""
    assert habit_in(Finding(rule="agent.keys", spec=(), message="shows the habit x: y")) == ""
    assert habit_in(Finding(rule="agent.habits", spec=(), message="nothing")) == ""


# -- what is kept in mind -----------------------------------------------------------------------------------


def judge_of(tape: Tape) -> Judge:
    judge = Judge(tape.race, AGENT_RULES)
    for event in tape.events:
        judge.feed(event)
    return judge


def test_a_process_is_told_by_its_seat_and_incarnation() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.crash()
    tape.invoke(SALES, "acquire")
    op = judge_of(tape)._pairer.open_operations()[0]
    assert process_of(op) == (SALES, "1")
    op.process = "mailer#7"
    assert process_of(op) == ("mailer", "")


def test_memory_is_bounded_however_long_the_run() -> None:
    """spec: A1"""
    tape = AgentTape()
    for number in range(2 * DRAFTS_MAX):
        tape.sent(SALES, JANE if number % 2 else BOB, intent=f"i{number}")
    judge = judge_of(tape)
    for rule in judge.rules:
        seen = rule._seen  # type: ignore[attr-defined]
        assert len(seen.drafts[SALES]) == DRAFTS_MAX
        (process,) = seen.processes.values()
        assert all(len(case.letters) == LETTERS_MAX for case in process.cases.values())


def grant(tape: AgentTape) -> None:
    tape.granted(SALES, 41)


def send(tape: AgentTape) -> None:
    tape.sent(SALES)


def lose(tape: AgentTape) -> None:
    tape.unknown()


def look(tape: AgentTape) -> None:
    tape.found()


def crash(tape: AgentTape) -> None:
    tape.crash()


def conflict(tape: AgentTape) -> None:
    tape.refused(SALES, "acquire", "contact_owned")


@pytest.mark.parametrize("what", [grant, send, lose, look, crash, conflict])
def test_what_an_agent_saw_is_part_of_the_state(what: Callable[[AgentTape], None]) -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.unknown()
    before = judge_of(tape).state()
    what(tape)
    judge = judge_of(tape)
    after = judge.state()
    assert hash(before) != hash(after)
    assert judge_of(tape).state() == after
    assert judge.findings or before != after


def test_a_state_does_not_change_when_the_run_goes_on() -> None:
    """A state that was visited is compared with later ones. spec: A1"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    judge = judge_of(tape)
    state = judge.state()
    kept = hash(state)
    longer = AgentTape()
    longer.granted(SALES, 41)
    longer.sent(SALES)
    for event in longer.events[len(tape.events) :]:
        judge.feed(event)
    assert hash(state) == kept
    assert judge.state() != state


def test_a_habit_that_was_named_is_part_of_the_state() -> None:
    """spec: A3"""
    tape = AgentTape()
    tape.unknown()
    tape.unknown()
    (*_, habits) = judge_of(tape).rules
    assert (SALES, "blind-retry") in habits.state()[1]  # type: ignore[index]


def test_the_answer_to_a_call_of_a_crashed_process_is_its_own() -> None:
    """What it never saw teaches the next process nothing. spec: A1"""
    tape = AgentTape()
    tape.granted(SALES, 41)
    op = tape.invoke(SALES, "send")
    tape.crash()
    tape.fail(op, "suppressed")
    tape.sent(SALES)
    assert tape.findings(NextAction) == ()
    assert judge_of(tape).judgement().unknown == ()


def test_a_lease_that_a_crashed_process_never_heard_of_is_nobodys_debt() -> None:
    """spec: A2"""
    tape = AgentTape()
    op = tape.invoke(SALES, "acquire")
    tape.crash()
    tape.lease(op, 41)
    assert tape.findings(Renewals) == ()


def test_a_crash_names_the_seat_where_two_processes_share_an_agents_id() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.refused(SALES, "acquire", "contact_owned")
    tape.events.append(
        FaultEvent(
            t=tape._t(),
            agent=SALES,
            fault="crash",
            phase="begin",
            id="c",
            detail={"seat": "sales-01.r1"},
        )
    )
    tape.sent(SALES)
    assert len(tape.findings(NextAction)) == 1


def test_the_rules_about_agents_sleep_until_an_agent_is_marked() -> None:
    """spec: A1"""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.mark("round.begin")
    judge = judge_of(tape)
    assert judge.rules == []
    assert judge.judgement().exercised == {}
    woken = judge_of(AgentTape()).rules
    assert [rule.name for rule in woken] == [rule.name for rule in AGENT_RULES]
