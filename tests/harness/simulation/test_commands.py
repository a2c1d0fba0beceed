"""The commands: what they print, how they end, what they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leaserace.harness.cli import main
from leaserace.harness.contract import UsageError
from leaserace.harness.simulation.commands import explore, replay, twins
from leaserace.harness.simulation.fence import Escaped
from leaserace.harness.simulation.schedule import load, save

UNFENCED = "leaserace.reference_impl.broken.without_fencing_check:target"
REFERENCE = "leaserace.reference_impl.target:target"
TOY = "tests.support.toy:toy"


def call(command: object, *arguments: str) -> Result:
    result = CliRunner().invoke(command, arguments, standalone_mode=False)  # type: ignore[arg-type]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_exploring_a_correct_target_ends_with_0(tmp_path: Path) -> None:
    result = call(
        explore,
        "--target",
        REFERENCE,
        "--schedules",
        "60",
        "--seed",
        "1",
        "--report",
        str(tmp_path),
    )
    assert result.return_value == 0
    assert "60 schedules" in result.output
    assert "no finding; this is a sample, not a proof" in result.output


def test_a_finding_comes_with_its_story_and_the_line_that_runs_it_again(tmp_path: Path) -> None:
    result = call(
        explore,
        "--target",
        UNFENCED,
        "--schedules",
        "900",
        "--seed",
        "1",
        "--report",
        str(tmp_path),
    )
    assert result.return_value == 1
    line = result.output.strip().splitlines()[-1]
    assert line.startswith(f"leaserace replay --target {UNFENCED} lr1/")
    text = line.split()[-1]
    again = call(replay, "--target", UNFENCED, text)
    assert again.return_value == 1
    assert "▲" in again.output
    hashes = {call(replay, "--target", UNFENCED, "--hash", text).output for _ in range(3)}
    assert len(hashes) == 1


def test_json_goes_to_stdout(tmp_path: Path) -> None:
    result = call(
        explore, "--target", REFERENCE, "--schedules", "10", "--json", "--report", str(tmp_path)
    )
    assert json.loads(result.stdout)["schedules"] == 10


def test_exhaustive_search_prints_its_bound_and_whether_it_came_to_the_end() -> None:
    result = call(
        explore, "--target", TOY, "--strategy", "exhaustive", "--subject", "prog.A.A",
        "--variant", "plain", "--faults", "1", "--deadlines", "1",
    )  # fmt: skip
    assert result.return_value == 0
    assert "bound 2 agents, 1 fault (crash, lost reply, silent transport)" in result.output
    assert "time to 1 deadline, " in result.output
    assert "exhausted: yes" in result.output


@pytest.mark.parametrize("shard", ["5/4", "0/4", "a/b", "3"])
def test_a_shard_that_can_not_be_is_refused(shard: str) -> None:
    with pytest.raises(Exception, match=shard):
        call(explore, "--target", TOY, "--shard", shard)


@pytest.mark.parametrize(
    ("subject", "problem"),
    [("prog.A!", "no letter"), ("play.nobody", "no playbook"), ("walk.A", "give play.NAME")],
)
def test_a_subject_that_can_not_be_is_refused(subject: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        call(explore, "--target", TOY, "--subject", subject)


def test_a_target_that_sleeps_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Escaped, match="sleeps"):
        call(
            explore,
            "--target",
            "tests.support.sim_targets:sleeping",
            "--subject",
            "prog.A.A",
            "--schedules",
            "5",
            "--report",
            str(tmp_path),
        )


def test_hidden_nondeterminism_ends_with_3(tmp_path: Path) -> None:
    result = call(
        explore, "--target", "tests.support.sim_targets:drawing", "--subject", "prog.AAA.AAA",
        "--schedules", "600", "--seed", "1", "--report", str(tmp_path),
    )  # fmt: skip
    assert result.return_value == 3
    assert "hidden nondeterminism" in result.stderr


@pytest.mark.parametrize(("rules", "status"), [("", 3), ("00000000", 2)])
def test_a_replay_tells_mended_rules_from_hidden_nondeterminism(
    rules: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(
        explore, "--target", UNFENCED, "--schedules", "900", "--seed", "1", "--report", str(tmp_path)
    )  # fmt: skip
    (path,) = tmp_path.glob("*/schedules/*.txt")
    recorded = load(str(path))
    target, own, harness = recorded.schedule.identity
    cut = replace(
        recorded.schedule,
        code=f"{target}.{rules or own}.{harness}",
        choices=recorded.schedule.choices[:-1],
    )
    save(path, cut, target=UNFENCED, trace=recorded.trace, rule=recorded.rule)
    with pytest.raises(SystemExit) as ended:
        main(["replay", "--target", UNFENCED, str(path)])
    assert ended.value.code == status
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert ("the rules have changed since" in told) == (status == 2)
    assert (f"the finding {recorded.rule} no longer holds" in told) == (status == 2)
    assert ("though the code is the same" in told) == (status == 3)


def test_a_replay_can_be_kept_as_a_test(tmp_path: Path) -> None:
    found = call(
        explore,
        "--target",
        UNFENCED,
        "--schedules",
        "900",
        "--seed",
        "2",
        "--report",
        str(tmp_path),
    )
    text = found.output.strip().splitlines()[-1].split()[-1]
    path = tmp_path / "test_it.py"
    call(replay, "--target", UNFENCED, "--as-test", str(path), "--shrink", text)
    assert "assert_clean" in path.read_text(encoding="utf-8")


def test_one_twin_is_caught_alone_and_behind_its_mask() -> None:
    result = call(
        twins, "without_fencing_check", "--seconds", "3", "--reference-schedules", "50", "--json"
    )
    assert result.return_value == 0
    told = json.loads(result.stdout)
    assert [row["twin"] for row in told["twins"]] == ["without_fencing_check"] * 2
    (pair,) = told["pairs"]
    assert pair["caught"]
    assert pair["masked"]
    assert all(row["caught"] for row in told["twins"])
    assert told["reference"]["rules"] == []


def test_a_twin_there_is_not_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(UsageError, match="without_case_folding"):
        call(twins, "without_everything")
