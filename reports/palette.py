"""The colours of every picture: told apart by the colour-blind, readable on light and on dark.

Agents take the first palette in order (Okabe and Ito's, the yellow darkened); meanings have colours of
their own that no agent takes. A colour never says anything alone: shape or text says it too.
"""

from __future__ import annotations

from collections.abc import Mapping

AGENTS = (
    "#0072B2",
    "#D98200",
    "#009E73",
    "#B0609A",
    "#3E9BD6",
    "#8A7A00",
    "#7B61C4",
    "#5E7480",
)
"""Colour of the first agent, the second, ...; from the ninth on they repeat."""

VIOLATION = "#D1242F"
REFUSED = "#B3460B"
UNKNOWN = "#8250DF"
OK = "#1A7F37"
PAUSE = "#6E7781"
COOLDOWN = "#3B82C4"
SUPPRESSION = "#24292F"

VERDICTS: Mapping[str, str] = {
    "valid": OK,
    "invalid": VIOLATION,
    "unknown": "#9A6700",
    "not applicable": PAUSE,
    "not run": PAUSE,
}


def agent_colour(number: int) -> str:
    """The colour of the agent at this place in the lanes, from 0."""
    return AGENTS[number % len(AGENTS)]
