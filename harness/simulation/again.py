"""A schedule run again: whether it still fits the code, and as a test to keep."""

from __future__ import annotations

from dataclasses import dataclass
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
CHANGED = (
    "recorded with code {}, run with {}",
    "the rules have changed since: recorded with {}, judged with {}",
    "leaserace has changed since: recorded with {}, run with {}",
)
"""How it is said that the target, the rules or the rest of leaserace is another than it was."""
TOO_OLD = "the schedule is too old to tell which rules judged it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """What has changed since a schedule was recorded.

    Args:
        schedule: It.
        now: `code_hash` of what runs it.
        rule: The rule it broke when it was recorded, or "".
    """

    schedule: Schedule
    now: str
    rule: str = ""

    @property
    def target(self) -> bool:
        """Whether the target's code is another."""
        return self._changed(0)

    @property
    def rules(self) -> bool:
        """Whether other rules judge, as far as the schedule tells."""
        return self._changed(1)

    @property
    def nothing(self) -> bool:
        """Whether all of it is known to be the same."""
        return self.schedule.code == self.now

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        """What it was recorded with and what runs it: target, rules, harness."""
        return list(zip(self.schedule.identity, self.now.split("."), strict=True))

    def _changed(self, part: int) -> bool:
        then, now = self._pairs[part]
        return then not in {"", now}

    def told(self) -> list[str]:
        """What has changed, in words."""
        return [
            words.format(*self._pairs[part])
            for part, words in enumerate(CHANGED)
            if self._changed(part)
        ]

    def notices(self, outcome: Outcome, *, retold: bool) -> list[str]:
        """What is worth saying of a run that made all its choices.

        Args:
            outcome: What came of it.
            retold: Whether its trace is the recorded one, or none was recorded.
        """
        said = self.told()
        if not (said or retold):
            said.append(f"{TOO_OLD}; its trace is another now")
        found = {finding.rule for finding in outcome.findings}
        if self.rules and self.rule and self.rule not in found:
            said.append(self._gone())
        return said

    def diverged(self, error: Diverged) -> Exception:
        """What to raise where a choice can't be made."""
        if self.nothing:
            return Nondeterministic(f"{error}, though the code is the same")
        told = self.told()
        may_be_gone = self.rules or not self.schedule.identity[1]
        if error.step > len(self.schedule.choices) and may_be_gone and not self.target:
            # Every choice was made, and where they end no rule has the finding that ended the run.
            return UsageError(f"{'; '.join(told or [TOO_OLD])}; {self._gone()}")
        because = told or [f"recorded with code {self.schedule.code}, run with {self.now}"]
        return UsageError(f"{error} ({'; '.join(because)})")

    def _gone(self) -> str:
        return f"the finding {self.rule or 'that ended the run'} no longer holds"


def replay_schedule(
    target: Target,
    schedule: Schedule,
    trace: str = "",
    *,
    rule: str = "",
    policy_file: Path | None = None,
) -> tuple[Outcome, list[str]]:
    """Run a schedule again.

    Args:
        target: The system under test.
        schedule: What to run.
        trace: Hash of what happened when it was recorded, or "".
        rule: The rule it broke when it was recorded, or "".
        policy_file: A policy file of the user's, or None.

    Returns:
        What happened, and what is worth saying about it.

    Raises:
        UsageError: It diverges; the message says at which step, and whether the code has changed, or
            that other rules judge now and the finding no longer holds.
        Nondeterministic: Target and rules are the same and the same choices led to something else.
    """
    since = Since(schedule=schedule, now=code_hash(target), rule=rule)
    try:
        with (
            Runner(target, policy_file=policy_file) as runner,
            patched(runner.world),
            Fence().watching(runner.world, closely=False),
        ):
            outcome = run_schedule(runner, schedule)
    except Diverged as error:
        raise since.diverged(error) from error
    retold = trace in {"", outcome.trace_hash()}
    if since.nothing and not retold:
        raise Nondeterministic(
            f"hidden nondeterminism: the trace is {outcome.trace_hash()}, recorded was {trace}"
        )
    return outcome, since.notices(outcome, retold=retold)


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
