"""The command ``judge``, from the shell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from leaserace.harness.contract import UsageError
from leaserace.harness.judge.commands import judge

from .logs import GOOD, SAMPLES, judged, row, write

MAPPING = """
version = 1
time = { field = "t", format = "unix_ms" }
fields = { event = "e", agent = "who", recipient = "to", token = "token", idempotency_key = "key", message_id = "mid" }
events = { granted = "acquire.ok", released = "release.ok", sent = "send.ok", arrived = "delivery" }
settings = { lease_s = 60.0 }
"""


def run(*arguments: object) -> Result:
    """Run the command; errors come through."""
    return CliRunner().invoke(
        judge, [str(each) for each in arguments], catch_exceptions=False, standalone_mode=False
    )


def test_our_log_is_judged_without_a_mapping_and_everything_is_written(tmp_path: Path) -> None:
    """spec: R3."""
    result = run(SAMPLES / "ours.jsonl", "--report", tmp_path)

    assert result.return_value == 1
    assert "Judge: INVALID" in result.output
    assert "line 12" in result.output
    folder = tmp_path / "latest"
    decisions = json.loads((folder / "decisions.json").read_bytes())
    assert decisions[0]["decisions"][-1]["state"]["fence"] == 2
    assert decisions[0]["decisions"][-1]["fields"]["decision"] == "authorized"
    for name in ("verdict.json", "history.jsonl", "report.html", "summary.md", "junit.xml"):
        assert (folder / name).stat().st_size


def test_a_valid_log_exits_with_0_and_json_stands_alone_on_stdout(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", *GOOD)
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING, encoding="utf-8")

    result = run(log, "--mapping", mapping, "--json", "--report", tmp_path / "runs")

    assert result.return_value == 0
    assert json.loads(result.stdout)["verdict"] == "valid"


def test_a_partly_readable_log_exits_with_4(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", *GOOD, "rubbish")
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING, encoding="utf-8")

    result = run(log, "--mapping", mapping, "--report", tmp_path / "runs")

    assert result.return_value == 4
    assert "log.jsonl:10: not JSON" in result.output


def test_a_log_nobody_knows_asks_for_a_mapping_and_says_how(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", *GOOD)

    with pytest.raises(UsageError, match="leaserace judge --suggest") as caught:
        run(log, "--report", tmp_path / "runs")

    assert "\n" not in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_suggest_prints_a_mapping_and_judges_nothing(tmp_path: Path) -> None:
    result = run(SAMPLES / "webhook.jsonl", "--suggest", "--report", tmp_path / "runs")

    assert result.return_value == 0
    assert 'processed" = "send.ok"' in result.output
    assert not (tmp_path / "runs").exists()


def test_a_history_of_ours_is_judged_again_race_by_race(tmp_path: Path) -> None:
    judged(tmp_path, *GOOD).history.save(tmp_path / "history.jsonl")

    result = run(tmp_path / "history.jsonl", "--report", tmp_path / "runs")

    assert result.return_value == 0
    assert "judged again by the rules" in result.output


def test_a_broken_history_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "history.jsonl", '{"e":"op","t":1}', '{"e":"op","t":1}')

    with pytest.raises(UsageError, match=r"history\.jsonl:1: not an event"):
        run(path, "--report", tmp_path / "runs")


def test_a_terminal_sees_no_control_characters_of_the_log(tmp_path: Path) -> None:
    evil = "bob\x1b[2J\x1b]0;owned\x07"
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    log = write(
        tmp_path / "log.jsonl",
        *GOOD,
        row(300_000, "granted", evil, token=2),
        row(301_000, "granted", evil + "2", token=2),
    )

    result = run(log, "--mapping", mapping, "--report", tmp_path / "runs")

    assert result.return_value == 1
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def test_two_judgements_of_one_log_are_byte_identical(tmp_path: Path) -> None:
    kept: list[dict[str, Any]] = []
    for name in ("one", "two"):
        run(
            SAMPLES / "webhook.jsonl",
            "--mapping",
            SAMPLES / "webhook.toml",
            "--report",
            tmp_path / name,
        )
        folder = tmp_path / name / "latest"
        verdict = json.loads((folder / "verdict.json").read_bytes())
        kept.append(
            {
                "history": (folder / "history.jsonl").read_bytes(),
                "decisions": (folder / "decisions.json").read_bytes(),
                "races": verdict["races"],
                "notices": verdict["notices"],
            }
        )

    assert kept[0] == kept[1]


def test_reconstruct_writes_steps_and_a_test_and_says_what_is_missing(tmp_path: Path) -> None:
    result = run(SAMPLES / "ours.jsonl", "--reconstruct", "--report", tmp_path)

    folder = tmp_path / "latest" / "reconstructed"
    steps = json.loads((folder / "steps_1.json").read_bytes())
    assert [step["f"] for step in steps["steps"]] == [
        "acquire",
        "acquire",
        "acquire",
        "send",
        "send",
    ]
    assert steps["program"] == "prog.AXS.AXAS"
    assert "not reconstructed: where inside a call an agent stood still" in result.output
    compile((folder / "test_reconstructed_1.py").read_text(encoding="utf-8"), "test", "exec")


def test_what_a_log_says_can_not_become_code_in_the_generated_test(tmp_path: Path) -> None:
    evil = "'''\n\"\"\"\nimport os; os.system('touch pwned')\n#{user}\\"
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    log = write(
        tmp_path / "log.jsonl",
        row(0, "granted", evil, f"{evil}@x.com", token=2),
        row(1_000, "granted", "b", f"{evil}@x.com", token=1),
        *GOOD,
    )

    run(log, "--mapping", mapping, "--reconstruct", "--report", tmp_path / "runs")

    text = (tmp_path / "runs/latest/reconstructed/test_reconstructed_1.py").read_text("utf-8")
    import ast

    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert {ast.unparse(call.func) for call in calls} == {"scenario", "Settings", "play"}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("leaserace.reference_impl.target:target", 0),
        ("leaserace.reference_impl.broken.without_fencing_check:target", 1),
    ],
    ids=["reference", "twin"],
)
def test_the_generated_test_holds_for_the_reference_and_fails_for_the_twin_that_wrote_the_log(
    target: str, status: int, tmp_path: Path
) -> None:
    run(SAMPLES / "ours.jsonl", "--reconstruct", "--report", tmp_path)
    test = tmp_path / "latest" / "reconstructed" / "test_reconstructed_1.py"

    arguments = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={tmp_path}"]
    arguments += ["--leaserace-target", target, "--leaserace-engine", "simulation"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, f"{test}::reconstructed_1"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    assert done.returncode == status, done.stdout[-2_000:]
