"""The option ``--habit`` and the listing of all habits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from . import HABITS, Habit


def habit_option(what: str) -> Callable[..., Any]:
    """``--habit``, to be given as often as wanted.

    Args:
        what: What it changes in this command and what it does not.
    """
    return click.option(
        "--habit",
        "habit_texts",
        multiple=True,
        metavar="WHO=HABIT",
        help=f"Give an agent a habit (see list --habits), such as sales=uuid-per-call. WHO is a role, an agent id"
        f" or all. {what}",
    )


def list_habits(*, as_json: bool) -> None:
    """Print every habit with what it breaks."""
    if as_json:
        click.echo(json.dumps([_described(each) for each in HABITS.values()], indent=2))
        return
    for each in HABITS.values():
        click.echo(f"{each.name}: {each.summary}")
        click.echo(f"   shows after  {each.needs or 'nothing else'}")
        click.echo(f"   doubles mail {_doubles(each)}")
        click.echo(f"   told by      {', '.join(each.breaks) or 'nothing: it is a good one'}")
        reports = f"; public reports {', '.join(each.reports)}" if each.reports else ""
        click.echo(f"   spec         {', '.join(each.spec)}{reports}\n")


def _doubles(habit: Habit) -> str:
    if habit.doubles:
        return "although the mailbox is correct; a table of what was sent stops it"
    return "no: a correct mailbox stops it" if habit.breaks else "no"


def _described(habit: Habit) -> dict[str, Any]:
    return {
        "name": habit.name,
        "summary": habit.summary,
        "spec": list(habit.spec),
        "shows_after": habit.needs,
        "doubles": habit.doubles,
        "restarts": habit.restarts,
        "told_by": list(habit.breaks),
        "reports": list(habit.reports),
    }
