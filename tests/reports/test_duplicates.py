"""What reached people and should not have."""

import json
from dataclasses import replace

from leaserace.harness.history import History
from leaserace.harness.verdict import Finding, Verdict
from leaserace.reports.duplicates import (
    DOUBLE_CONTACT,
    DUPLICATE,
    FORBIDDEN,
    OTHER_KEY,
    SAME_KEY,
    rate_sentences,
    wrongs,
    wrongs_frame,
)
from leaserace.reports.picture import pictures
from leaserace.reports.rows import verdict_sentences
from tests.reports.samples import (
    Log,
    outcome,
    passing,
    sent,
    stale_finding,
    stale_result,
    stale_token,
    valid_result,
)


def twice(first_key: str, second_key: str) -> History:
    """One intent, sent and delivered twice."""
    log = Log("r")
    log.send("sales-01", 0, 10, 1, "i", None, key=first_key)
    log.delivery(5, "i", "<a>")
    log.send("support-01", 20, 30, 2, "i", sent("<b>"), key=second_key)
    log.delivery(25, "i", "<b>")
    log.audit(24, "support-01", "send", "authorized", message_id="<b>", state={"cooldown": None})
    return log.history()


def test_a_duplicate_names_senders_tokens_keys_and_the_state_that_allowed_it() -> None:
    """spec: R3; a duplicate is traced to the state that allowed it."""
    (row,) = wrongs([valid_result(race="r")], pictures(twice("k1", "k2")))
    assert (row.kind, row.copies) == (DUPLICATE, 2)
    assert row.agents == ("sales-01", "support-01")
    assert row.tokens == (1, 2)
    assert row.keys == ("k1", "k2")
    assert row.message_ids == ("<a>", "<b>")
    assert json.loads(row.state) == {"cooldown": None}
    assert row.layer == OTHER_KEY


def test_two_deliveries_under_one_key_point_at_the_api() -> None:
    """spec: K2, O1."""
    (row,) = wrongs([valid_result(race="r")], pictures(twice("k", "k")))
    assert row.layer == SAME_KEY


def test_a_stale_send_is_a_forbidden_message() -> None:
    """spec: S3; one copy only, and still wrong."""
    (row,) = [
        row
        for row in wrongs([stale_result()], pictures(stale_token()))
        if row.intent == "stale.0.1"
    ]
    assert row.kind == FORBIDDEN
    assert row.rules == ("tokens.stale_never_sends",)
    assert "fencing check" in row.layer


def test_two_agents_inside_a_cooldown_are_a_double_contact() -> None:
    """spec: S10."""
    finding = Finding(
        rule="cooldown.no_double_contact",
        spec=("S10",),
        message="m",
        ops=("sales-01.0:2", "support-01.0:3"),
        contact="contact-0-1",
    )
    race = valid_result(race=stale_result().race, findings=(finding,))
    rows = wrongs([race], pictures(stale_token()))
    assert rows[0].kind == DOUBLE_CONTACT
    assert set(rows[0].agents) == {"sales-01", "support-01"}
    assert rows[0].copies == 2


def test_a_run_in_which_nothing_went_wrong_has_an_empty_table() -> None:
    """With its columns."""
    rows = wrongs([valid_result(race=stale_result().race)], pictures(stale_token()))
    assert rows == []
    assert "layer" in wrongs_frame(rows).columns


def test_no_duplicates_are_said_with_the_rule_of_three() -> None:
    """So that 0 in 300 is not taken for never."""
    assert rate_sentences(passing()) == [
        "0 duplicates in 300 contended rounds: the rate is below 0.99 % (95 % sure)"
    ]


def test_duplicates_that_agents_asked_for_are_not_said_to_be_none() -> None:
    """spec: K9: the mailbox is valid, and mail was doubled by a habit."""
    doubled = outcome(valid_result(duplicates=9))
    assert rate_sentences(doubled) == []
    assert not any("0 duplicates" in each for each in verdict_sentences(doubled))
    assert any("0 duplicates" in each for each in verdict_sentences(passing()))


def test_a_finding_is_said_with_its_interval_and_the_green_runs_still_needed() -> None:
    """A rare finding needs more green runs before a mend may be believed."""
    race = valid_result(rounds=100, findings=(stale_finding(),))
    (sentence,) = rate_sentences(outcome(race))
    assert "a finding in 1 of 100 rounds (0.18 % to 5.4 % at 95 %)" in sentence
    assert "2,604 rounds without one before a mend may be believed at 99 %" in sentence


def test_mail_that_came_twice_where_that_is_expected_is_said_to_be_so() -> None:
    """Some races show what a key alone can't stop, and are valid. spec: K9"""
    plain = passing()
    race = replace(plain.races[0], scenario="bad_key_alone", verdict=Verdict.VALID, duplicates=2)
    said = verdict_sentences(replace(plain, races=(race, *plain.races[1:])))
    assert "2 duplicates came as expected, in races that show what no mailbox can stop: " in said[1]
    assert "bad_key_alone" in said[1]
    assert not any("came as expected" in each for each in verdict_sentences(plain))
