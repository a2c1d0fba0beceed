"""A run's folder: outcome, JUnit, summary, latest."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from junitparser import JUnitXml

from leaserace.harness.contract import UsageError
from leaserace.harness.history import encode
from leaserace.harness.outcome import CanaryResult, InvalidOutcome, RunOutcome
from leaserace.harness.verdict import Verdict
from leaserace.reports.files import LATEST, read_run, write_all
from leaserace.reports.junit import junit_xml
from leaserace.reports.markdown import summary_md
from leaserace.reports.picture import pictures
from tests.reports.samples import (
    failing,
    outcome,
    passing,
    stale_finding,
    stale_result,
    stale_token,
    valid_result,
)

LIGHT = ("verdict.json",)
EVIL = "<script>alert(1)</script>]]>\x00\x1b[2J|`*\u202e\n# heading"


def evil() -> RunOutcome:
    """An outcome in which every text is hostile."""
    finding = replace(stale_finding(), message=EVIL, rule=EVIL, spec=(EVIL,))
    race = replace(
        stale_result(),
        expected=EVIL,
        observed=EVIL,
        reason=EVIL,
        masked_by=EVIL,
        again=EVIL,
        findings=(finding,),
    )
    return outcome(
        race, target=EVIL, again=EVIL, notices=(EVIL,), policy={EVIL: EVIL}, versions={EVIL: EVIL}
    )


@pytest.mark.parametrize("made", [failing(), passing(), outcome(), evil()])
def test_an_outcome_reads_back_as_it_was(made: RunOutcome) -> None:
    """verdict.json is all that reports need beside the history."""
    assert RunOutcome.from_json(made.to_json()) == made
    assert made.to_json() == RunOutcome.from_json(made.to_json()).to_json()


def test_an_outcome_of_a_later_version_is_refused_by_name() -> None:
    """Nothing is guessed about a form from the future."""
    value = json.loads(passing().to_json()) | {"version": 9}
    with pytest.raises(InvalidOutcome, match=r"old\.json: version 9"):
        RunOutcome.from_json(json.dumps(value), "old.json")


def test_rubbish_is_no_outcome() -> None:
    """One line that names the file."""
    with pytest.raises(InvalidOutcome, match=r"^v\.json: not a verdict"):
        RunOutcome.from_json(b"\xff\x00", "v.json")


def test_junit_counts_failures_errors_and_skips() -> None:
    """Invalid fails, unknown is an error, not run is skipped; the canary is a case too."""
    unknown = valid_result("x", verdict=Verdict.UNKNOWN, reason="the pause did not take")
    made = outcome(*failing().races, unknown)
    xml = JUnitXml.fromstring(junit_xml(made, pictures(stale_token())))
    assert (xml.tests, xml.failures, xml.errors, xml.skipped) == (5, 1, 1, 1)
    (suite,) = list(xml)
    assert "seed" in [each.name for each in suite.properties()]  # type: ignore[no-untyped-call]
    (failure,) = next(case for case in suite if case.name.startswith("stale_token")).result
    assert failure.type == "tokens.stale_never_sends"
    assert "PAUSED at send.think" in failure.text


def test_a_canary_that_escaped_fails_the_junit_file() -> None:
    """A CI that reads only JUnit sees it too."""
    canary = CanaryResult(twin="t", rule="r", caught=False, seconds=5)
    xml = JUnitXml.fromstring(
        junit_xml(outcome(valid_result(), canary=canary), pictures(stale_token()))
    )
    assert xml.failures == 1


def test_hostile_text_breaks_no_file(tmp_path: Path) -> None:
    """Control characters and markup of the target stay text."""
    write_all(evil(), stale_token(), tmp_path / "run")
    xml = JUnitXml.fromfile(str(tmp_path / "run" / "junit.xml"))
    assert xml.failures == 1
    summary = (tmp_path / "run" / "summary.md").read_text(encoding="utf-8")
    outside = "".join(summary.split("```")[::2])
    assert "<script>" not in outside
    assert "\x1b" not in summary
    assert "\n# heading" not in outside


def test_the_summary_of_a_failing_gate_leads_with_the_verdict() -> None:
    """What a CI's step summary shows first."""
    text = summary_md(failing(), pictures(stale_token()))
    assert text.startswith("# Gate: INVALID - 2..3 agents, 3 races")
    assert "| stale\\_token \\[send.think\\]/2 | **invalid** |" in text
    assert "PAUSED at send.think" in text
    assert "leaserace gate --target ourpkg.mailbox:OurMailbox" in text


def test_a_long_summary_leaves_out_whole_sections_and_says_so() -> None:
    """It stays below what a CI accepts."""
    race = stale_result()
    made = outcome(*(replace(race, race=f"r{number}") for number in range(3000)))
    text = summary_md(made, pictures(stale_token()), bytes_max=50_000)
    assert 40_000 < len(text.encode()) < 50_000
    assert "Left out for length" in text
    assert "Run it again" in text


def test_the_same_run_is_written_as_the_same_bytes(tmp_path: Path) -> None:
    """Two renderings of one history are byte-identical."""
    for name in ("one", "two"):
        write_all(failing(), stale_token(), tmp_path / name)
    paths = [path for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert len(paths) > 8
    for path in paths:
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.read_bytes() == other.read_bytes(), path.name


def test_a_run_is_read_back_through_latest(tmp_path: Path) -> None:
    """latest leads to the newest run."""
    write_all(passing(), stale_token(), tmp_path / "run-1", only=LIGHT)
    write_all(failing(), stale_token(), tmp_path / "run-2", only=LIGHT)
    made, history = read_run(tmp_path / LATEST)
    assert made == failing()
    assert [encode(event) for event in history] == [encode(event) for event in stale_token()]
    assert {path.name for path in tmp_path.iterdir()} == {"run-1", "run-2", LATEST}


def test_where_links_cannot_be_made_latest_is_a_text_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows without the right to make links."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    write_all(failing(), stale_token(), tmp_path / "run-1", only=LIGHT)
    assert (tmp_path / LATEST).read_text() == "run-1\n"
    assert read_run(tmp_path / LATEST)[0] == failing()


def test_somebodys_own_folder_called_latest_stays(tmp_path: Path) -> None:
    """Nothing outside the run's folder is overwritten."""
    (tmp_path / LATEST).mkdir()
    (tmp_path / LATEST / "mine").touch()
    write_all(failing(), stale_token(), tmp_path / "run-1", only=LIGHT)
    assert (tmp_path / LATEST / "mine").exists()


def test_a_recorded_history_is_never_rewritten(tmp_path: Path) -> None:
    """Nothing is edited after it was recorded."""
    (tmp_path / "history.jsonl").write_bytes(b"")
    write_all(failing(), stale_token(), tmp_path, only=LIGHT)
    assert (tmp_path / "history.jsonl").read_bytes() == b""


def test_a_folder_without_a_run_is_a_usage_error(tmp_path: Path) -> None:
    """The line names what is missing."""
    with pytest.raises(UsageError, match=r"verdict\.json is missing"):
        read_run(tmp_path)


def test_a_folder_that_is_a_file_is_a_usage_error(tmp_path: Path) -> None:
    """As is one that can't be written to."""
    (tmp_path / "taken").touch()
    with pytest.raises(UsageError, match="can't be written to"):
        write_all(failing(), stale_token(), tmp_path / "taken")
