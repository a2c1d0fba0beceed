"""``--habit`` on the command line: what it prints, what it refuses, and that a replay repeats it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leaserace.harness import cli
from leaserace.harness.habits import HABITS

EXPLORE = ("explore", "--seed", "1", "--variant", "plain")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def status(*arguments: str) -> int:
    return cli._status(list(arguments))


def test_all_habits_are_listed_with_their_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """spec: A3, K9"""
    assert status("list", "--habits") == 0
    text = capsys.readouterr().out
    for name in HABITS:
        assert f"\n{name}: " in f"\n{text}"
    assert "spec         K9, K1, A1; public reports B57, B58, B61" in text

    assert status("list", "--habits", "--json") == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert found.keys() == HABITS.keys()
    assert found["uuid-per-call"]["doubles"]
    assert not found["old-token"]["doubles"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gate", "--habit", "sales"), "write WHO=HABIT"),
        (("gate", "--habit", "sales=uuid"), "did you mean uuid-per-call?"),
        (("gate", "--habit", "billing=old-token"), "there are sales, support, digest"),
        (("gate", "--habit", "all=old-token", "--seconds", "0"), "give --seconds above 0"),
        (("explore", "--habit", "sales=uuid"), "did you mean uuid-per-call?"),
        (("explore", "--habit", "optout=old-token"), "no agent is called 'optout'"),
        (("explore", "--subject", "prog.ASL", "--habit", "all=old-token"), "have habits"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert said in captured.err


def test_mail_that_a_habit_doubles_is_counted_and_its_schedule_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """spec: K9, O1: exit status 0, since no rule of the mailbox is broken."""
    assert status(*EXPLORE, "--habit", "sales=uuid-per-call", "--schedules", "150") == 0
    text = capsys.readouterr().out
    assert "mail arrived again, and no rule is broken" in text
    (line,) = [each for each in text.splitlines() if "the first   leaserace replay" in each]
    schedule = line.split()[-1]
    assert "~uuid-per-call" in schedule

    assert status("replay", schedule) == 0
    story = capsys.readouterr().out
    assert re.search(r"asked for under [2-9] keys; the mailbox kept every rule", story)
    assert "under another key" in story or "under another\n" in story
    assert "duplicate, asked for: here" in story


def test_mail_after_the_window_of_its_key_is_told_as_that(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """spec: O3, K5"""
    arguments = (*EXPLORE, "--habit", "sales=daily-after-window", "--schedules", "20", "--json")
    assert status(*arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["doubled"] > 0
    assert status("replay", found["doubling"]) == 0
    assert "asked for after the window of its key" in capsys.readouterr().out


def test_a_habit_that_the_mailbox_stops_doubles_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """spec: K2, S3: as long as nobody waits for the end of a key's window."""
    inside = (*EXPLORE, "--deadlines", "0", "--schedules", "150", "--json")
    for name in ("well-behaved", "blind-retry", "old-token", "new-run-id-with-checkpoints"):
        assert status(*inside, "--habit", f"all={name}") == 0
        found = json.loads(capsys.readouterr().out)
        assert found["doubled"] == 0, name
        assert found["by_rule"] == {}
