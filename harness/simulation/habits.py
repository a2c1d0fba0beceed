"""Habits in the subjects of an exploration: which agents of which subjects get them."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract import UsageError
from ..habits.assign import Assignments
from ..playbooks import PERSONS, PLAYBOOKS
from .catalogue import PLAYS
from .subjects import AGENT_IDS, HABIT, play_of

TO_MANY_PLAYS = ("play.fanout.sales", "play.fanout.support")
"""Playbooks beside those that are drawn: steps with several recipients."""


def subjects_with(habits: Assignments, subjects: Sequence[str]) -> tuple[str, ...]:
    """Texts of the subjects, with the habits in them; replayed as any other.

    Args:
        habits: Who has which.
        subjects: What was asked for; empty for all playbooks, of which those with such an agent are
            taken.

    Raises:
        UsageError: An assignment is to nobody, or a subject has no agents with playbooks.
    """
    if not habits:
        return tuple(subjects)
    roles = [role for role in PLAYBOOKS if role not in PERSONS]
    habits.check(AGENT_IDS, roles)
    for text in subjects:
        if not text.startswith("play."):
            raise UsageError(
                f"subject {text!r}: only agents with playbooks have habits; give play.NAME.NAME"
            )
    given = {text: _with(habits, text) for text in subjects or (*PLAYS, *TO_MANY_PLAYS)}
    changed = tuple(made for text, made in given.items() if made != text)
    if not changed:
        raise UsageError(f"--habit {', '.join(habits.texts)}: no agent of what runs is called so")
    return tuple(given.values()) if subjects else changed


def _with(habits: Assignments, text: str) -> str:
    kind, *names = text.split(".")
    assert kind == "play"
    return play_of(tuple(_named(habits, index, name) for index, name in enumerate(names)))


def _named(habits: Assignments, index: int, name: str) -> str:
    """One agent's text; a habit that stands in it already stays."""
    role = name.lstrip("@").partition(HABIT)[0].partition("_")[0].partition("-")[0]
    if HABIT in name or role in PERSONS or index >= len(AGENT_IDS):
        return name
    found = habits.of(AGENT_IDS[0] if name.startswith("@") else AGENT_IDS[index], role)
    return name if found is None else f"{name}{HABIT}{found.name}"


__all__ = ["subjects_with"]
