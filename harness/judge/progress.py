"""How far a long work is, as one line on stderr; nothing where it is no terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .run import Progress

WIDTH = 30


@contextmanager
def progress(stream: TextIO | None = None) -> Iterator[Progress]:
    """Shows what is told to it while the block runs.

    Args:
        stream: Where; None for stderr.
    """
    stream = stream or sys.stderr
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda *_: None
        return

    def show(what: str, share: float) -> None:
        filled = round(share * WIDTH)
        stream.write(f"\r{what:10} [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%}\033[K")
        stream.flush()

    try:
        yield show
    finally:
        stream.write("\r\033[K")
        stream.flush()


__all__ = ["progress"]
