"""The rule over what a mailbox that looks at messages lets through."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.rules.messages import Fit
from tests.support.ops import SALES, Tape

TWO_LINES = "Hello\r\nBcc: everybody@example.org"
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"subject": TWO_LINES}, "its subject holds a line break"),
    ({"headers": {"X-Note": "one\ntwo"}}, "a header of it holds a line break"),
    ({"headers": {"CC": "bob@example.org"}}, "a header of it names further recipients"),
    ({"headers": {"List-Unsubscribe": "<mailto:stop@example.org>"}}, "has no one-click form"),
]
FIT: list[dict[str, Any]] = [
    {"subject": "Hello\tyou"},
    {"headers": {"X-Note": "one"}},
    {"headers": {"List-Unsubscribe": "<https://example.org>", "List-Unsubscribe-Post": "yes"}},
    {"headers": {"List-Unsubscribe": "<mailto:stop@example.org>"}, "kind": "transactional"},
]


def _refuse(tape: Tape, **fields: Any) -> str:
    """A send that is found unfit."""
    op = tape.invoke(SALES, "send", **{"subject": TWO_LINES, "intent": "unfit", **fields})
    return tape.fail(op, "invalid_message", faults=["header_injection"])


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(Fit)
    assert not judgement.findings
    assert judgement.exercised == {"messages.fit": 0}


@pytest.mark.parametrize("fields", FIT)
def test_what_is_fit_is_sent(fields: dict[str, Any]) -> None:
    """spec: O6, C6."""
    tape = Tape()
    _refuse(tape)
    tape.sent(SALES, **fields)
    judgement = tape.judge(Fit)
    assert not judgement.findings
    assert judgement.exercised == {"messages.fit": 1}


@pytest.mark.parametrize("first", ["refused", "sent"])
@pytest.mark.parametrize(("fields", "said"), UNFIT)
def test_what_is_unfit_and_acknowledged_is_a_finding(
    fields: dict[str, Any], said: str, first: str
) -> None:
    """spec: O6, C6: also where it is only learnt later that the mailbox looks at messages."""
    tape = Tape()
    refused = _refuse(tape) if first == "refused" else ""
    taken = tape.sent(SALES, **fields)
    refused = refused or _refuse(tape)
    (finding,) = tape.findings(Fit)
    assert finding.ops == (taken, refused)
    assert said in finding.message


def test_a_mailbox_that_looks_at_nothing_is_not_judged() -> None:
    """spec: O6: it may take line breaks out by itself."""
    tape = Tape()
    tape.sent(SALES, subject=TWO_LINES)
    tape.refused(SALES, "send", "invalid_message", intent="i2")
    assert not tape.findings(Fit)


@pytest.mark.parametrize("order", ["key first", "lint first"])
def test_an_unfit_message_that_is_judged_by_its_key_is_a_finding(order: str) -> None:
    """spec: O6: the lint runs before the key is looked at."""
    tape = Tape()
    ops = []
    for turn in ("key", "lint") if order == "key first" else ("lint", "key"):
        if turn == "lint":
            ops.append(_refuse(tape, key="fresh"))
        else:
            op = tape.invoke(SALES, "send", subject=TWO_LINES, intent="unfit", key="used", token=42)
            ops.append(tape.fail(op, "key_reused"))
    (finding,) = tape.findings(Fit)
    assert set(finding.ops) == set(ops)
    assert "was answered key_reused under another key" in finding.message


def test_other_words_a_busy_store_and_an_open_call_are_no_contradiction() -> None:
    """spec: O6, R."""
    tape = Tape()
    tape.invoke(SALES, "send", subject=TWO_LINES, intent="unfit")
    tape.refused(SALES, "send", "store_busy", subject=TWO_LINES, intent="unfit")
    tape.refused(SALES, "send", "suppressed", subject="Hello", intent="unfit")
    _refuse(tape)
    _refuse(tape, key="fresh")
    _refuse(tape, intent="")
    assert not tape.findings(Fit)
