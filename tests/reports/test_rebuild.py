"""leaserace report: a recorded run shown and written again."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from leaserace.harness.contract import UsageError
from leaserace.harness.history import History
from leaserace.harness.verdict import Verdict
from leaserace.reports import rebuild
from leaserace.reports.commands import report
from leaserace.reports.files import write_all
from tests.reports.samples import failing, outcome, stale_token


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A failing run's folder."""
    folder = tmp_path / "runs" / "run-1"
    write_all(failing(), stale_token(), folder, only=("verdict.json",))
    return folder


def test_a_rebuilt_run_is_byte_for_byte_the_recorded_one(run: Path, tmp_path: Path) -> None:
    """All reports come from verdict.json and history.jsonl."""
    write_all(failing(), stale_token(), run)
    rebuild.rebuild(rebuild.read_back(run), tmp_path / "again")
    paths = [path for path in (tmp_path / "again").rglob("*") if path.is_file()]
    assert len(paths) > 7
    for path in paths:
        before = run / path.relative_to(tmp_path / "again")
        assert path.read_bytes() == before.read_bytes(), path.name


@pytest.mark.parametrize("name", ["run-1", "latest", "run-1/history.jsonl"])
def test_a_run_is_found_by_folder_by_latest_and_by_its_history(run: Path, name: str) -> None:
    """Whatever a person has at hand."""
    made = rebuild.read_back(run.parent / name)
    assert made.outcome == failing()
    assert list(made.races) == ["stale_token[send.think]/2"]


def test_a_history_without_its_verdict_is_judged_again(run: Path) -> None:
    """As of an old run, or one whose coordinator was killed."""
    (run / "verdict.json").unlink()
    made = rebuild.read_back(run)
    assert made.outcome.verdict is Verdict.INVALID
    assert "tokens.stale_never_sends" in {f.rule for r in made.outcome.races for f in r.findings}
    assert made.notices == ("verdict.json was missing: the history was judged again",)


def test_a_line_cut_off_by_a_crash_is_said(run: Path) -> None:
    """And all before it is shown."""
    with (run / "history.jsonl").open("ab") as file:
        file.write(b'{"e":"op","t":12')
    made = rebuild.read_back(run)
    assert any("history.jsonl" in notice for notice in made.notices)


def test_the_command_prints_table_and_story_and_exits_with_the_verdict(run: Path) -> None:
    """1 for invalid, as the gate."""
    result = CliRunner().invoke(report, [str(run)], standalone_mode=False)
    assert result.return_value == 1
    assert "Gate: INVALID" in result.output
    assert "PAUSED at send.think" in result.output


def test_frames_and_a_picture_are_written_on_demand(run: Path, tmp_path: Path) -> None:
    """Into another folder, the run's own stays as it was."""
    before = sorted(path.name for path in run.iterdir())
    arguments = [str(run), "--into", str(tmp_path / "out"), "--csv", "--png"]
    CliRunner().invoke(report, arguments, standalone_mode=False, catch_exceptions=False)
    assert (tmp_path / "out" / "timeline.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "frames" / "leases.csv").exists()
    assert sorted(path.name for path in run.iterdir()) == before


def test_github_gets_annotations_and_the_step_summary(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Added to what other steps wrote."""
    summary = tmp_path / "step.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = CliRunner().invoke(report, [str(run), "--github"], standalone_mode=False)
    assert "::error title=tokens.stale_never_sends" in result.stdout
    assert summary.read_text().startswith("before\n# Gate: INVALID")


def test_json_is_alone_on_stdout(run: Path) -> None:
    """So that it can be piped."""
    result = CliRunner().invoke(report, [str(run), "--json", "--github"], standalone_mode=False)
    assert result.stdout == failing().to_json().decode()


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda folder: folder / "no", "there is no"),
        (lambda folder: folder, "verdict.json and history.jsonl are missing"),
    ],
    ids=["absent", "empty"],
)
def test_what_is_no_run_is_one_clear_line(tmp_path: Path, make: object, line: str) -> None:
    """Exit 2 by the command line."""
    assert callable(make)
    with pytest.raises(UsageError, match=line):
        rebuild.read_back(make(tmp_path))


def test_a_verdict_without_a_history_is_one_clear_line(run: Path) -> None:
    """It names the file that is missing."""
    (run / "history.jsonl").unlink()
    with pytest.raises(UsageError, match=r"history\.jsonl is missing"):
        rebuild.read_back(run)


def test_a_broken_history_is_one_clear_line(run: Path) -> None:
    """With file and line."""
    (run / "history.jsonl").write_bytes(b"\xff\n{}\n")
    with pytest.raises(UsageError, match=r"history\.jsonl:1"):
        rebuild.read_back(run)


def test_a_run_without_operations_has_nothing_to_draw(tmp_path: Path) -> None:
    """And says so."""
    write_all(outcome(), History(), tmp_path)
    with pytest.raises(UsageError, match="no operations to draw"):
        rebuild.write_image(rebuild.read_back(tmp_path), tmp_path)
