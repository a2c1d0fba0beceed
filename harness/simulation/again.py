"""A schedule run again: whether it still fits the code, and as a test to keep."""

from __future__ import annotations

from pathlib import Path

from ..contract import Target, UsageError
from .driver import Bounds
from .explore import Nondeterministic
from .fence import Fence, patched
from .run import Outcome, Runner
from .schedule import Schedule, code_hash
from .strategies.replay import Diverged, Replay

TEST = '''"""{finding}"""

from leaserace.harness.simulation.again import assert_clean

SCHEDULE = (
{lines}
)


def test_{name}():
    """The recorded interleaving breaks no rule any more."""
    assert_clean(SCHEDULE, target="{target}")
'''


def replay_schedule(
    target: Target, schedule: Schedule, trace: str = "", *, policy_file: Path | None = None
) -> tuple[Outcome, list[str]]:
    """Run a schedule again.

    Args:
        target: The system under test.
        schedule: What to run.
        trace: Hash of what happened when it was recorded, or "".
        policy_file: A policy file of the user's, or None.

    Returns:
        What happened, and what is worth saying about it.

    Raises:
        UsageError: It diverges; the message says at which step, and whether the code has changed.
        Nondeterministic: The code is the same and the same choices led to something else.
    """
    code = code_hash(target)
    changed = code != schedule.code
    notices = []
    if changed:
        notices.append(f"recorded with code {schedule.code}, run with {code}")
    try:
        with (
            Runner(target, policy_file=policy_file) as runner,
            patched(runner.world),
            Fence().watching(runner.world, closely=False),
        ):
            outcome = run_schedule(runner, schedule)
    except Diverged as error:
        if not changed:
            raise Nondeterministic(f"{error}, though the code is the same") from error
        raise UsageError(
            f"{error} (recorded with code {schedule.code}, run with {code})"
        ) from error
    if trace and not changed and outcome.trace_hash() != trace:
        raise Nondeterministic(
            f"hidden nondeterminism: the trace is {outcome.trace_hash()}, recorded was {trace}"
        )
    return outcome, notices


def run_schedule(runner: Runner, schedule: Schedule, *, strict: bool = True) -> Outcome:
    """Make a schedule's choices.

    Args:
        runner: Entered.
        schedule: What to run.
        strict: A choice that can't be made raises `Diverged`; otherwise it is left out.
    """
    return runner.run(
        schedule.to_subject(),
        schedule.policy,
        Replay(schedule.choices, strict=strict),
        Bounds(),
        coarse=schedule.coarse,
    )


def assert_clean(text: str, *, target: str) -> None:
    """Fail if a schedule's run breaks a rule; for tests written by ``leaserace replay --as-test``.

    A schedule that no longer fits the code is run as far as it does, and on from there.
    """
    from ..targets import load_target

    schedule = Schedule.from_text(text)
    with Runner(load_target(target)) as runner:
        outcome = run_schedule(runner, schedule, strict=False)
    assert not outcome.findings, "\n".join(
        f"{finding.rule}: {finding.message}" for finding in outcome.findings
    )


def write_test(path: Path, schedule: Schedule, *, target: str, rule: str) -> None:
    """Write a schedule as a pytest file.

    Raises:
        UsageError: It can't be written.
    """
    text = schedule.to_text()
    lines = "\n".join(f'    "{text[at : at + 80]}"' for at in range(0, len(text), 80))
    name = (rule or "schedule").replace(".", "_")
    finding = f"Found by the simulator: a schedule that broke {rule or 'no rule'}."
    try:
        path.write_text(
            TEST.format(finding=finding, lines=lines, name=name, target=target), encoding="utf-8"
        )
    except OSError as error:
        raise UsageError(f"can't write {str(path)!r}: {error.strerror}") from error
