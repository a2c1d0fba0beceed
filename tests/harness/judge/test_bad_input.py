"""Bad input: one clear line with file, line and field; what can be read is judged, and doubted."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.judge import run
from leaserace.harness.judge.run import judge_log
from leaserace.harness.verdict import Verdict

from .logs import GOOD, judged, mapping, row, rules, write

NO_UTF8 = b'{"t": 1, "e": "sent", "who": "\xff\xfe", "to": "a@b.com"}'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"\x00\x01\x02\x7fELF", "log.jsonl:1: not JSON"),
        (b"not a log", "log.jsonl:1: not JSON"),
        (NO_UTF8, "log.jsonl:1: not"),
        (b'{"e": "sent", "to": "a@b.com"}', "log.jsonl:1: field 't' (time) is missing"),
        (
            b'{"t": "NaN", "e": "sent", "to": "a@b.com"}',
            "log.jsonl:1: field 't' (time): 'NaN' is no",
        ),
        (b'{"t": NaN, "e": "sent", "to": "a@b.com"}', "log.jsonl:1: not JSON"),
        (
            b'{"t": 5, "e": "sent", "to": "a@b.com"}',
            "field 't' (time): '5' is no time between 1980",
        ),
        (b'{"t": 1796000000000, "e": "sent", "to": 7}', "field 'to' (recipient): is no address"),
        (
            b'{"t": 1796000000000, "e": "sent", "to": "a@b.com", "token": "x"}',
            "field 'token' (token): 'x' is no whole number",
        ),
        (
            b'{"t": 1796000000000, "e": "granted", "to": "a@b.com", "until": "NaN"}',
            "field 'until' (expires_at): 'NaN' is no time",
        ),
        (b'{"t": 1796000000000, "to": "a@b.com"}', "field 'e' (event) is missing"),
        (b"[", "one JSON value over many lines is not JSON Lines"),
        (b'{"t": 1796000000000, "e": "opened", "to": "a@b.com"}', "no line means anything"),
    ],
    ids=range(13),
)
def test_a_log_of_which_nothing_can_be_used_is_one_line_with_the_place(
    line: bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        judged(tmp_path, line)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_code_asks_for_its_meaning(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"field 'why' \(code\): 'LOCKED' is no code; say under"):
        judged(
            tmp_path,
            row(0, "tried", "sales-01", why="LOCKED"),
            fields={"code": "why"},
            events={"tried": "acquire"},
        )


BREAKS: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda data: data[:-20],
    "rubbish in the middle": lambda data: data.replace(b"\n", b"\n\x00\xff\n", 1),
    "no UTF-8": lambda data: data + NO_UTF8 + b"\n",
    "a line of 100 MB": lambda data: data + b'{"x": "' + b"y" * 100_000_000 + b'"}\n',
    "a time that is none": lambda data: (
        data + json.dumps({"t": "NaN", "e": "sent", "who": "a", "to": "a@b.com"}).encode() + b"\n"
    ),
}


@pytest.mark.parametrize("how", BREAKS)
def test_a_partly_readable_log_is_at_best_unknown_and_says_from_where(
    how: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "log.jsonl", *GOOD)
    path.write_bytes(BREAKS[how](path.read_bytes()))

    outcome = judge_log(path, mapping(), jobs=1).outcome

    first = outcome.notices[0]
    assert outcome.verdict is Verdict.UNKNOWN
    assert first.startswith("log.jsonl:")
    assert "From line" in first
    assert "at best unknown" in first


def test_a_finding_in_a_partly_readable_log_stays_a_finding(tmp_path: Path) -> None:
    answer = judged(
        tmp_path,
        row(0, "granted", "sales-01", token=2),
        "rubbish",
        row(9_000, "granted", "support-01", token=1),
    )

    assert answer.outcome.verdict is Verdict.INVALID
    assert "tokens.rise" in rules(answer)


def test_what_a_missing_line_could_excuse_is_no_finding(tmp_path: Path) -> None:
    """The rubbish may have been the delivery; that a lease was given twice, it can not excuse."""
    lost = (*GOOD[:2], "rubbish", *GOOD[3:])
    holed = judged(tmp_path, *lost)
    whole = judged(tmp_path, *GOOD[:2], *GOOD[3:])

    assert whole.outcome.verdict is Verdict.INVALID
    assert holed.outcome.verdict is Verdict.UNKNOWN
    assert not rules(holed)
    assert not holed.traced
    told = " ".join(holed.outcome.notices)
    assert "may rest on a line that could not be read, and is not counted: sends.arrived 1." in told
    assert "Perhaps: sends.arrived: " in told


def test_a_log_that_is_only_cut_at_its_end_has_its_findings(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", *GOOD[:2], *GOOD[3:])
    path.write_bytes(path.read_bytes() + b'{"t": 17960')

    answer = judge_log(path, mapping(), jobs=1)

    assert rules(answer) == ["sends.arrived"]


@pytest.mark.parametrize("span_bytes", [120, 250, 400])
def test_line_numbers_count_unreadable_lines_of_earlier_parts(
    span_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SPAN_BYTES", span_bytes)
    stale = row(62_000, "granted", "b", "omar@example.com", token=1)
    path = write(tmp_path / "log.jsonl", *GOOD[:3], "x" * 200, *GOOD[3:], stale)

    answer = judge_log(path, mapping(), jobs=1)

    (traced,) = [each for each in answer.traced if each.rule == "tokens.rise"]
    assert {decision.line for decision in traced.decisions} == {10, 11}
    assert answer.outcome.races[0].figures["lines"] == 11


def test_a_long_stretch_of_rubbish_ends_the_reading(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", *GOOD)
    with path.open("ab") as file:
        file.write(b"\x80\x81\n" * 30_000)

    outcome = judge_log(path, mapping(), jobs=1).outcome

    assert outcome.verdict is Verdict.UNKNOWN
    assert "Reading was given up at line 10,009" in " ".join(outcome.notices)


def test_a_cut_archive_is_judged_as_far_as_it_goes(tmp_path: Path) -> None:
    more = [
        row(300_000 + n, "granted", "sales-01", f"{n * 7919 % 10_007}@x.com", token=1)
        for n in range(2_000)
    ]
    plain = write(tmp_path / "log.jsonl", *GOOD, *more)
    packed = gzip.compress(plain.read_bytes())
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(packed[:-200])

    outcome = judge_log(path, mapping(), jobs=1).outcome

    assert outcome.verdict is Verdict.UNKNOWN
    assert "the file breaks off" in outcome.notices[0]


def test_a_mapping_that_names_a_field_no_line_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        judged(tmp_path, *GOOD, fields={"owner": "held_by"}, lenient=False)

    assert str(caught.value) == (
        "log.jsonl: the mapping says that owner stands in the field 'held_by', "
        "but none of its 9 lines has that field"
    )


def test_a_field_that_is_null_in_every_line_is_not_absent(tmp_path: Path) -> None:
    rows = [each | {"held_by": None} for each in GOOD]

    answer = judged(tmp_path, *rows, fields={"owner": "held_by"}, lenient=False)

    assert answer.outcome.verdict is Verdict.VALID


def test_a_csv_without_a_mapped_column_is_refused_with_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("t,e,who,to\n1796000000000,sent,a,b@c.com\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"log\.csv:1: the mapping names the column 'token'"):
        judge_log(path, mapping(), jobs=1)


def csv_of(rows: tuple[dict[str, Any], ...], columns: tuple[str, ...]) -> str:
    """The rows as CSV."""
    lines = [",".join(columns)]
    lines += [",".join(str(each.get(name, "")) for name in columns) for each in rows]
    return "\n".join(lines) + "\n"


COLUMNS = ("t", "e", "who", "to", "token", "until", "key", "mid")


def test_a_csv_is_judged_like_the_same_log_in_json(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(csv_of(GOOD, COLUMNS), encoding="utf-8")

    from_csv = judge_log(path, mapping(), jobs=1)
    from_json = judged(tmp_path, *GOOD)

    assert from_csv.outcome.verdict is Verdict.VALID
    assert from_csv.judged == from_json.judged
    assert [race.observed for race in from_csv.outcome.races] == [
        race.observed for race in from_json.outcome.races
    ]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("1796000000000,sent\n", "log.csv:11: 2 columns, 8 expected"),
        ("nan,sent,a,b@c.com,,,k,m\n", "field 't' (time): 'nan' is no time"),
        ("1796000000000,sent,a,b@c.com,x,,k,m\n", "field 'token' (token): 'x' is no whole number"),
    ],
    ids=["short", "nan", "token"],
)
def test_a_bad_row_of_a_csv_is_named(bad: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(csv_of(GOOD, COLUMNS) + bad, encoding="utf-8")

    outcome = judge_log(path, mapping(), jobs=1).outcome

    assert outcome.verdict is Verdict.UNKNOWN
    assert said in outcome.notices[0]


def test_what_a_log_says_is_data_and_never_run(tmp_path: Path) -> None:
    evil = "'; import os; os.system('touch pwned') #<script>alert(1)</script>{user}\x1b[2J"
    answer = judged(
        tmp_path,
        *GOOD,
        row(300_000, "granted", evil, f"{evil}@x.com", token=1),
        row(301_000, "granted", "b", f"{evil}@x.com", token=1),
    )

    assert answer.outcome.verdict is Verdict.INVALID
    assert not (tmp_path / "pwned").exists()


def test_rubbish_with_empty_lines_is_said_to_be_rubbish(tmp_path: Path) -> None:
    """Not that a field is absent from lines that are none."""
    path = write(tmp_path / "log.jsonl", b"\x00\xff", b"", b"", b"", b"\x80")

    with pytest.raises(UsageError, match=r"log\.jsonl:1: not"):
        judge_log(path, mapping(lenient=False), jobs=1)
