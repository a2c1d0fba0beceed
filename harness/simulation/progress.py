"""Live figures on stderr; nothing when it is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .explore import Statistics


@contextmanager
def live(label: str) -> Iterator[Callable[[str], None]]:
    """A line that is kept up to date while the block runs.

    Args:
        label: What stands before the text that is shown.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(label) as status:

        def show(text: str) -> None:
            status.update(f"{label}: {text}")

        yield show


def figures(found: Statistics) -> str:
    """The statistics in one line."""
    findings = sum(found.by_rule.values())
    return (
        f"{found.schedules:,} schedules, {found.rate:,.0f}/s, about {found.distinct:,} distinct, "
        f"{found.steps:,} steps, {findings} finding{'' if findings == 1 else 's'}"
    )
