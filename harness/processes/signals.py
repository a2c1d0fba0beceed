"""Being told to end: SIGTERM and SIGHUP become an exception, so that everything is given back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Terminated(SystemExit):
    """The process was told to end; its exit status is the shell's 128 + signal."""


@contextmanager
def terminated_as_exception() -> Iterator[None]:
    """While the block runs, SIGTERM and SIGHUP raise `Terminated` in the main thread."""
    numbers = [signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])
    before = {number: signal.signal(number, _raise) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated(128 + number)
