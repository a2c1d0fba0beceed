"""The page's section for the author of an agent under test."""

from __future__ import annotations

from leaserace.harness.outcome import AgentAnswer, RunOutcome

from .agent import HEADERS, asked, did, proof, sentences
from .sections import _row, _section, _table, _word, escape


def agent(outcome: RunOutcome) -> str:
    """Per answer: what the agent did, what is right, the verdict; "" where no agent was under test."""
    report = outcome.agent
    if report is None:
        return ""
    said = "".join(f"<p>{escape(each)}</p>" for each in sentences(report))
    body = "".join(map(_answer, report.answers))
    return _section("agent", "The agent", said + _table(HEADERS, body))


def _answer(answer: AgentAnswer) -> str:
    name = escape(asked(answer)).replace("_", "_<wbr>")
    where = f'<a href="#timeline" data-race="{escape(answer.race)}">{name}</a>'
    why = f'<p class="small">{escape(proof(answer))}</p>' if proof(answer) else ""
    values = (where, _word(answer.verdict), f"{escape(did(answer))}{why}", escape(answer.right))
    return _row(*zip(HEADERS, values, strict=True))
