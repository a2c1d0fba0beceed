"""Where one more agent stops paying: "how many agents can this mailbox take?".

The rule. Going from one number of agents to the next, the added agents pay while all of this holds:

- at least half of the tasks they bring are sent (`SENT_MIN`); what two agents both want to say to one
  person, or a cooldown forbids, is not;
- no more than one claim in ten is refused (`CONFLICTS_MAX`);
- 95 % of the grants come within five minutes of the first ask (`WAIT_S_MAX`).

The mailbox takes the largest number of agents up to which each step paid. A cooldown that blocks replies
and bursts are said beside it: they are failures of the cooldown, not of the number (spec: C2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cell import Cell
from .lengths import spoken

SENT_MIN = 0.5
CONFLICTS_MAX = 0.10
WAIT_S_MAX = 300.0
BLOCKED_MIN = 0.01
"""Share of blocked replies from which on it is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """The answer for one lease length and one cooldown.

    Args:
        lease: Length of a lease, as it was written.
        cooldown: Rule for cooldowns, as it was written.
        agents: How many agents pay, of those swept; 0 if even the fewest do not.
        is_open: Every step paid: there may be room for more.
        sentence: The same for people.
    """

    lease: str
    cooldown: str
    agents: int
    is_open: bool
    sentence: str


def knees_of(cells: Sequence[Cell]) -> list[Knee]:
    """One answer for each lease length and cooldown, in the order of the cells."""
    rows: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.cooldown, cell.lease), []).append(cell)
    return [_knee(sorted(row, key=lambda each: each.agents)) for row in rows.values()]


def sent_share(before: Cell | None, cell: Cell) -> float:
    """Share of the tasks brought by the agents since `before` that is sent because of them."""
    sent, tasks = (before.delivered, before.tasks) if before else (0, 0)
    return (cell.delivered - sent) / (cell.tasks - tasks) if cell.tasks > tasks else 1.0


def _knee(row: Sequence[Cell]) -> Knee:
    before: Cell | None = None
    why = ""
    for cell in row:
        why = _why_not(before, cell)
        if why:
            break
        before = cell
    agents = before.agents if before else 0
    shown = before or row[0]
    return Knee(
        lease=shown.lease,
        cooldown=shown.cooldown,
        agents=agents,
        is_open=not why,
        sentence=_sentence(row, agents, why) + _failures(shown),
    )


def _why_not(before: Cell | None, cell: Cell) -> str:
    """Why the step to this cell does not pay, or ""."""
    share = sent_share(before, cell)
    if share < SENT_MIN:
        who = f"agents {before.agents + 1} to {cell.agents} bring" if before else "they bring"
        return f"only {share:.0%} of the tasks {who} get sent"
    if cell.conflict_rate > CONFLICTS_MAX:
        return f"with {cell.agents} agents {cell.conflict_rate:.0%} of the claims are refused"
    if cell.wait_s["p95"] > WAIT_S_MAX:
        return f"with {cell.agents} agents one grant in 20 is waited for over {spoken(WAIT_S_MAX)}"
    return ""


def _sentence(row: Sequence[Cell], agents: int, why: str) -> str:
    last = row[-1]
    if not last.tasks:
        return "no task arrived: nothing can be said; raise --rate"
    if not why:
        return (
            f"this mailbox takes at least {agents} agents: with {agents}, "
            f"{last.conflict_rate:.1%} of the claims are refused and "
            f"{last.per_hour:,.0f} messages an hour are sent"
        )
    if not agents:
        return f"this mailbox takes fewer than {row[0].agents} agents: {why}"
    return f"this mailbox takes about {_count(agents, 'agent')}: {why}"


def _failures(cell: Cell) -> str:
    """Both failures of a cooldown, where they show with that many agents (spec: C2)."""
    said = ""
    if cell.blocked_share >= BLOCKED_MIN:
        said += f"; the cooldown blocks {cell.blocked_share:.0%} of the replies somebody waits for"
    if cell.bursts:
        said += f"; {_count(cell.bursts, 'burst')} reached {_count(cell.burst_contacts, 'contact')}"
    return said and f"{said} (with {cell.agents} agents)"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'s' * (number != 1)}"
