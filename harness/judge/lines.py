"""Lines of a file of any size, each with its number and offset, in bounded memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from ..contract import UsageError

BLOCK_BYTES = 1 << 17
"""What is made of one block should stay in the processor's cache: a megabyte takes twice as long."""
LINE_MAX_BYTES = 4 << 20
"""A longer line is skipped without being kept; it is counted as unreadable."""
GZIP_MAGIC = b"\x1f\x8b"
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


class Chunk(NamedTuple):
    """Some lines of a file, one after the other; or one line that could not be had.

    Attributes:
        number: Of its first line, from 1.
        offset: Where that begins, in bytes of the unpacked file.
        lines: Without their newlines.
        problem: Why the one line could not be had (`lines` is empty then), or "".
        whole: False if the file ended before the newline of the last line.
    """

    number: int
    offset: int
    lines: list[bytes]
    problem: str = ""
    whole: bool = True


def open_log(path: Path) -> BinaryIO:
    """Open a file for reading, unpacked if it is gzip's.

    Raises:
        UsageError: It can't be opened, is empty, or is not UTF-8 by its first bytes.
    """
    try:
        file = path.open("rb")
        head = file.read(4)
        file.seek(0)
    except OSError as error:
        raise UsageError(f"{str(path)!r} can't be read: {error.strerror or error}") from error
    if not head:
        file.close()
        raise UsageError(f"{path.name}: the file is empty (0 bytes)")
    if head[:2] in UTF16_BOMS:
        file.close()
        raise UsageError(
            f"{path.name}:1: UTF-16, not UTF-8: convert it first (iconv -f UTF-16 -t UTF-8)"
        )
    if head[:2] == GZIP_MAGIC:
        file.close()
        return cast("BinaryIO", gzip.open(path))
    return file


class Span(NamedTuple):
    """A part of a file that begins and ends with whole lines.

    Attributes:
        start: Its first byte.
        end: The byte behind its last, or -1 for the file's end.
    """

    start: int = 0
    end: int = -1


WHOLE = Span()
"""All of a file."""


def split(path: Path, parts: int) -> list[Span]:
    """Cut a plain file into parts of about one size, between lines.

    Args:
        path: The file.
        parts: How many, at least 1; there may be fewer where lines are long.
    """
    size = path.stat().st_size
    cuts = [0]
    with path.open("rb") as file:
        for part in range(1, parts):
            file.seek(size * part // parts)
            if file.readline(LINE_MAX_BYTES)[-1:] == b"\n" and cuts[-1] < file.tell() < size:
                cuts.append(file.tell())
    return [Span(start, end) for start, end in zip(cuts, [*cuts[1:], -1], strict=True)]


def read_chunks(
    file: BinaryIO, span: Span = WHOLE, *, max_bytes: int = LINE_MAX_BYTES
) -> Iterator[Chunk]:
    """All lines of a file, a block at a time; memory stays below a few times `max_bytes`.

    Args:
        file: Opened for bytes.
        span: Which part of it; line numbers count from the part's begin.
        max_bytes: A longer line is not kept; it comes as a problem.
    """
    number, offset, rest, skipped = 1, span.start, b"", 0
    for block, problem in _blocks(file, span):
        if problem:
            yield Chunk(number, offset, [], problem, whole=False)
            return
        parts = block.split(b"\n")
        parts[0] = rest + parts[0]
        rest = parts.pop()
        if parts and (skipped or len(parts[0]) > max_bytes):
            size = len(parts.pop(0)) + skipped
            yield Chunk(number, offset, [], _too_long(size, max_bytes))
            number, offset, skipped = number + 1, offset + size + 1, 0
        if parts:
            yield Chunk(number, offset, parts)
            number += len(parts)
            offset += sum(map(len, parts)) + len(parts)
        if len(rest) > max_bytes:
            skipped += len(rest)
            rest = b""
    if skipped:
        yield Chunk(number, offset, [], _too_long(skipped + len(rest), max_bytes), whole=False)
    elif rest:
        yield Chunk(number, offset, [rest], whole=False)


def _blocks(file: BinaryIO, span: Span) -> Iterator[tuple[bytes, str]]:
    """Blocks of a part of the file; where it breaks off (a cut archive), why."""
    if span.start:
        file.seek(span.start)
    at = span.start
    # One piece at a time: a longer read of a cut archive would lose what came before the cut.
    read = getattr(file, "read1", file.read)
    while span.end < 0 or at < span.end:
        try:
            block = read(BLOCK_BYTES if span.end < 0 else min(BLOCK_BYTES, span.end - at))
        except (OSError, EOFError, zlib.error) as error:
            yield b"", f"the file breaks off: {error}"
            return
        if not block:
            return
        if at == 0 and block.startswith(UTF8_BOM):
            # A byte order mark is no part of the first line; blanks keep the offsets right.
            yield b"   " + block[3:], ""
        else:
            yield block, ""
        at += len(block)


def _too_long(size: int, max_bytes: int) -> str:
    return f"a line of {size:,} bytes, longer than {max_bytes:,}"


def line_at(file: BinaryIO, offset: int, *, max_bytes: int = LINE_MAX_BYTES) -> bytes:
    """The line that begins at `offset`, without its newline."""
    file.seek(offset)
    return file.readline(max_bytes).rstrip(b"\n")


__all__ = [
    "LINE_MAX_BYTES",
    "WHOLE",
    "Chunk",
    "Span",
    "line_at",
    "open_log",
    "read_chunks",
    "split",
]
