"""Reading a file of any shape line by line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.judge import lines
from leaserace.harness.judge.lines import line_at, open_log, read_chunks, split


def read(data: bytes, **more: int) -> list[tuple[int, int, bytes, str]]:
    """Number, offset, text and problem of each line."""
    found = []
    for chunk in read_chunks(io.BytesIO(data), **more):  # type: ignore[arg-type]
        if chunk.problem:
            found.append((chunk.number, chunk.offset, b"", chunk.problem))
        offset = chunk.offset
        for number, text in enumerate(chunk.lines, start=chunk.number):
            found.append((number, offset, text, ""))
            offset += len(text) + 1
    return found


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 20])
def test_lines_have_their_number_and_offset_whatever_the_blocks(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", block)

    found = read(b"a\n\nbcd\nlast")

    assert [each[:3] for each in found] == [
        (1, 0, b"a"),
        (2, 2, b""),
        (3, 3, b"bcd"),
        (4, 7, b"last"),
    ]


@pytest.mark.parametrize("block", [1, 4, 10])
def test_a_line_that_is_too_long_is_told_and_not_kept(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", block)

    found = read(b"ok\n" + b"x" * 100 + b"\nok again\n", max_bytes=10)

    assert [each[0] for each in found] == [1, 2, 3]
    assert found[1][3] == "a line of 100 bytes, longer than 10"
    assert found[2][1:3] == (104, b"ok again")


def test_a_line_of_100_mb_costs_no_100_mb(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b"{}\n")
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b"\n{}\n")
    largest = 0
    told = []

    with open_log(path) as file:
        for chunk in read_chunks(file):
            largest = max(largest, sum(map(len, chunk.lines)))
            told.append(chunk.problem)

    assert largest < 2 * lines.LINE_MAX_BYTES
    assert "a line of 104,857,600 bytes, longer than 4,194,304" in told


def test_a_cut_archive_is_told(tmp_path: Path) -> None:
    whole = gzip.compress(b"line\n" * 10_000)
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])

    with open_log(path) as file:
        problems = [chunk.problem for chunk in read_chunks(file) if chunk.problem]

    assert len(problems) == 1
    assert problems[0].startswith("the file breaks off")


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert read(b"\xef\xbb\xbf{}\nb\n")[0][:3] == (1, 0, b"   {}")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty (0 bytes)"),
        ("{}".encode("utf-16"), "UTF-16, not UTF-8"),
    ],
)
def test_what_can_not_be_read_at_all_is_one_clear_line(
    data: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)

    with pytest.raises(UsageError, match=r"log\.jsonl") as caught:
        open_log(path)

    assert said in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no-such\.jsonl"):
        open_log(tmp_path / "no-such.jsonl")


def test_the_parts_of_a_file_are_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(f"line {number}\n".encode() for number in range(1_000)))

    spans = split(path, 7)

    assert len(spans) == 7
    texts = []
    for span in spans:
        with open_log(path) as file:
            for chunk in read_chunks(file, span):
                texts.extend(chunk.lines)
    assert texts == path.read_bytes().split(b"\n")[:-1]


def test_a_line_is_found_again_by_its_offset() -> None:
    assert line_at(io.BytesIO(b"one\ntwo\nthree"), 4) == b"two"
