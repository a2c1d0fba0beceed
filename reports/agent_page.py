"""The page's section for the author of an agent under test."""

from __future__ import annotations

from leaserace.harness.outcome import AgentAnswer, RunOutcome

from .agent import HEADERS, asked, did, proof, sentences
from .markup import escape, race_link, section, ticks, wide_row, wide_table, word


def agent(outcome: RunOutcome) -> str:
    """Per answer: what the agent did, what is right, the verdict; "" where no agent was under test."""
    report = outcome.agent
    if report is None:
        return ""
    said = "".join(f"<p>{escape(each)}</p>" for each in sentences(report))
    body = "".join(map(_answer, report.answers))
    return section("agent", "The agent", said + wide_table(HEADERS, body))


def _answer(answer: AgentAnswer) -> str:
    why = f'<p class="small">{escape(proof(answer))}</p>' if proof(answer) else ""
    values = (
        race_link(answer.race, asked(answer)),
        word(answer.verdict),
        f"{escape(did(answer))}{why}",
        ticks(answer.right),
    )
    return wide_row(*zip(HEADERS, values, strict=True))
