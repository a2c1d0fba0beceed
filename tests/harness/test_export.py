"""A history in other checkers' forms, so that they can check us."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leaserace.harness.contract import UsageError
from leaserace.harness.elle import counter_of_sends, elle_tokens, set_of_sends
from leaserace.harness.export import jepsen, porcupine, write
from leaserace.harness.export_command import export
from leaserace.harness.history import AnyEvent, DeliveryEvent, History
from leaserace.harness.judge.run import judge_log
from tests.harness.judge.logs import GOOD, mapping, row
from tests.harness.judge.logs import write as write_log


def history(tmp_path: Path, *rows: dict[str, Any]) -> History:
    """The history of a log."""
    return judge_log(write_log(tmp_path / "log.jsonl", *rows), mapping(), jobs=1).history


STALE = (
    *GOOD[:5],
    row(3_500, "sent", "sales-01", token=1, key="k3", mid="<m3@x>"),
    *GOOD[5:],
)


def test_a_jepsen_history_pairs_each_invoke_with_its_end(tmp_path: Path) -> None:
    lines = list(jepsen(history(tmp_path, *GOOD)))

    assert [line["index"] for line in lines] == list(range(len(lines)))
    open_: dict[int, str] = {}
    for line in lines:
        if line["type"] == "invoke":
            assert line["process"] not in open_
            open_[line["process"]] = line["f"]
        else:
            assert open_.pop(line["process"]) == line["f"]
    assert not open_


def test_a_jepsen_refusal_carries_its_code(tmp_path: Path) -> None:
    lines = list(jepsen(history(tmp_path, *GOOD, row(201_000, "denied", "b", "omar@example.com"))))

    assert [line["error"] for line in lines if line["type"] == "fail"] == ["contact_owned"]


def elle_of(events: Iterable[AnyEvent]) -> list[dict[str, Any]]:
    return list(elle_tokens(events, Counter()))


def test_elle_sees_a_stale_send_as_a_read_of_an_old_list(tmp_path: Path) -> None:
    """spec: S3; `test_export_checked` finds the cycle."""
    told = [line["value"] for line in elle_of(history(tmp_path, *STALE)) if line["type"] == "ok"]
    jane = [each for value in told for each in value if each[1] == "jane@acme.com"]

    assert ["r", "jane@acme.com", [1]] in jane[jane.index(["append", "jane@acme.com", 2]) :]


def test_each_token_is_appended_once_and_the_last_read_holds_all(tmp_path: Path) -> None:
    """spec: L4."""
    told = [line["value"] for line in elle_of(history(tmp_path, *GOOD)) if line["type"] == "ok"]
    appended = [(key, value) for each in told for kind, key, value in each if kind == "append"]

    assert len(appended) == len(set(appended)) == 3
    assert told[-1] == [["r", "jane@acme.com", [1, 2]], ["r", "omar@example.com", [1]]]


def test_a_token_granted_twice_is_left_out_and_counted(tmp_path: Path) -> None:
    """Elle takes elements for unique."""
    left: Counter[str] = Counter()
    events = history(tmp_path, *GOOD[:5], row(70_000, "granted", "b", token=2), *GOOD[-1:])

    told = list(elle_tokens(events, left))

    assert [line["value"] for line in told if line["value"] == [["append", "jane@acme.com", 2]]]
    assert left["acquire ok"] == 1


def test_elle_invokes_know_no_answers(tmp_path: Path) -> None:
    for line in elle_of(history(tmp_path, *STALE)):
        if line["type"] == "invoke":
            assert all(value is None for kind, _, value in line["value"] if kind == "r")


def test_tries_of_one_send_are_one_step_of_the_counter(tmp_path: Path) -> None:
    """spec: K2; a second arrival makes it stand too high."""
    once = list(history(tmp_path, *GOOD, row(201_000, "replayed", "a", key="k1", mid="<m1@x>")))
    twice = [*once, *(event for event in once if isinstance(event, DeliveryEvent))]

    steps, more = list(counter_of_sends(once)), list(counter_of_sends(twice))

    adds = [line for line in steps if line["f"] == "add" and line["type"] == "ok"]
    assert (len(adds), steps[-1]["value"], more[-1]["value"]) == (2, 2, 4)


def test_the_set_of_sends_ends_with_what_arrived(tmp_path: Path) -> None:
    events = list(history(tmp_path, *GOOD))
    lost = [event for event in events if not isinstance(event, DeliveryEvent)]

    full, empty = list(set_of_sends(events)), list(set_of_sends(lost))

    assert full[-1]["value"] == [0, 1]
    assert empty[-1]["value"] == []
    assert [line["f"] for line in full].count("add") == 4


def test_what_never_ended_returns_after_all_others_in_porcupines_form(tmp_path: Path) -> None:
    events = list(history(tmp_path, *GOOD))
    cut = [event for event in events if not (event.t > events[3].t)]

    operations = list(porcupine(cut))

    last = max(event.t for event in cut)
    assert all(op["Return"] == last + 1 for op in operations if op["Output"]["Unknown"])
    assert all(op["Call"] <= op["Return"] for op in operations)


def test_the_files_are_written_and_say_what_they_leave_out(tmp_path: Path) -> None:
    files = write(history(tmp_path, *GOOD), tmp_path / "out")

    assert [path.name for path in files] == [
        "jepsen.jsonl",
        "elle-tokens.json",
        "set-sends.json",
        "counter-sends.json",
        "porcupine.jsonl",
        "porcupine_model.go",
        "export.json",
    ]
    assert json.loads((tmp_path / "out/elle-tokens.json").read_bytes())
    left = json.loads((tmp_path / "out/export.json").read_bytes())
    assert left == {"left out of elle-tokens.json": {}}
    for line in (tmp_path / "out/porcupine.jsonl").read_bytes().splitlines():
        assert set(json.loads(line)) == {"ClientId", "Input", "Call", "Output", "Return"}


def test_the_command_gives_each_race_a_folder_of_its_own(tmp_path: Path) -> None:
    history(tmp_path, *GOOD).save(tmp_path / "history.jsonl")

    result = CliRunner().invoke(export, [str(tmp_path), "--to", "elle"], catch_exceptions=False)

    assert result.exit_code == 0
    assert (tmp_path / "export/001-log/elle-tokens.json").exists()
    assert not (tmp_path / "export/001-log/jepsen.jsonl").exists()


@pytest.mark.parametrize("text", [None, "rubbish\nmore\n", ""], ids=["absent", "rubbish", "empty"])
def test_what_is_no_history_is_refused_in_one_line(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "history.jsonl").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError) as caught:
        CliRunner().invoke(export, [str(tmp_path)], catch_exceptions=False, standalone_mode=False)

    assert "\n" not in str(caught.value)
