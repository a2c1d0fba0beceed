"""SIGTERM as an exception, so that whoever is told to end ends what it started."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Terminated(SystemExit):
    """SIGTERM came; the exit status is the shell's for it."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)


@contextmanager
def terminated_as_exception() -> Iterator[None]:
    """Raise `Terminated` in the main thread when SIGTERM comes while the block runs."""
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - a handler's form
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the end must not be cut short
    raise Terminated
