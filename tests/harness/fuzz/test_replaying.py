"""`leaserace replay` takes the fuzzer's plans too."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaserace.harness import cli
from tests.harness.fuzz.support import REFERENCE, plan_of, twin

STALE_RELEASE = plan_of("a.acquire,time.lease-after,b.acquire,a.release").to_text()


def replay(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(["replay", *arguments])
    return int(str(ended.value.code))


def test_a_plan_shows_its_finding_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, file = twin("release_token"), tmp_path / "test_it.py"

    assert replay(STALE_RELEASE, "--target", target, "--as-test", str(file)) == 1

    out = capsys.readouterr().out
    assert "4. sales-01 releases the contact" in out
    assert f"leaserace replay --target {target} {STALE_RELEASE}" in out
    assert STALE_RELEASE in file.read_text(encoding="utf-8")


def test_a_plan_without_finding_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(STALE_RELEASE) == 0
    assert "no finding: 4 steps" in capsys.readouterr().out


def test_a_plan_may_stand_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.txt"
    path.write_text(f"{STALE_RELEASE}\n", encoding="utf-8")

    assert replay(str(path), "--target", REFERENCE) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((STALE_RELEASE[:-1],), "is cut or changed"),
        (("lf2/x/y/z",), "is of version 'lf2'"),
        ((STALE_RELEASE, "--shrink"), "--shrink is for schedules"),
        (
            (STALE_RELEASE, "--target", twin("release_token"), "--as-test", "/dev/null/x.py"),
            "can't write the test '/dev/null/x.py'",
        ),
    ],
)
def test_what_can_not_be_played_ends_in_one_line(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = replay(*arguments)

    err = capsys.readouterr().err
    assert status == 2
    assert said in err
    assert err.count("\n") == 1
