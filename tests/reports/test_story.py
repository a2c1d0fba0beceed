"""The story of a finding."""

from dataclasses import replace
from typing import Any

import pytest

from leaserace.harness.contract import Code
from leaserace.harness.history import Operation, OpEvent, OpType
from leaserace.harness.verdict import Finding
from leaserace.reports.picture import pictures
from leaserace.reports.story import LINES_MAX, stories_text, story_text, tell
from leaserace.reports.text import answer_words, call_words, skew_words
from tests.reports.samples import (
    AGENTS,
    Log,
    ns,
    sent,
    stale_finding,
    stale_result,
    stale_token,
    valid_result,
)

STALE_80 = """\
sales-01 sent to contact-0-1 with token 41 after support-01 was granted 42
  rule tokens.stale_never_sends (spec: S3, S10)

      ms | sales-01              | support-01            | receiving mailbox
---------+-----------------------+-----------------------+----------------------
    +0.0 | acquire: granted      |                       |
         | token 41              |                       |
   +10.0 | PAUSED at send.think  |                       |
  +309.5 |                       | acquire: granted      |
         |                       | token 42              |
  +318.0 |                       |                       | <b2@acme.example>
         |                       |                       | arrives
  +338.0 | goes on               |                       |
  +339.0 | send with token 41    |                       |
         | ...                   |                       |
  +346.0 |                       |                       | <a1@acme.example>
         |                       |                       | arrives
! +348.0 | ... send: sent        |                       |
         | <a1@acme.example>     |                       |

run it again:
  leaserace run stale_token --variant send.think --agents 2 --seed 7
"""


def test_a_stale_send_is_told_in_eight_moments() -> None:
    """The pause, the newer grant and what arrived stand between the operations of the proof."""
    assert stories_text(stale_result(), pictures(stale_token()), width=80) == STALE_80


@pytest.mark.parametrize("width", [40, 50, 80, 120, 200])
def test_a_story_fits_its_terminal(width: int) -> None:
    """The command to copy is never wrapped; all else is."""
    lines = stories_text(stale_result(), pictures(stale_token()), width=width).splitlines()
    assert max(len(line) for line in lines if "leaserace run" not in line) <= width


def test_a_narrow_terminal_names_the_agent_in_front() -> None:
    """Columns below a readable width are given up."""
    text = stories_text(stale_result(), pictures(stale_token()), width=50)
    assert " | " not in text
    assert "+10.0  sales-01           PAUSED at send.think" in text


def test_a_duplicate_and_a_lost_reply_are_said() -> None:
    """The second arrival of one intent is named as such."""
    log = Log("r[v]/2")
    first = log.send("sales-01", 0, 10, 1, "i1", None)
    log.fault("sales-01", "lost_reply", 9, 9, "send.returned")
    log.delivery(5, "i1", "<a@x>", replied=False)
    second = log.send("sales-01", 20, 30, 1, "i1", sent("<b@x>"))
    log.delivery(25, "i1", "<b@x>")
    finding = Finding(
        rule="sends.once", spec=("K2",), message="m", ops=(first, second), agents=("sales-01",)
    )
    race = valid_result(race="r[v]/2", findings=(finding,))
    text = story_text(tell(race, finding, log.history()), width=120)
    assert "<a@x> arrives, its reply is LOST" in text
    assert "its reply is LOST" in text
    assert "outcome unknown (reply_lost)" in text
    assert "DUPLICATE: <b@x> arrives, number 2 of i1" in text


def test_a_long_proof_is_cut_in_the_middle_and_says_so() -> None:
    """No story is longer than a screen."""
    log = Log("r[v]/2")
    ops = tuple(
        log.op(AGENTS[number % 2], "acquire", number * 10, number * 10 + 5, Code.CONTACT_OWNED)
        for number in range(40)
    )
    finding = Finding(rule="r", spec=("L3",), message="m", ops=ops, agents=AGENTS, t=ns(395))
    story = tell(valid_result(race="r[v]/2"), finding, log.history())
    assert len(story.moments) == LINES_MAX
    assert story.left_out == 40 - LINES_MAX
    assert "(28 moments left out; the history has all)" in story_text(story)
    assert story.moments[-1].pinned


def test_a_finding_without_operations_shows_the_contacts_last_ones() -> None:
    """An expectation that failed names none."""
    finding = replace(stale_finding(), ops=())
    story = tell(stale_result(), finding, stale_token())
    assert next(moment.who for moment in story.moments if moment.proof) == "sales-01"


def test_further_findings_of_a_rule_are_counted() -> None:
    """One story a rule; fifty rounds do not fill the screen."""
    race = replace(stale_result(), findings=(stale_finding(),) * 50)
    text = stories_text(race, pictures(stale_token()))
    assert "and 49 more findings of tokens.stale_never_sends in this race" in text
    assert text.count("PAUSED") == 1


def test_a_skew_from_before_is_part_of_the_story() -> None:
    """A clock that was wrong all the time explains what follows."""
    log = Log("r[v]/2")
    log.fault("sales-01", "skew", 0, None, measured_s=-30.0)
    op = log.acquire("sales-01", 10, 12, 1)
    finding = Finding(rule="r", spec=("L5",), message="m", ops=(op,), agents=("sales-01",))
    assert "clock 30.0 s behind" in story_text(
        tell(valid_result(race="r[v]/2"), finding, log.history())
    )


@pytest.mark.parametrize(
    ("f", "args", "answer", "asked", "told"),
    [
        (
            "send",
            {"message": {"endpoint": "reply", "token": 41}},
            {"answer": "Sent", "message_id": "<a@x>"},
            "reply with token 41",
            "sent <a@x>",
        ),
        (
            "receive",
            {"event": {}},
            {"answer": "Taken", "first": True, "opted_out": True},
            "receive",
            "taken, the first, an opt-out",
        ),
        ("receive", {}, {"answer": "Taken", "first": False}, "receive", "taken before"),
        ("clean_up", {}, {"answer": "Cleaned", "rows": 3}, "clean_up", "3 rows removed"),
        ("cancel", {}, {"answer": "Found", "state": "cancelled"}, "cancel", "found: cancelled"),
    ],
)
def test_each_call_and_answer_has_its_words(
    f: str, args: dict[str, Any], answer: dict[str, Any], asked: str, told: str
) -> None:
    op = Operation(
        OpEvent(
            t=0,
            agent="sales-01",
            process="sales-01#0",
            op="a:1",
            type=OpType.INVOKE,
            f=f,
            contact="jane",
            value=args,
        )
    )
    assert call_words(op) == asked
    op.type, op.answer = OpType.OK, answer
    assert answer_words(op) == told


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        ({"measured_s": 30.0, "wanted_s": 29.0}, "30.0 s ahead"),
        ({"offset_ms": -90_000}, "90.0 s behind"),
        ({"offset_ms": 0, "drift": -0.5}, "runs at 0.5 of the speed"),
        ({"drift": "much"}, "skewed"),
    ],
)
def test_a_wrong_clock_is_told_in_words(detail: dict[str, object], words: str) -> None:
    assert skew_words(detail) == words
