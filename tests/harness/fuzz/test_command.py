"""`leaserace fuzz`: what it prints, writes and exits with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from leaserace.harness import cli
from leaserace.harness.fuzz import commands
from leaserace.harness.fuzz.campaign import PROFILES, Profile
from leaserace.harness.fuzz.steps import Shape
from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import Verdict
from tests.harness.fuzz.support import REFERENCE, plan_of, twin

Fuzz = Callable[..., int]


@pytest.fixture
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    """The command in a folder of its own; returns its exit status."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as ended:
            cli.main(["fuzz", "--seed", "1", *arguments])
        return int(str(ended.value.code))

    return run


def test_no_finding_prints_the_rate_and_what_was_reached(
    fuzz: Fuzz, capsys: pytest.CaptureFixture[str]
) -> None:
    status = fuzz("--examples", "40", "--target", REFERENCE)

    out = capsys.readouterr().out
    assert status == 0
    assert "40 runs," in out
    assert "runs a second" in out
    assert "rules with something to judge: " in out
    assert "codes answered: " in out
    assert "no finding: valid" in out


def test_seconds_end_a_campaign(fuzz: Fuzz, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--seconds", "0.5", "--target", REFERENCE) == 0
    assert "no finding" in capsys.readouterr().out


def test_a_finding_is_told_and_kept(
    fuzz: Fuzz, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps in words, the operations that prove it, a plan, a test, a history."""
    status = fuzz("--target", twin("release_owner"), "--as-test", "test_it.py")

    out = capsys.readouterr().out
    folder = next((tmp_path / ".leaserace").glob("*-fuzz-1"))
    assert status == 1
    assert "shrunk to" in out
    assert re.search(r"\d\. sales-01 claims the contact: granted, token 1", out)
    assert f"leaserace fuzz --target {twin('release_owner')} --plan lf1/" in out
    names = {path.name for path in folder.iterdir()}
    assert {
        "history.jsonl",
        "history.first.jsonl",
        "verdict.json",
        "report.html",
        "plan.txt",
    } <= names
    assert RunOutcome.from_json((folder / "verdict.json").read_bytes()).command == "fuzz"
    assert (tmp_path / "test_it.py").read_text() == (folder / "test_found.py").read_text()


def test_the_printed_plan_shows_it_again(
    fuzz: Fuzz, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fuzz("--target", twin("release_owner"))
    plan = next((tmp_path / ".leaserace").glob("*-fuzz-1/plan.txt")).read_text().strip()
    (rule,) = re.findall(r"^ *rule (\S+)", capsys.readouterr().out, re.MULTILINE)
    assert rule in {"leases.release_by_holder", "scenario.expected"}

    assert fuzz("--target", twin("release_owner"), "--plan", plan) == 1
    assert f"rule {rule}" in capsys.readouterr().out
    assert fuzz("--target", REFERENCE, "--plan", plan) == 0
    assert "no finding" in capsys.readouterr().out


@pytest.mark.process
def test_the_generated_test_fails_on_the_twin_and_passes_on_the_reference(
    fuzz: Fuzz, tmp_path: Path
) -> None:
    fuzz("--target", twin("release_owner"), "--as-test", "test_it.py")

    assert _pytest(tmp_path, "test_it.py").returncode == 1
    source = (tmp_path / "test_it.py").read_text()
    (tmp_path / "test_it.py").write_text(source.replace(twin("release_owner"), REFERENCE))
    assert _pytest(tmp_path, "test_it.py").returncode == 0


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=os.environ
    )


def test_json_is_the_verdict_with_the_counts(
    fuzz: Fuzz, capsys: pytest.CaptureFixture[str]
) -> None:
    fuzz("--target", twin("delivery"), "--json")

    outcome = RunOutcome.from_json(capsys.readouterr().out)
    assert outcome.verdict is Verdict.INVALID
    assert "--plan lf1/" in outcome.races[0].again
    assert outcome.races[0].figures["runs"] >= 1
    assert outcome.races[0].figures["rule contract.kept"] >= 1


def test_a_rule_that_a_nightly_run_never_exercised_is_an_error_of_the_fuzzer(
    fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(PROFILES, "nightly", Profile(examples=1, must_reach=True))

    assert fuzz("--target", REFERENCE, "--profile", "nightly") == 3
    assert "rules that were never exercised" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "nowhere:target"), "importing 'nowhere' failed"),
        (("--plan", "lf1//a.acquire/0000"), "is cut or changed"),
        (("--plan", "lr1/prog.A/plain/x/a/b"), "is of version 'lr1'"),
        (("--examples", "0"), "0 is not in the range"),
        (("--profile", "weekly"), "'weekly' is not one of"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(
    fuzz: Fuzz, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert fuzz(*arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.process
def test_real_processes_find_a_twin_with_real_signals(
    fuzz: Fuzz, capsys: pytest.CaptureFixture[str]
) -> None:
    status = fuzz("--real", "--examples", "20", "--target", twin("delivery"))

    out = capsys.readouterr().out
    assert status == 1
    assert "on real processes" in out
    assert "  rule " in out


@pytest.mark.process
def test_a_plan_on_real_processes_tells_the_operations_that_prove_it(
    fuzz: Fuzz, capsys: pytest.CaptureFixture[str]
) -> None:
    """Forms of one address beyond ASCII, one key for two persons (spec: I3, K4)."""
    steps = "a.acquire.c1.s1,b.acquire.s3,a.send.c1.s2,b.retry.hreaddressed,a.send.c1.hcopied"
    plan = plan_of(steps, Shape(contacts=2)).to_text()

    assert fuzz("--real", "--target", twin("recipient_in_fingerprint"), "--plan", plan) == 1
    out = capsys.readouterr().out
    assert "  rule keys.payload_bound" in out
    assert "... send: sent" in out
    assert fuzz("--real", "--target", REFERENCE, "--plan", plan) == 0


@pytest.mark.process
def test_real_processes_find_nothing_in_the_reference(
    fuzz: Fuzz, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz("--real", "--examples", "3", "--target", REFERENCE) == 0
    assert "3 runs," in capsys.readouterr().out
    assert commands.LIGHT
