"""A sweep as a table for a terminal, with the answers below it."""

from __future__ import annotations

from collections.abc import Iterator

from .cell import Cell
from .lengths import spoken
from .measured import Measured
from .plan import Sweep
from .traffic import DAY_MS, HOUR_MS

COLUMNS = (
    ("agents", 6),
    ("refused", 8),
    ("p50 wait", 9),
    ("p95 wait", 9),
    ("idle", 6),
    ("blocked", 8),
    ("bursts", 7),
    ("sent/h", 8),
    ("per agent", 10),
    ("expired", 8),
    ("to person", 10),
)
"""Title and width."""


def table(found: Sweep) -> str:
    """All cells, a block for each cooldown and lease, then what they come to."""
    return "\n".join(_lines(found))


def _lines(found: Sweep) -> Iterator[str]:
    traffic = found.plan.traffic
    yield (
        f"{found.plan.exact_target or 'compact model of the reference'}: "
        f"a day of {DAY_MS // HOUR_MS} h, {traffic.contacts:,} contacts, "
        f"{traffic.per_hour:g} tasks an hour and agent, seed {traffic.seed}"
    )
    before = ("", "")
    for cell in found.cells:
        block = (cell.cooldown, cell.lease)
        if block != before:
            yield f"\ncooldown {cell.cooldown}, lease {cell.lease}"
            yield "".join(f"{title:>{width}}" for title, width in COLUMNS)
            before = block
        yield _row(cell)
    yield ""
    for knee in found.knees:
        yield f"cooldown {knee.cooldown}, lease {knee.lease}: {knee.sentence}"
    if found.measured:
        yield "\nreal rounds (nothing but claims on as many contacts as agents)"
        for each in found.measured:
            yield _measured(each)


def _row(cell: Cell) -> str:
    values = (
        f"{cell.agents:,}",
        f"{cell.conflict_rate:.1%}",
        spoken(cell.refused_wait_s["p50"]),
        spoken(cell.refused_wait_s["p95"]),
        f"{cell.idle_share:.0%}",
        f"{cell.blocked_share:.0%}",
        f"{cell.bursts:,}",
        f"{cell.per_hour:,.0f}",
        f"{cell.per_hour / cell.agents:,.1f}",
        f"{cell.expired + cell.stale:,}",
        f"{cell.escalated:,}",
    )
    pairs = zip(values, COLUMNS, strict=True)
    return "".join(f"{value:>{width}}" for value, (_, width) in pairs)


def _measured(each: Measured) -> str:
    rate = each.expected_rate
    expected = "" if rate is None else f", {rate:.0%} by the model for that load"
    return (
        f"  {each.agents} agents: {each.conflict_rate:.0%} of {each.claims:,} claims refused"
        f"{expected}, p95 wait {spoken(each.refused_wait_p95_s)} ({each.run})"
    )
