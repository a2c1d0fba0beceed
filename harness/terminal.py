"""How a table is drawn for a terminal or a file: into text, never straight out."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.box import Box
    from rich.console import Console

_RULE_UNDER_HEAD = "\n".join(["    ", "    ", " -- ", "    ", "    ", "    ", "    ", "    "])


def console_for(width: int, *, colour: bool) -> Console:
    """A console that draws into text, in colour if it is asked for; nothing in it is markup.

    Args:
        width: Characters in a line.
        colour: Whether to colour.
    """
    from rich.console import Console

    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def drawn(console: Console) -> str:
    """What was drawn on a console of `console_for`, without blanks at the ends of lines."""
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def plain_box() -> Box:
    """No lines but the one under the headers."""
    from rich.box import Box

    return Box(_RULE_UNDER_HEAD, ascii=True)
