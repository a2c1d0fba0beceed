"""The command ``layers``: its files, its exit status, its bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaserace.harness import cli
from leaserace.harness.contract import UsageError
from leaserace.harness.layers import parts
from leaserace.reference_impl.layers import LAYERS, Application, LayeredTarget

SMALL = ("--sends", "20", "--habit", "well-behaved")


def status(*arguments: str) -> int:
    return cli._status(["layers", *arguments])


def test_it_prints_the_matrix_and_writes_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "deep" / "charts"
    assert status(*SMALL, "--out", str(folder)) == 0
    text = capsys.readouterr().out
    assert "well-behaved" in text
    assert "holds" in text
    assert {each.name for each in folder.iterdir()} == {
        "layers.csv",
        "layers.json",
        "layers.png",
    }


def test_files_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert status(*SMALL, "--out", str(tmp_path / name)) == 0
    for name in ("layers.csv", "layers.json", "layers.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_json_on_stdout_is_only_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(*SMALL, "--json") == 0
    out = capsys.readouterr().out
    assert [row["name"] for row in json.loads(out)["rows"]] == ["well-behaved"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--habit", "uuid-per-cal"), "uuid-per-call"),
        (("--sends", "3"), "--sends"),
        (("--sends", "many"), "--sends"),
        (("--seed", "1.5"), "--seed"),
    ],
)
def test_bad_input_is_named_with_the_remedy(
    arguments: tuple[str, ...], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(*arguments) == 2
    assert part in capsys.readouterr().err


def test_a_folder_that_can_not_be_written_to_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert status(*SMALL, "--out", str(tmp_path / "file" / "charts")) == 2
    assert "can't be written to" in capsys.readouterr().err


def test_parts_nobody_offers_are_named() -> None:
    with pytest.raises(UsageError, match="reference"):
        parts.load_parts("nobodys")


class Leaky:
    """Parts whose keys never join anything."""

    def target(self, *, key: bool, lease: bool) -> LayeredTarget:
        return LAYERS.target(key=False, lease=lease)

    def application(self, clock: object) -> Application:
        return LAYERS.application(clock)  # type: ignore[arg-type]


def test_a_claim_that_does_not_hold_is_exit_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command can fail: a mailbox without keys is told."""
    monkeypatch.setattr("leaserace.harness.layers.commands.load_parts", Leaky)
    assert status(*SMALL) == 1
    assert "FAILS" in capsys.readouterr().out
