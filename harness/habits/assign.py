"""Which agent has which habit, as the command line says it: ``sales=uuid-per-call``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..contract import UsageError
from . import Habit, habit, hint

ALL = "all"
"""Stands for every agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One agent's, one role's or everybody's habit.

    Args:
        who: An agent id, a role, or `ALL`.
        habit: Its habit.
    """

    who: str
    habit: Habit

    @property
    def text(self) -> str:
        """As it was written."""
        return f"{self.who}={self.habit.name}"


class Assignments:
    """All that was given; an agent's own goes before its role's, and that before everybody's.

    Args:
        texts: Each ``WHO=HABIT``; of two for the same the later one holds.

    Raises:
        UsageError: One is no assignment, or names a habit there is not.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._of = {each.who: each for each in map(_read, texts)}

    def __bool__(self) -> bool:
        return bool(self._of)

    @property
    def texts(self) -> tuple[str, ...]:
        """As they were written."""
        return tuple(each.text for each in self._of.values())

    @property
    def habits(self) -> tuple[Habit, ...]:
        """Those that somebody has."""
        return tuple(each.habit for each in self._of.values())

    def of(self, agent: str, role: str = "") -> Habit | None:
        """An agent's habit, or None if nothing is said of it.

        Args:
            agent: Its id.
            role: The playbook it plays; "" for the first part of its id.
        """
        for who in (agent, role or role_of(agent), ALL):
            if who in self._of:
                return self._of[who].habit
        return None

    def check(self, agents: Sequence[str], roles: Iterable[str]) -> None:
        """Refuse an assignment to nobody.

        Args:
            agents: Ids of all agents there are.
            roles: Roles of all agents there are.

        Raises:
            UsageError: One names neither; near spellings are named.
        """
        known = list(dict.fromkeys([*roles, *agents, ALL]))
        for each in self._of.values():
            if each.who not in known:
                raise UsageError(
                    f"--habit {each.text}: no agent is called {each.who!r}; {hint(each.who, known)}"
                )


def _read(text: str) -> Assignment:
    who, sign, name = text.partition("=")
    if not sign or not who.strip() or not name.strip():
        raise UsageError(f"--habit {text[:60]!r}: write WHO=HABIT, such as sales=uuid-per-call")
    try:
        return Assignment(who=who.strip(), habit=habit(name.strip()))
    except UsageError as error:
        raise UsageError(f"--habit {text[:60]}: {error}") from error


def role_of(agent: str) -> str:
    """The role that an agent's id begins with: ``sales`` of ``sales-01``."""
    return agent.rpartition("-")[0] or agent


NONE = Assignments()
"""Nothing is said of any agent."""

__all__ = ["ALL", "NONE", "Assignment", "Assignments", "role_of"]
