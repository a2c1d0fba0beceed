"""What an agent's author is told, in every form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaserace.harness.outcome import AgentAnswer, AgentReport, CanaryResult, RunOutcome
from leaserace.harness.verdict import Verdict
from leaserace.reports.agent import did, proof, sentences, without_agent
from leaserace.reports.agent_page import agent
from leaserace.reports.markdown import summary_md
from leaserace.reports.markup import ticks
from leaserace.reports.page import report_html
from leaserace.reports.rows import canary_sentence, verdict_sentences
from leaserace.reports.table import table_text
from tests.reports.samples import outcome, passing, valid_result

RETRIED = AgentAnswer(
    situation="lost_send",
    answer="no reply to send",
    f="send",
    given=1,
    did=("send: reply lost", "send: replayed"),
    right="look the key up",
    verdict=Verdict.INVALID,
    why="sales-01 shows the habit blind-retry: <it> sent again",
    rules=("agent.next_action", "agent.habits"),
    ops=tuple(f"sales-01.0:{number}" for number in range(1, 9)),
    race="agent[lost_send]/2",
)
MISSING = AgentAnswer(
    situation="key_missing",
    answer="key_missing",
    f="send",
    given=0,
    did=(),
    right="make a key",
    verdict=Verdict.NOT_APPLICABLE,
    why="the agent never calls send, so it is never answered",
    scripted=True,
)
QUIET = replace(RETRIED, did=(), verdict=Verdict.VALID, why="", rules=(), ops=())


def judged(*answers: AgentAnswer, habits: dict[str, int] | None = None) -> RunOutcome:
    races = [
        valid_result("agent", verdict=answer.verdict, variant=answer.situation)
        for answer in answers
    ]
    report = AgentReport(name="sales:run", answers=answers, habits=habits or {})
    return replace(outcome(*races), agent=report)


def test_an_answer_is_told_by_the_calls_after_it() -> None:
    assert did(RETRIED) == "send: reply lost, send: replayed"
    assert did(QUIET) == "nothing more"
    assert did(MISSING) == "-"


def test_a_finding_is_told_with_its_rules_and_the_first_operations() -> None:
    text = proof(RETRIED)
    assert text.startswith("sales-01 shows the habit blind-retry")
    assert "(agent.next_action and agent.habits)" in text
    assert "sales-01.0:6] ..." in text
    assert proof(QUIET) == ""


def test_what_it_comes_to_is_counted_and_habits_are_named() -> None:
    """spec: A3"""
    said = list(sentences(judged(RETRIED, MISSING, habits={"blind-retry": 1}).agent))  # type: ignore[arg-type]
    assert said[0] == "Agent sales:run: 1 of 2 answers met, a wrong next action after 1."
    assert said[1] == "Habits recognised: blind-retry (1 answer)."
    assert said[2].startswith("1 answer did not apply")
    assert said[3].startswith("Scripted:")
    assert len(list(sentences(AgentReport(name="x", answers=(QUIET,))))) == 1


@pytest.mark.parametrize("width", [40, 80, 116, 200])
def test_the_terminals_table_fits_any_width(width: int) -> None:
    text = table_text(judged(RETRIED, MISSING, QUIET), width=width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "not applicable" in words or width == 40
    assert "invalid" in words


def test_races_of_the_agent_stand_in_its_own_table_only() -> None:
    text = table_text(judged(RETRIED), width=100)
    assert "right: look the key up" in text
    assert "dupl." not in text
    assert without_agent(passing()) == passing()


def test_the_verdict_says_what_to_do_about_the_agent() -> None:
    """Its mailbox is not at fault, and what does not apply is the agent's own choice."""
    said = verdict_sentences(judged(RETRIED, MISSING))
    assert said[0].startswith("In 1 of 2 situations the agent did what it must not.")
    assert not any("the target lacks" in each for each in said)


def test_the_summary_has_a_section_with_every_answer() -> None:
    text = summary_md(judged(RETRIED, MISSING), {})
    assert "## The agent" in text
    assert "| no reply to send | **invalid** |" in text
    assert r"key\_missing (scripted)" in text
    assert "## The agent" not in summary_md(passing(), {})


def test_the_page_has_a_section_with_every_answer_escaped() -> None:
    html = agent(judged(RETRIED, MISSING))
    assert '<section id="agent"' in html
    assert "&lt;it&gt; sent again" in html
    assert 'data-race="agent[lost_send]/2"' in html
    assert agent(passing()) == ""
    assert b'href="#agent"' in report_html(judged(RETRIED), {})


def test_races_of_the_agent_stand_in_its_own_section_of_the_page_only() -> None:
    """The mailbox's races, where there are some, keep theirs."""
    page = report_html(judged(RETRIED), {})
    assert b'<section id="agent"' in page
    assert b'<section id="races"' not in page
    both = judged(RETRIED)
    both = replace(both, races=(*both.races, *passing().races))
    assert b'<section id="races"' in report_html(both, {})


def test_names_of_fields_in_what_is_right_are_shown_as_code() -> None:
    told = replace(RETRIED, right="wait `retry_after_s`, then <ask>")
    said = "wait <code>retry_<wbr>after_<wbr>s</code>, then &lt;ask&gt;"
    assert said in agent(judged(told))
    assert ticks("`a` and one ` alone") == "<code>a</code> and one ` alone"


def test_a_verdict_with_an_agent_is_read_back_as_it_was() -> None:
    made = judged(RETRIED, MISSING, habits={"blind-retry": 1})
    assert RunOutcome.from_json(made.to_json()) == made


def test_the_canary_may_be_an_agent() -> None:
    canary = CanaryResult(
        twin="blind-retry", rule="agent.habits", caught=True, seconds=0.4, is_agent=True
    )
    assert canary_sentence(canary) == (
        "Canary: an agent with a bad habit (blind-retry) was caught in 400 ms by agent.habits."
    )
