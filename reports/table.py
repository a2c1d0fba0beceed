"""The table a run ends with, on a terminal of any width or in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaserace.harness.outcome import RunOutcome
from leaserace.harness.terminal import console_for, drawn, plain_box
from leaserace.harness.verdict import Verdict

from .agent import print_agent, without_agent
from .judged import gaps, noun, shown
from .rows import Row, canary_sentence, headline, rows, verdict_sentences
from .text import listed, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDE = 116
"""Columns from which on the table has a column for what would have masked a fault."""

MASKS_MAX = 8
"""Races above which masks are told of those only that failed or are unknown; files tell all."""
_DOUBTED = (Verdict.INVALID, Verdict.UNKNOWN)


STYLE = {
    Verdict.VALID: "green",
    Verdict.INVALID: "bold red",
    Verdict.UNKNOWN: "bold yellow",
    Verdict.NOT_APPLICABLE: "dim",
    Verdict.NOT_RUN: "dim",
}


def table_text(
    outcome: RunOutcome, *, width: int = 100, colour: bool = False, every_variant: bool = False
) -> str:
    """The canary's line, the table, the totals and the verdict, ready to print.

    Args:
        outcome: The run.
        width: Columns of the terminal, at least 40.
        colour: Use colours; off in a pipe.
        every_variant: One line a race, also where all variants ended alike.
    """
    console = console_for(max(40, width), colour=colour)
    lines = rows(shown(without_agent(outcome)), every_variant=every_variant)
    canary = outcome.canary
    if canary or outcome.command == "gate":
        caught = canary is not None and canary.caught
        console.print(canary_sentence(canary), "", style="" if caught else "bold red", sep="\n")
    if lines:
        console.print(_table(lines, console.width, noun(outcome)))
        _print_masks(console, lines)
        console.print()
    if outcome.agent is not None:
        print_agent(console, outcome.agent)
    console.print(headline(outcome), style=STYLE[outcome.verdict])
    for sentence in verdict_sentences(outcome):
        console.print(sentence)
    _print_gaps(console, outcome)
    return drawn(console)


def _table(lines: list[Row], width: int, noun: str) -> Table:
    from rich.table import Table

    wide = width >= WIDE
    longest = max(len(part) for row in lines for part in row.name.split(" "))
    table = Table(box=plain_box(), show_edge=False, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column(noun, overflow="fold", width=min(longest, width // 3))
    table.add_column("verdict", no_wrap=True, min_width=max(len(row.verdict) for row in lines))
    for header in ("expected", "observed") if wide else ("expected, observed",):
        table.add_column(header, overflow="fold", ratio=3)
    for header in ("dupl.", "2x", "rounds"):
        table.add_column(header, justify="right", no_wrap=True, min_width=len(header))
    if wide:
        table.add_column("would be masked by", overflow="fold", ratio=3)
    table.expand = True
    for row in lines:
        table.add_row(*_cells(row, wide=wide))
    return table


def _cells(row: Row, *, wide: bool) -> list[Text]:
    from rich.text import Text

    style = STYLE[row.verdict]
    name = Text(row.name.replace(" ", "\n", 1), style=style if row.verdict.exit_status else "")
    observed = row.observed or "-"
    seen = [Text(row.expected), Text(observed)]
    label = "why" if any(race.reason for race in row.races) else "saw"
    counts = [
        Text(f"{value:,}", style="bold red" if value else "")
        for value in (row.duplicates, row.double_contacts)
    ]
    return [
        name,
        Text(row.verdict.value, style=style),
        *(seen if wide else [Text(f"{row.expected}\n{label}: {observed}")]),
        *counts,
        Text(f"{row.rounds:,}"),
        *([Text(row.masked_by or "-")] if wide else []),
    ]


def _print_gaps(console: Console, outcome: RunOutcome) -> None:
    """What a judged log does not tell."""
    told = gaps(outcome)
    if told:
        console.print("Not judged, by what is missing:")
    for line in told:
        console.print(f"  {line}")


def _print_masks(console: Console, lines: list[Row]) -> None:
    """Where the table is too narrow for the column, say beneath what would have masked a fault."""
    console.print()
    console.print("dupl.: duplicates; 2x: two agents wrote to one person inside a cooldown")
    if console.width >= WIDE:
        return
    by_mask: dict[str, list[str]] = {}
    few = len(lines) <= MASKS_MAX
    for row in lines:
        if row.masked_by and (few or row.verdict in _DOUBTED):
            by_mask.setdefault(row.masked_by, []).append(row.races[0].scenario)
    if by_mask:
        console.print("A fault would be masked by:")
    for mask, names in by_mask.items():
        console.print(f"  {listed(dict.fromkeys(names))}: {visible(mask)}")
