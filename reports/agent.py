"""What the author of an agent under test is told, per answer, on a terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from leaserace.harness.outcome import AgentAnswer, AgentReport, RunOutcome
from leaserace.harness.terminal import plain_box
from leaserace.harness.verdict import Verdict

from .text import count, listed, markdown, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

AGENT = "agent"
"""Id of the scenario whose races are told here, and not in the table of races."""
OPS_MAX = 6
HEADERS = ("it was answered", "verdict", "what it did", "what is right")
WIDE = 116
"""Columns from which on what is right has a column of its own."""


def did(answer: AgentAnswer) -> str:
    """The answered call and those after it, in one line."""
    if answer.did:
        return visible(", ".join(answer.did))
    return "nothing more" if answer.given else "-"


def proof(answer: AgentAnswer) -> str:
    """Why it is no pass, with the rules and the operations that show it; "" for a plain pass."""
    if not answer.why:
        return ""
    rules = f" ({listed(answer.rules)})" if answer.rules else ""
    ops = f" [{', '.join(map(visible, answer.ops[:OPS_MAX]))}]" if answer.ops else ""
    more = " ..." if len(answer.ops) > OPS_MAX else ""
    return f"{visible(answer.why)}{rules}{ops}{more}"


def asked(answer: AgentAnswer) -> str:
    """What it was answered, marked where a script gave the answer."""
    return visible(answer.answer) + (" (scripted)" if answer.scripted else "")


def sentences(report: AgentReport) -> Iterator[str]:
    """What comes to all: how many answers were met, which habits were recognised."""
    met = [each for each in report.answers if each.given]
    wrong = [each for each in report.answers if each.verdict is Verdict.INVALID]
    yield (
        f"Agent {visible(report.name)}: {len(met)} of {count(len(report.answers), 'answer')} met, "
        f"a wrong next action after {len(wrong)}."
    )
    if report.habits:
        named = (f"{name} ({count(many, 'answer')})" for name, many in report.habits.items())
        yield f"Habits recognised: {listed(named, limit=20)}."
    skipped = sum(each.verdict is Verdict.NOT_APPLICABLE for each in report.answers)
    if skipped:
        yield (
            f"{count(skipped, 'answer')} did not apply: the agent never makes that call. "
            "They are not counted as passed."
        )
    if any(each.scripted for each in report.answers):
        yield (
            "Scripted: no circumstance brings this answer about, so it was given once in the"
            " mailbox's place."
        )


def print_agent(console: Console, report: AgentReport) -> None:
    """Print the agent's table and what it comes to."""
    console.print(_table(report, console.width))
    console.print()
    for sentence in sentences(report):
        console.print(sentence)
    console.print()


def _table(report: AgentReport, width: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    from .table import STYLE

    wide = width >= WIDE
    table = Table(box=plain_box(), show_edge=False, pad_edge=False, expand=True)
    table.padding = (0, 1, 0, 0)
    table.add_column(HEADERS[0], overflow="fold", ratio=2)
    words = [each.verdict.value for each in report.answers]
    table.add_column(
        HEADERS[1], overflow="fold", min_width=min(11, max(map(len, words), default=7))
    )
    for header in HEADERS[2:] if wide else (f"{HEADERS[2]}; {HEADERS[3]}",):
        table.add_column(header, overflow="fold", ratio=5)
    for answer in report.answers:
        told = _told(answer, wide=wide)
        verdict = Text(answer.verdict.value, style=STYLE[answer.verdict])
        table.add_row(Text(asked(answer)), verdict, *map(Text, told))
    return table


def _told(answer: AgentAnswer, *, wide: bool) -> tuple[str, ...]:
    lines = [did(answer), *([f"why: {proof(answer)}"] if proof(answer) else [])]
    if wide:
        return "\n".join(lines), visible(answer.right)
    return ("\n".join([lines[0], f"right: {visible(answer.right)}", *lines[1:]]),)


def agent_markdown(report: AgentReport) -> Iterator[str]:
    """The agent's section of ``summary.md``, line by line."""
    yield "\n## The agent\n"
    for sentence in sentences(report):
        yield markdown(sentence) + "  "
    yield ""
    headers = (*HEADERS, "why")
    yield _line(headers)
    yield _line(["---"] * len(headers))
    for answer in report.answers:
        bold = "" if answer.verdict is Verdict.VALID else "**"
        cells = map(markdown, (did(answer), answer.right, proof(answer)))
        yield _line([markdown(asked(answer)), f"{bold}{answer.verdict.value}{bold}", *cells])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def without_agent(outcome: RunOutcome) -> RunOutcome:
    """The run without the races that are told in the agent's own table."""
    if outcome.agent is None:
        return outcome
    return replace(outcome, races=tuple(r for r in outcome.races if r.scenario != AGENT))
