"""The committed sample logs give the verdicts that their README documents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from leaserace.harness.history import History
from leaserace.harness.judge.mapping import Mapping
from leaserace.harness.judge.mapping_file import load_mapping
from leaserace.harness.judge.ours import our_mapping
from leaserace.harness.judge.run import Answer, judge_log
from leaserace.harness.lines import validate
from leaserace.harness.verdict import Verdict

from .logs import SAMPLES, rules

MAPPINGS: dict[str, Mapping] = {
    "ours.jsonl": our_mapping(),
    "webhook.jsonl": load_mapping(SAMPLES / "webhook.toml"),
    "agents.jsonl": load_mapping(SAMPLES / "agents.toml"),
}


def answer_of(name: str, jobs: int = 1) -> Answer:
    """The sample, judged."""
    return judge_log(SAMPLES / name, MAPPINGS[name], jobs=jobs)


def notice(answer: Answer, words: str) -> str:
    """The notice with these words."""
    return next(each for each in answer.outcome.notices if words in each)


def test_our_own_log_shows_the_stale_send_and_the_state_that_let_it_through() -> None:
    """spec: S3, R3."""
    answer = answer_of("ours.jsonl")

    assert answer.outcome.verdict is Verdict.INVALID
    assert Counter(rules(answer)) == {"tokens.stale_never_sends": 2, "tokens.commit_order": 2}
    traced = answer.traced[0]
    assert [decision.line for decision in traced.decisions] == [8, 12]
    assert traced.decisions[-1].state["fence"] == 2
    assert (
        "let through by ours.jsonl:12 (send by sales-01)"
        in answer.outcome.races[0].findings[0].message
    )


def test_the_webhook_export_shows_duplicate_double_contact_and_mail_after_an_opt_out() -> None:
    """spec: K9, C1, C2."""
    answer = answer_of("webhook.jsonl")

    outcome = answer.outcome
    assert outcome.verdict is Verdict.INVALID
    assert (outcome.duplicates, outcome.double_contacts) == (1, 1)
    assert Counter(rules(answer)) == {
        "keys.one_per_send": 1,
        "cooldown.no_double_contact": 1,
        "cooldown.binds_all": 2,
        "suppression.wins": 2,
    }
    assert outcome.races[0].findings[0].rule == "keys.one_per_send"
    assert notice(answer, "stand in the log twice").startswith("2 lines")
    assert "open 1, click 1" in notice(answer, "the mapping leaves out")
    assert "fields.token is not mapped" in answer.not_judged["tokens.rise"]


def test_the_agents_log_is_judged_by_the_stores_clock_not_by_theirs() -> None:
    """spec: L5, S3: only the send after the lease was over is a finding; the rest only looks bad."""
    answer = answer_of("agents.jsonl")

    assert answer.outcome.verdict is Verdict.INVALID
    assert set(rules(answer)) == {"tokens.stale_never_sends"}
    assert {finding.contact for finding in answer.outcome.races[0].findings} == {"chi@example.org"}
    assert "47.200 s ahead of the store's" in notice(answer, "sales-01")
    assert "12.600 s behind the store's" in notice(answer, "support-01")
    assert notice(answer, "in the log twice").startswith("1 lines")


def test_the_same_log_by_the_agents_own_clocks_would_accuse_the_innocent() -> None:
    """Why the clocks matter: without the correction the first contact looks broken too."""
    tables = load_mapping(SAMPLES / "agents.toml")
    import msgspec

    naive = msgspec.structs.replace(
        tables, time=msgspec.structs.replace(tables.time, clock="store"), lenient=True
    )

    answer = judge_log(SAMPLES / "agents.jsonl", naive, jobs=1)

    assert "ana@example.org" in {finding.contact for finding in answer.outcome.races[0].findings}


@pytest.mark.parametrize("name", MAPPINGS)
def test_two_workers_say_the_same_as_none(name: str) -> None:
    alone, shared = answer_of(name), answer_of(name, jobs=2)

    assert alone.outcome.races == shared.outcome.races
    assert alone.outcome.notices == shared.outcome.notices
    assert list(alone.history) == list(shared.history)
    assert alone.traced == shared.traced


@pytest.mark.parametrize("name", MAPPINGS)
def test_the_history_of_a_log_is_a_history(name: str, tmp_path: Path) -> None:
    history = answer_of(name).history

    validate(history)
    history.save(tmp_path / "history.jsonl")
    assert len(History.load(tmp_path / "history.jsonl")) == len(history)
