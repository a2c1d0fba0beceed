"""Files for machines: trace, annotations, SARIF."""

import json
from dataclasses import replace
from typing import Any

import pytest

from leaserace.harness.history import History
from leaserace.harness.verdict import Verdict
from leaserace.reports.github import ANNOTATIONS_MAX, github_annotations
from leaserace.reports.picture import pictures
from leaserace.reports.sarif import sarif_json
from leaserace.reports.trace import trace_json
from tests.reports.samples import (
    Log,
    failing,
    outcome,
    passing,
    stale_finding,
    stale_result,
    stale_token,
    valid_result,
)
from tests.reports.samples_contention import contention
from tests.reports.trace_form import check


def trace(history: History) -> list[dict[str, Any]]:
    """The events of a history's trace."""
    events: list[dict[str, Any]] = json.loads(trace_json(failing(), pictures(history)))[
        "traceEvents"
    ]
    return events


def crashed() -> History:
    """A call that was never answered, and one held while its agent went on."""
    log = Log("r")
    log.op("a", "acquire", 0, None)
    log.fault("a", "crash", 5, 8)
    log.acquire("a", 10, 11, 1)
    log.op("b", "acquire", 0, 20)
    return log.history()


@pytest.mark.parametrize(
    "history",
    [stale_token(), contention(2000), crashed(), History()],
    ids=["stale", "contention", "crashed", "empty"],
)
def test_a_trace_keeps_the_forms_rules(history: History) -> None:
    """As Perfetto reads it."""
    check(trace_json(failing(), pictures(history)))


def test_a_trace_of_many_races_keeps_them_too() -> None:
    """Races overlap nowhere, and share no thread."""
    one, two = stale_token(), contention(300)
    races = {**pictures(one), "two": pictures(two).popitem()[1]}

    events = check(trace_json(failing(), races))

    assert {event["pid"] for event in events} == {1, 2}


def test_a_trace_has_a_thread_an_agent_and_a_span_a_lease() -> None:
    """Names are what a person looks for."""
    events = trace(stale_token())
    threads = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert threads == {"sales-01", "support-01", "receiving mailbox"}
    leases = [e for e in events if e.get("cat") == "lease" and e["ph"] == "b"]
    assert [e["name"] for e in leases] == [
        "contact-0-1: token 41 (sales-01)",
        "contact-0-1: token 42 (support-01)",
    ]
    (finding,) = [e for e in events if e["name"] == "tokens.stale_never_sends"]
    assert finding["s"] == "g"


def test_an_annotation_names_rule_race_and_the_command() -> None:
    """Line breaks, colons and commas are escaped as GitHub wants."""
    race = replace(
        stale_result(), findings=(replace(stale_finding(), message="100 %\nof it"),), again="x"
    )
    lines = github_annotations(outcome(race), file="ourpkg/mailbox.py").splitlines()
    assert lines[0] == (
        "::error file=ourpkg/mailbox.py,title=tokens.stale_never_sends in "
        "stale_token[send.think]/2::100 %25%0Aof it%0Ax"
    )
    assert lines[1].startswith("::notice file=ourpkg/mailbox.py,title=leaserace::Gate%3A") or (
        lines[1].startswith("::notice file=ourpkg/mailbox.py,title=leaserace::Gate: INVALID")
    )


def test_a_message_cannot_start_a_command_of_its_own() -> None:
    """A target's text stays inside its annotation."""
    race = replace(stale_result(), findings=(replace(stale_finding(), message="a\n::set-env x"),))
    assert all(
        line.startswith(("::error ", "::notice "))
        for line in github_annotations(outcome(race)).splitlines()
    )


def test_beyond_ten_annotations_the_rest_is_counted() -> None:
    """GitHub would drop them without a word."""
    races = [replace(stale_result(), race=f"r{number}") for number in range(30)]
    errors = [
        line for line in github_annotations(outcome(*races)).splitlines() if "::error" in line
    ]
    assert len(errors) == ANNOTATIONS_MAX
    assert errors[-1].endswith("21 more findings")


def test_unknown_is_a_warning() -> None:
    """Never silent, never an error of the target."""
    text = github_annotations(outcome(valid_result(verdict=Verdict.UNKNOWN, reason="why")))
    assert "::warning title=one_lease[plain]/2::could not be judged: why" in text


def test_sarif_has_one_result_a_finding_with_a_lasting_fingerprint() -> None:
    """The fingerprint does not hang on times or operation ids."""
    log = json.loads(sarif_json(failing()))
    (run,) = log["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "tokens.stale_never_sends"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [result["ruleId"]]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "ourpkg/mailbox.py"
    again = replace(stale_result(), findings=(replace(stale_finding(), t=1, ops=("x",)),))
    other = json.loads(sarif_json(outcome(again)))["runs"][0]["results"][0]
    assert other["partialFingerprints"] == result["partialFingerprints"]


def test_sarif_of_a_green_run_is_empty() -> None:
    """And still a valid log."""
    assert json.loads(sarif_json(passing()))["runs"][0]["results"] == []
