"""Live figures on stderr; nothing when it is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .explore import Statistics

if TYPE_CHECKING:
    from rich.status import Status


class Line:
    """A line on the terminal that is kept up to date, or none.

    Args:
        label: What stands before the text that is shown.
        status: What draws it, or None.
    """

    def __init__(self, label: str, status: Status | None = None) -> None:
        self._label = label
        self._status = status

    def show(self, text: str) -> None:
        """Put this text there."""
        if self._status is not None:
            self._status.update(f"{self._label}: {text}")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the line away while the block prints."""
        if self._status is not None:
            self._status.stop()
        try:
            yield
        finally:
            if self._status is not None:
                self._status.start()


@contextmanager
def live(label: str) -> Iterator[Line]:
    """A line that is kept up to date while the block runs.

    Args:
        label: What stands before the text that is shown.
    """
    if not sys.stderr.isatty():
        yield Line(label)
        return
    from rich.console import Console

    with Console(stderr=True).status(label) as status:
        yield Line(label, status)


def figures(found: Statistics) -> str:
    """The statistics in one line."""
    findings = sum(found.by_rule.values())
    return (
        f"{found.schedules:,} schedules, {found.rate:,.0f}/s, about {found.distinct:,} distinct, "
        f"{found.steps:,} steps, {findings} finding{'' if findings == 1 else 's'}"
    )
