"""Findings and the three-valued verdict: how they merge, and when green may not be said."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import NormalDist


class Verdict(StrEnum):
    """What is said of a rule, a race or a run.

    `UNKNOWN` is said when a rule crashed or ran out of time, a fault did not take, or a race never
    entered its window: never folded into valid.
    """

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not applicable"
    NOT_RUN = "not run"

    @staticmethod
    def merge(verdicts: Iterable[Verdict]) -> Verdict:
        """The verdict of the whole: invalid beats unknown beats valid.

        What was not applicable or not run says nothing; nothing at all is "not applicable".
        """
        seen = set(verdicts)
        for verdict in (Verdict.INVALID, Verdict.UNKNOWN, Verdict.VALID, Verdict.NOT_RUN):
            if verdict in seen:
                return verdict
        return Verdict.NOT_APPLICABLE

    @property
    def exit_status(self) -> int:
        """Exit status of a command that ends with this verdict."""
        return _EXIT_STATUS[self]


_EXIT_STATUS = {
    Verdict.VALID: 0,
    Verdict.INVALID: 1,
    Verdict.UNKNOWN: 4,
    Verdict.NOT_RUN: 4,
    Verdict.NOT_APPLICABLE: 5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One violation, with what proves it.

    Args:
        rule: The rule's name, such as ``sends.stale_token``.
        spec: Numbers of the spec it breaks.
        message: One sentence that names agents, tokens and contact.
        ops: Ids of the operations that prove it, in order.
        contact: The scenario's name for the person.
        agents: Who is involved.
        t: When it became true, in nanoseconds of the history's clock.
    """

    rule: str
    spec: tuple[str, ...]
    message: str
    ops: tuple[str, ...] = ()
    contact: str = ""
    agents: tuple[str, ...] = ()
    t: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceResult:
    """What came of one race: one scenario, one variant, one number of agents.

    Args:
        race: Its name in the history.
        scenario: Id of the scenario.
        variant: Which variant.
        agents: How many agents took part.
        verdict: The verdict.
        expected: The single expected result, in words.
        observed: What was seen, in words.
        reason: Why it is unknown, not applicable or not run; "" otherwise.
        findings: What the rules found.
        rounds: Rounds that entered the window.
        duplicates: Deliveries beyond the first of an intent.
        double_contacts: Pairs of agents that wrote to one person inside a cooldown.
        late_hand_overs: Deliveries after a newer grant, authorised before it (spec: S10).
        masked_by: Which other layer would have hidden the fault.
        again: The command that runs it again.
        figures: Measured figures, such as waits in seconds.
    """

    race: str
    scenario: str
    variant: str
    agents: int
    verdict: Verdict
    expected: str
    observed: str = ""
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    rounds: int = 0
    duplicates: int = 0
    double_contacts: int = 0
    late_hand_overs: int = 0
    masked_by: str = ""
    again: str = ""
    figures: dict[str, float] = field(default_factory=dict)


def rate_upper_bound(trials: int, confidence: float = 0.95) -> float:
    """Upper bound of a rate of which nothing was seen in `trials` (the exact "rule of three").

    Args:
        trials: Rounds without a finding, at least 1.
        confidence: Between 0 and 1.

    Returns:
        The largest rate that is still believable, as a share of 1.

    Raises:
        ValueError: An argument is out of its range.
    """
    _at_least_one(trials)
    _a_share("confidence", confidence)
    return float(1.0 - (1.0 - confidence) ** (1.0 / trials))


def runs_still_needed(rate: float, confidence: float = 0.99) -> int:
    """Green runs needed before a fix may be believed.

    Args:
        rate: Share of runs in which the finding showed, above 0 and below 1.
        confidence: Between 0 and 1.

    Raises:
        ValueError: An argument is out of its range.
    """
    _a_share("rate", rate)
    _a_share("confidence", confidence)
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate))


def wilson_interval(seen: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Between which rates the true one lies, where something was seen in some of the runs.

    Args:
        seen: Runs in which it showed.
        trials: All runs, at least 1.
        confidence: Between 0 and 1.

    Returns:
        Lower and upper bound of the rate, as shares of 1 (Wilson's score interval).

    Raises:
        ValueError: An argument is out of its range.
    """
    _at_least_one(trials)
    _a_share("confidence", confidence)
    if not 0 <= seen <= trials:
        message = f"seen={seen}: it must lie between 0 and trials={trials}"
        raise ValueError(message)
    z = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
    share, z2n = seen / trials, z * z / trials
    middle = share + z2n / 2.0
    half = z * math.sqrt((share * (1.0 - share) + z2n / 4.0) / trials)
    low, high = (middle - half) / (1.0 + z2n), (middle + half) / (1.0 + z2n)
    return (0.0 if seen == 0 else low, 1.0 if seen == trials else high)


def newcombe_interval(
    before: tuple[int, int], after: tuple[int, int], confidence: float = 0.95
) -> tuple[float, float]:
    """Between which differences the true one lies, of the rates of two runs.

    Args:
        before: Seen and trials of the first run.
        after: Seen and trials of the second.
        confidence: Between 0 and 1.

    Returns:
        Lower and upper bound of the second rate less the first, as shares of 1 (Newcombe's interval
        from two of Wilson's).

    Raises:
        ValueError: An argument is out of its range.
    """
    low1, high1 = wilson_interval(*before, confidence)
    low2, high2 = wilson_interval(*after, confidence)
    rate1, rate2 = before[0] / before[1], after[0] / after[1]
    difference = rate2 - rate1
    down = math.hypot(rate2 - low2, high1 - rate1)
    up = math.hypot(high2 - rate2, rate1 - low1)
    return max(-1.0, difference - down), min(1.0, difference + up)


def _at_least_one(trials: int) -> None:
    if trials < 1:
        message = f"trials={trials}: at least one is needed"
        raise ValueError(message)


def _a_share(name: str, value: float) -> None:
    if not 0.0 < value < 1.0:
        message = f"{name}={value}: it must lie between 0 and 1"
        raise ValueError(message)
