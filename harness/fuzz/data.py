"""Property tests with compact data: one value says who calls what, the simulator draws the rest.

::

    @given(values())
    def test_our_mailbox(value):
        hold(value, "ourpkg.mailbox:OurMailbox")

Hypothesis draws and shrinks the value; the interleavings inside are drawn from a seed that is made of
the value itself. So a value always comes out the same, and a failure has one shrinker only.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

from hypothesis import strategies as st

from ..contract import Capability, Target
from ..simulation.driver import Bounds
from ..simulation.run import Outcome, Runner
from ..simulation.schedule import Schedule, code_hash
from ..simulation.strategies.uniform import Uniform
from ..simulation.subjects import POLICIES, parse, program_of
from ..targets import load_target

INTERLEAVINGS = 25
BOUNDS = Bounds(faults=2, time_steps=3)
LETTERS = "ASRLNXTQKPZFOUVW"
"""Letters of programs, the plainest first: Hypothesis shrinks towards the first."""
LETTERS_MAX = 6
NEEDED = {
    "N": Capability.LEASE,
    "T": Capability.COOLDOWN,
    "F": Capability.LOOKUP,
    "O": Capability.SUPPRESS,
    "U": Capability.SUPPRESS,
    "V": Capability.OVERRIDE,
}
"""Letters that call a method not every target has."""


@dataclass(frozen=True, slots=True)
class Value:
    """Programs of two or three agents under a policy variant.

    Args:
        programs: A word for each agent, see `leaserace.harness.simulation.programs`.
        policy: Name of the policy variant.
    """

    programs: tuple[str, ...]
    policy: str

    @property
    def subject(self) -> str:
        """How schedules call it."""
        return program_of(self.programs)


def values(
    *, agents: int = 3, letters: str = LETTERS, policies: tuple[str, ...] = tuple(POLICIES)
) -> st.SearchStrategy[Value]:
    """Values; the shortest and plainest are the simplest.

    Args:
        agents: At most so many agents, at least 2.
        letters: Letters of the programs.
        policies: Names of policy variants.
    """
    word = st.text(letters, min_size=1, max_size=LETTERS_MAX).map(lambda text: f"A{text}")
    words = st.lists(word, min_size=2, max_size=agents)
    return st.builds(Value, words.map(tuple), st.sampled_from(policies))


def letters_for(target: Target) -> str:
    """The letters whose methods a target has."""
    return "".join(
        letter for letter in LETTERS if NEEDED.get(letter, Capability.SEND) in target.capabilities
    )


def explore(
    runner: Runner, value: Value, *, interleavings: int = INTERLEAVINGS, bounds: Bounds = BOUNDS
) -> Outcome | None:
    """Run a value so often; the first run with a finding, or None.

    Args:
        runner: Entered.
        value: What runs.
        interleavings: How many are drawn.
        bounds: How much may go wrong in each.
    """
    subject = parse(value.subject)
    chooser = Uniform(random.Random(zlib.crc32(f"{value.subject}/{value.policy}".encode())))
    for _ in range(interleavings):
        outcome = runner.run(subject, value.policy, chooser, bounds)
        if outcome.findings:
            return outcome
    return None


def hold(value: Value, target: str | Target, *, interleavings: int = INTERLEAVINGS) -> None:
    """Fail if a rule has a finding in one of the interleavings.

    Raises:
        AssertionError: It has; the message is the finding, and the schedule that replays it.
    """
    found = load_target(target) if isinstance(target, str) else target
    with Runner(found) as runner:
        outcome = explore(runner, value, interleavings=interleavings)
    if outcome is not None:
        finding = outcome.findings[0]
        schedule = schedule_of(value, outcome, found)
        raise AssertionError(
            f"{finding.rule}: {finding.message}\n"
            f"leaserace replay --target {found.name} {schedule.to_text()}"
        )


def schedule_of(value: Value, outcome: Outcome, target: Target) -> Schedule:
    """What replays one interleaving of a value."""
    return Schedule(
        subject=value.subject,
        policy=value.policy,
        code=code_hash(target),
        choices=tuple(outcome.trail),
    )


__all__ = ["Value", "explore", "hold", "letters_for", "schedule_of", "values"]
