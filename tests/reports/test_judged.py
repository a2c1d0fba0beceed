"""The words for a judged log: its results are rules, and what it does not tell is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import Verdict
from leaserace.reports.files import write_all
from leaserace.reports.judged import gaps, is_log
from leaserace.reports.rows import headline, verdict_sentences
from leaserace.reports.table import table_text
from tests.harness.judge.logs import GOOD, judged, row

STALE = (*GOOD[:5], row(3_500, "sent", "sales-01", token=1, key="k3", mid="<m3@x>"), *GOOD[5:])


def outcome_of(tmp_path: Path, *rows: Any, **changes: Any) -> RunOutcome:
    """A log, judged."""
    return judged(tmp_path, *rows, **changes).outcome


def test_the_headline_tells_of_log_records_and_rules(tmp_path: Path) -> None:
    told = headline(outcome_of(tmp_path, *STALE))

    assert told.startswith(
        "Judge: INVALID - log.jsonl, 10 lines, 10 records, 2 contacts, 2 agents, "
    )
    assert "rules judged, " in told
    assert "race" not in told


@pytest.mark.parametrize(
    ("rows", "changes", "verdict", "start"),
    [
        (GOOD, {}, Verdict.VALID, "The log breaks none of the "),
        (STALE, {}, Verdict.INVALID, "The log breaks "),
        ((*GOOD, "{"), {}, Verdict.UNKNOWN, "No broken rule was seen, but from line 10 on"),
        (
            (row(0, "denied", "a"),),
            {"events": {"denied": "acquire.fail:contact_owned"}, "fields": {"token": ""}},
            Verdict.UNKNOWN,
            "No broken rule was seen, but nothing in the log gave any rule something to judge",
        ),
    ],
    ids=["valid", "invalid", "broken off", "empty of meaning"],
)
def test_the_first_sentence_says_what_the_verdict_means(
    rows: Any, changes: dict[str, Any], verdict: Verdict, start: str, tmp_path: Path
) -> None:
    outcome = outcome_of(tmp_path, *rows, **changes)

    assert outcome.verdict is verdict
    assert verdict_sentences(outcome)[0].startswith(start)


def test_rules_that_were_not_judged_are_listed_by_what_is_missing(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, *STALE)
    text = table_text(outcome)

    seq = next(line for line in gaps(outcome) if line.startswith("fields.seq is not mapped"))
    assert "tokens.commit_order" in seq
    assert "Not judged, by what is missing:" in text
    assert "target lacks" not in text
    head, _, _ = text.partition("Judge:")
    assert "not applicable" not in head
    assert head.startswith("rule ")


def test_every_file_has_the_logs_words(tmp_path: Path) -> None:
    answer = judged(tmp_path, *STALE)
    write_all(answer.outcome, answer.history, tmp_path)

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="races-title">Rules</h2>' in page
    assert '<a href="#races">Rules</a>' in page
    assert "races valid" not in page
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "## Not judged, by what is missing" in summary
    assert "| rule | verdict |" in summary


def test_a_run_of_races_keeps_its_words() -> None:
    from tests.reports.samples import failing

    assert not is_log(failing())
    assert gaps(failing()) == []
    assert " race" in headline(failing())
