"""The command line as its user meets it: help, mistakes, exit statuses, files."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from leaserace.harness import cli, commands, gate
from leaserace.harness.history import History

QUICK = ["--agents", "2", "--seconds", "0", "--rounds", "1"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def status(*arguments: str) -> int:
    return cli._status(list(arguments))


def test_help_names_every_command_and_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("--help") == 0

    text = capsys.readouterr().out
    for name in cli.COMMANDS:
        assert name in text
    assert "4  unknown" in text


def test_every_command_has_a_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in cli.COMMANDS:
        assert status(name, "--help") == 0
        assert len(capsys.readouterr().out.splitlines()) > 3


def test_list_tells_what_each_race_expects(capsys: pytest.CaptureFixture[str]) -> None:
    """spec: T"""
    assert status("list") == 0
    text = capsys.readouterr().out
    assert "1. two_spellings" in text
    assert "exactly one lease succeeds" in text

    assert status("list", "--json") == 0
    races = json.loads(capsys.readouterr().out)
    assert [race["number"] for race in races][:6] == [1, 2, 3, 4, 5, 6]


def test_list_tells_which_races_the_gate_runs_by_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """spec: T, X"""
    assert status("list", "--json") == 0
    races = json.loads(capsys.readouterr().out)
    default = {race["id"] for race in races if race["by_default"]}
    assert {race["id"] for race in races if race["group"] == "six"} < default
    assert "one_key_one_payload" in default
    assert "crash_after_hand_over" not in default

    assert status("list") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if "runs in" in line]
    assert len(lines) == len(races)
    assert sum(line[-1] == "--all" for line in lines) == len(races) - len(default)


@pytest.mark.parametrize(("arguments", "count"), [([], "default"), (["--all"], "all")])
def test_the_gate_runs_the_six_and_the_quick_ones_unless_asked_for_all(
    arguments: list[str],
    count: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """spec: T, X"""
    plans: list[gate.Plan] = []
    monkeypatch.setattr(commands, "carry_out", lambda plan, *_, **__: plans.append(plan))

    assert status("gate", *arguments) == 0

    (plan,) = plans
    known = commands.load_scenarios()
    chosen = [each for each in known if count == "all" or each.by_default]
    assert plan.scenarios == chosen
    assert [each.number for each in chosen[:6]] == [1, 2, 3, 4, 5, 6]
    assert ("--all" in plan.whole().split()) == (count == "all")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gate", "--target", "nope"], "no target is called 'nope'"),
        (["gate", "--target", "nomodule:x"], "No module named 'nomodule'"),
        (["gate", "--target", "tests.support.gate_targets:Nope"], "has no 'Nope'"),
        (["gate", "--target", "tests.support.gate_targets:time"], "it must be a leaserace"),
        (["run", "nope"], "no race is called 'nope'; there are two_spellings"),
        (["run", "two_spellings", "--variant", "x"], "no variant is called 'x'; there are at once"),
        (["gate", "--bogus"], "No such option '--bogus'"),
        (["gate", "--agents", "1"], "at least 2 agents race"),
        (["gate", "--agents", "two"], "write 3 or 2..5"),
        (["gate", "--policy", "absent.toml"], "'absent.toml' does not exist"),
        (["gate", "--report", "file/x"], "choose a folder with --report"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    assert status(*arguments) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("leaserace: ")
    assert said in line


@pytest.mark.process
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("RaisesInStart", "start() raised ConnectionError: no database at localhost:5432"),
        ("RaisesInConnect", "connect() raised PermissionError: no credential for sales-01"),
    ],
)
def test_a_target_that_can_not_be_used_is_one_line(
    target: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "two_spellings", "--target", f"tests.support.gate_targets:{target}"]

    assert status(*arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("drafting_s = -5", "drafting_s"),
        ("nonsense = 1", "nonsense"),
        ("drafting_s = ", "not TOML"),
    ],
)
def test_a_policy_that_can_not_be_used_is_one_line(
    text: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "policy.toml").write_text(text)

    assert status("run", "two_spellings", "--policy", "policy.toml") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.process
def test_a_port_that_is_taken_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert status("run", "two_spellings", "--smtp-port", str(port)) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert str(port) in line


@pytest.mark.process
def test_a_run_leaves_its_files_and_latest(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert status("run", "cooldown_after_delivery", "--seed", "3") == 0

    assert "Run: VALID" in capsys.readouterr().out
    latest = tmp_path / ".leaserace" / "latest"
    for name in ("history.jsonl", "verdict.json", "junit.xml", "summary.md"):
        assert (latest / name).stat().st_size > 0
    assert History.load(latest / "history.jsonl").operations()


@pytest.mark.process
def test_json_on_stdout_is_the_verdict_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status("run", "cooldown_after_delivery", "--json") == 0

    captured = capsys.readouterr()
    assert json.loads(captured.out)["verdict"] == "valid"
    assert captured.err == ""


@pytest.mark.process
def test_a_broken_mailbox_exits_with_1_and_tells_the_story(
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = "leaserace.reference_impl.broken.without_fencing_check:target"

    assert status("gate", *QUICK, "--target", target) == 1

    text = capsys.readouterr().out
    assert "tokens.stale_never_sends" in text
    assert "run it again:" in text
    assert "the system leaks" in text


@pytest.mark.process
@pytest.mark.slow
def test_a_target_that_hangs_is_cut_off_and_comes_out_unknown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--target", "tests.support.gate_targets:HangsInSend", "--variant", "handed on"]

    assert status("run", "cooldown_after_delivery", *arguments) == 4
    text = " ".join(capsys.readouterr().out.split())
    assert "send did not answer within" in text


@pytest.mark.process
def test_a_target_that_raises_in_a_call_is_never_valid(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--target", "tests.support.gate_targets:RaisesInSend"]

    assert status("run", "cooldown_after_delivery", *arguments) in (1, 4)
    assert "valid" not in capsys.readouterr().out.split()
