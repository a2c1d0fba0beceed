"""A plan of the fuzzer, played again by the command ``replay``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..contract import UsageError
from ..verdict import Verdict

if TYPE_CHECKING:
    from .stands import Played
    from .steps import Plan

_PLAN = re.compile(r"lf\d+/")
LONGEST_NAME = 255


def is_plan(text: str) -> bool:
    """Whether this is a plan, or a file that holds one; not whether it can be read."""
    return _PLAN.match(_text_of(text)) is not None


def _text_of(text: str) -> str:
    """The text itself, or what is in the file of that name."""
    text = text.strip()
    if _PLAN.match(text):
        return text
    try:
        is_file = len(text) <= LONGEST_NAME and Path(text).is_file()
        return Path(text).read_text(encoding="utf-8").strip() if is_file else text
    except (OSError, ValueError):
        return text  # whoever reads schedules says what is wrong with it


def replay_plan(
    text: str,
    *,
    target: str,
    policy_file: Path | None = None,
    as_test: Path | None = None,
    refused: Sequence[str] = (),
) -> int:
    """Play a plan on the simulator and tell what came of it; the exit status.

    Args:
        text: The plan, or the name of a file that holds it.
        target: Name of the target.
        policy_file: A policy file of the user's, or None.
        as_test: Where a finding is written as a pytest file, or None.
        refused: Options that were given and mean nothing to a plan.

    Raises:
        UsageError: The plan can't be read, or such an option was given.
    """
    from ..targets import load_target
    from .simulated import SimStand
    from .stands import play
    from .steps import Plan

    plan = Plan.from_text(_text_of(text))
    if refused:
        raise UsageError(
            f"{refused[0]} is for schedules; a plan of fuzz is shrunk when it is found"
        )
    with SimStand(load_target(target), policy_file) as stand:
        played = play(stand, plan)
    again = again_of(target, policy_file, plan.to_text())
    return tell_played(played, plan, target=target, again=again, test_file=as_test)


def tell_played(
    played: Played, plan: Plan, *, target: str, again: str, test_file: Path | None
) -> int:
    """Say what came of a plan, write the test if one is wanted; the exit status."""
    from .export import as_test, story

    if played.verdict is Verdict.VALID:
        click.echo(f"no finding: {len(played.told)} steps on {target}")
    else:
        click.echo(story(played, again=again))
    left_out = len(plan.steps) - len(played.told)
    if left_out:
        click.echo(f"{left_out} steps could not be made or were not reached")
    if test_file is not None and played.findings:
        write_test(test_file, as_test(played, target))
    return played.verdict.exit_status


def write_test(path: Path, text: str) -> None:
    """Write a pytest file.

    Raises:
        UsageError: It can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"can't write the test {str(path)!r}: {error.strerror}") from error


def again_of(target: str, policy_file: Path | None, plan: str) -> str:
    """The command that does it again."""
    policy = ["--policy", str(policy_file)] if policy_file else []
    return shlex.join(["leaserace", "replay", "--target", target, *policy, plan])


__all__ = ["is_plan", "replay_plan", "tell_played", "write_test"]
