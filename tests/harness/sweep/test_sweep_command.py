"""The command, its files and its bad input."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from leaserace.harness import cli
from leaserace.harness.contract import UsageError
from leaserace.harness.sweep.exact import policy_with
from leaserace.harness.sweep.lengths import (
    BY_POLICY,
    PolicyFile,
    cooldown_of,
    read_policy,
    seconds_of,
    spoken,
)
from leaserace.harness.sweep.measured import Load, expected_rate, read_rounds
from leaserace.harness.sweep.plan import Plan, Sweep, sweep
from leaserace.harness.sweep.traffic import Traffic
from leaserace.reference_impl.policy import load_policy
from leaserace.reports.files import write_all
from leaserace.reports.picture import pictures
from leaserace.reports.sweep_charts import sweep_image
from tests.reports.samples_contention import contention

SMALL = ("--agents", "1,2", "--lease", "60s", "--cooldown", "none,7d", "--contacts", "40")
PNG = b"\x89PNG"


def status(*arguments: str) -> int:
    return cli._status(["sweep", *arguments])


@pytest.fixture(scope="module")
def small() -> Sweep:
    return made()


def made() -> Sweep:
    policy = PolicyFile()
    return sweep(
        Plan(
            agents=(1, 2, 4),
            leases=(("10s", 10.0), ("60s", 60.0)),
            cooldowns=tuple(cooldown_of(text, policy) for text in ("none", BY_POLICY, "7d")),
            traffic=Traffic(contacts=60),
            policy=policy,
        )
    )


def test_a_sweep_says_its_answer_and_writes_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(*SMALL, "--report", str(tmp_path)) == 0

    told = capsys.readouterr()
    (folder,) = tmp_path.iterdir()
    assert told.err == ""
    assert told.out.count("this mailbox takes ") == 2
    names = {each.name for each in folder.iterdir()}
    assert names == {"sweep.json", "sweep.csv", "sweep.svg", "sweep.png"}
    assert (folder / "sweep.png").read_bytes().startswith(PNG)


def test_json_on_stdout_is_the_file_and_the_same_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(*SMALL, "--report", str(tmp_path / "a"), "--json") == 0
    first = capsys.readouterr().out
    assert status(*SMALL, "--report", str(tmp_path / "b"), "--json") == 0

    assert capsys.readouterr().out == first
    (file,) = (tmp_path / "a").glob("*/sweep.json")
    assert file.read_text() == first
    assert len(json.loads(first)["cells"]) == 4


def test_csv_has_a_row_a_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(*SMALL, "--report", str(tmp_path), "--csv") == 0

    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["cooldown"], row["agents"]) for row in rows] == [
        ("none", "1"),
        ("none", "2"),
        ("7d", "1"),
        ("7d", "2"),
    ]
    assert float(rows[0]["wait_p95_s"]) >= 0


def test_exact_runs_the_mailbox_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(*SMALL, "--report", str(tmp_path), "--json", "--exact", "--rate", "5") == 0
    exact = json.loads(capsys.readouterr().out)
    assert status(*SMALL, "--report", str(tmp_path), "--json", "--rate", "5") == 0

    assert json.loads(capsys.readouterr().out)["cells"] == exact["cells"]
    assert exact["mailbox"] == "reference"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--agents", "0"),
        ("--agents", "two"),
        ("--agents", "2,,4"),
        ("--agents", "99999999999999999999"),
        ("--agents", "\u0662"),
        ("--lease", "0s"),
        ("--lease", "10"),
        ("--lease", "-5s"),
        ("--lease", "1e9d"),
        ("--lease", "nan"),
        ("--lease", "999d"),
        ("--cooldown", "sometimes"),
        ("--cooldown", ""),
        ("--contacts", "0"),
        ("--rate", "0"),
        ("--rate", "nan"),
        ("--target", "my.mod:T"),
        ("--exact", "--target", "nowhere:T"),
        ("--json", "--csv"),
        ("--with", "/nowhere"),
        ("--policy", "/nowhere.toml"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status("--report", str(tmp_path), *arguments) == 2

    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_can_not_lease_is_not_applicable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "leaserace.harness.contract:Target"

    assert status("--report", str(tmp_path), "--exact", "--target", target) == 5
    assert "does not apply" in capsys.readouterr().err


def test_a_policy_file_sets_what_by_policy_means(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("commercial_cooldown_s = 60.0\ntransactional_cooldown_s = 5\n")
    rule = cooldown_of(BY_POLICY, read_policy(file))

    assert (rule.commercial_s, rule.transactional_s) == (60.0, 5.0)


@pytest.mark.parametrize(
    "text",
    ["commercial_cooldown_s = -1", "transactional_cooldown_s = nan", "escalate_after = 0", "x ="],
)
def test_a_policy_that_can_not_be_used_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)

    with pytest.raises(UsageError):
        read_policy(file)


@pytest.mark.parametrize("text", ["", "transactional_cooldown_s = 3.0\nreply_s = 5.0\n[aliases]\n"])
def test_a_flat_cooldown_binds_replies_of_the_real_mailbox_too(text: str, tmp_path: Path) -> None:
    """spec: C2."""
    file = tmp_path / "mine.toml"
    file.write_text(text)
    made = policy_with(file, cooldown_of("7d", PolicyFile()), tmp_path)

    assert load_policy(made).transactional_cooldown_s == 7 * 86_400


def test_lengths_are_read_and_said() -> None:
    assert [seconds_of(text) for text in ("250ms", "10s", "5m", "1.5h", "7d")] == [
        0.25,
        10.0,
        300.0,
        5400.0,
        604_800.0,
    ]
    assert [spoken(value) for value in (0.25, 10.0, 300.0, 604_800.0)] == [
        "250 ms",
        "10 s",
        "5 min",
        "7 d",
    ]


def test_the_same_sweep_gives_the_same_image(small: Sweep) -> None:
    assert sweep_image(small) == sweep_image(small)


@pytest.mark.process
def test_another_process_draws_the_same_bytes(small: Sweep) -> None:
    """No hash seed, font cache or clock shows in them."""
    here = hashlib.sha256(sweep_image(small, form="png")).hexdigest()
    code = (
        "import hashlib; from leaserace.reports.sweep_charts import sweep_image; "
        "from tests.harness.sweep.test_sweep_command import made; "
        "print(hashlib.sha256(sweep_image(made(), form='png')).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=os.environ | {"PYTHONHASHSEED": "12345"},
    )

    assert done.stdout.strip() == here


def test_the_image_has_a_row_a_cooldown_and_says_each_knee(small: Sweep) -> None:
    svg = sweep_image(small, form="svg").decode()

    for text in ("no cooldown", "cooldown by policy", "flat cooldown 7d", "Replies blocked"):
        assert f">{text}<" in svg
    assert svg.count(">10s: ") == 3


@pytest.fixture
def round_run(tmp_path: Path) -> Path:
    """A run's folder with one contention round."""
    from leaserace.harness.outcome import Contention, RunOutcome
    from leaserace.harness.verdict import Verdict

    history = contention(200, name="contention/3")
    outcome = RunOutcome(
        target="t", seed=1, agents=(3, 3), verdict=Verdict.VALID, races=(), again="leaserace gate",
        started_at="2027-01-15T08:00:00+00:00", elapsed_s=1.0,
        contention=(
            Contention(race="contention/3", agents=3, seconds=2.0, contacts=4, attempts=100,
                       grants=60, conflicts=40, deliveries=60),
        ),
    )  # fmt: skip
    write_all(outcome, history, tmp_path / "run", only=("verdict.json",), latest=False)
    return tmp_path / "run"


def test_real_rounds_stand_beside_what_the_model_gives_for_their_load(
    round_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (measured,) = read_rounds(round_run)

    operations = pictures(contention(200, name="contention/3"))["contention/3"].operations
    claims = [op for op in operations if op.f == "acquire"]
    refused = sum(op.code == "contact_owned" for op in claims)
    assert measured.conflict_rate == pytest.approx(refused / len(claims))
    assert measured.expected_rate is not None
    assert 0 < measured.expected_rate < 1
    assert measured.refused_wait_p95_s > 0
    assert status(*SMALL, "--report", str(tmp_path / "out"), "--with", str(round_run)) == 0
    assert f"3 agents: {measured.conflict_rate:.0%} of 100 claims" in capsys.readouterr().out
    (svg,) = (tmp_path / "out").glob("*/sweep.svg")
    assert "real contention round" in svg.read_text()


def load(hold_us: int, after_us: int) -> Load:
    return Load(holds_us=[hold_us], after_release_us=[after_us], after_refusal_us=[after_us])


def test_the_model_of_a_round_refuses_what_the_others_hold() -> None:
    """With many contacts a claim meets the share of them that the others hold."""
    few = expected_rate(load(10_000, 10_007), agents=2, contacts=10)

    assert few == pytest.approx(0.05, abs=0.02)
    assert expected_rate(load(10_000, 10_007), agents=1, contacts=1) == 0.0
    assert expected_rate(load(10_000, 1_003), agents=2, contacts=1) > 0.6
