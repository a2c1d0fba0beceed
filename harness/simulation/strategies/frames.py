"""What an exhaustive search remembers from schedule to schedule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

Footprint = frozenset[str] | None
"""What a step touched; None for "anything"."""


class Pruned(Exception):  # noqa: N818 - it is what happened
    """The rest of this run was explored before."""


class Relearn(Exception):  # noqa: N818
    """A step that was taken for an agent's own affair was not: the search starts again."""


@dataclass(slots=True)
class Frame:
    """A place where more than one thing can happen.

    Args:
        options: What is to be explored.
        sleep: Moves that need not be explored here, with what they touch.
        place: Number of the step.
        at: Which of the options is being explored.
        done: Moves explored before, with what they touched.
    """

    options: list[int]
    sleep: dict[int, Footprint]
    place: int
    at: int = 0
    done: dict[int, Footprint] = field(default_factory=dict)

    @property
    def choice(self) -> int:
        """What is being explored."""
        return self.options[self.at]


class Taken(NamedTuple):
    """A step of the schedule before, to be taken again as it was.

    Args:
        choice: What was chosen.
        glued: The agent that moved last went on without a choice.
        stale: A crash was thought of.
        framed: There was more than one option.
        forced: Nobody could move.
    """

    choice: int
    glued: bool
    stale: bool
    framed: bool
    forced: bool


@dataclass(slots=True)
class Count:
    """What a search did."""

    schedules: int = 0
    pruned: int = 0
    asleep: int = 0
    restarts: int = 0


__all__ = ["Count", "Footprint", "Frame", "Pruned", "Relearn", "Taken"]
