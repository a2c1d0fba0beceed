"""Pieces of HTML that every section of the page is made of."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from leaserace.harness.verdict import Verdict

from .text import visible


def escape(text: object) -> str:
    """The text for any place in HTML, an attribute included."""
    return html.escape(visible(text))


def section(name: str, title: str, body: str) -> str:
    """A section with its heading; the navigation leads to its name."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{escape(title)}</h2>\n{body}\n</section>'
    )


def command_line(command: str) -> str:
    """A command to be copied; it is folded between words, not behind a dash."""
    words = " ".join(f"<span>{escape(each)}</span>" for each in command.split(" "))
    return (
        f'<div class="again"><code>{words}</code>'
        '<button type="button" class="copy" hidden>Copy</button></div>'
    )


def verdict_class(verdict: Verdict) -> str:
    """The verdict as a class of the style sheet."""
    return verdict.value.replace(" ", "-")


def word(verdict: Verdict) -> str:
    """The verdict in its colour."""
    return f'<span class="word {verdict_class(verdict)}">{escape(verdict.value)}</span>'


def wide_table(columns: Sequence[str], body: str, numbers: Sequence[str] = ()) -> str:
    """A table as wide as the page; its rows are made by `wide_row`."""
    head = "".join(
        f'<th scope="col"{" class=n" if name in numbers else ""}>{escape(name)}</th>'
        for name in columns
    )
    return (
        f'<div class="scroll"><table class="wide"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def wide_row(*cells: tuple[str, str], bad: Iterable[str] = (), numbers: Iterable[str] = ()) -> str:
    """A row; each cell repeats its column's name, for phones, where rows become cards.

    There a cell lays out side by side what it holds, so more than a text is one piece.
    """
    marks = dict.fromkeys(bad, "bad")
    made = []
    for name, value in cells:
        kinds = " ".join(filter(None, ["n" if name in numbers else "", marks.get(name, "")]))
        held = f"<div>{value}</div>" if "<" in value else value
        made.append(
            f'<td data-label="{escape(name)}"{f" class={kinds!r}" if kinds else ""}>{held}</td>'
        )
    return f"<tr>{''.join(made)}</tr>"


def joints(text: object) -> str:
    """A name that may be folded behind its dots and underscores, before it is broken anywhere else."""
    return _folding(escape(text))


def ticks(text: str) -> str:
    """The text with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", lambda code: f"<code>{_folding(code[1])}</code>", escape(text))


def _folding(escaped: str) -> str:
    return re.sub(r"([._])(?=\w)", r"\1<wbr>", escaped)


def race_link(race: str, shown: str) -> str:
    """A way to a race in the timeline."""
    return f'<a href="#timeline" data-race="{escape(race)}">{joints(shown)}</a>'
