"""The races of a run as rows, and the sentences around them, for every report alike.

A scenario whose variants and numbers of agents all ended alike is one row; what went wrong stands
in a row of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaserace.harness.outcome import CanaryResult, RunOutcome
from leaserace.harness.verdict import RaceResult, Verdict

from .agent import without_agent
from .judged import is_log, log_headline, log_sentences
from .text import count, listed, rate_sentence, seconds, visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    Args:
        name: Scenario, with its variant and agents where they matter.
        races: The results it stands for, at least one.
        verdict: Of all of them.
        expected: The single expected result.
        observed: What was seen, or why nothing was.
        duplicates: Over all of them.
        double_contacts: Over all of them.
        rounds: Over all of them.
        masked_by: Which other layer would have hidden a fault.
    """

    name: str
    races: tuple[RaceResult, ...]
    verdict: Verdict
    expected: str
    observed: str
    duplicates: int
    double_contacts: int
    rounds: int
    masked_by: str


def rows(races: Iterable[RaceResult], *, every_variant: bool = False) -> list[Row]:
    """The table's lines, in the order the scenarios first ran.

    Args:
        races: Results in the order they ran.
        every_variant: One line a race, whatever came of it.
    """
    by_scenario: dict[str, list[RaceResult]] = {}
    for race in races:
        by_scenario.setdefault(race.scenario, []).append(race)
    made: list[Row] = []
    for group in by_scenario.values():
        wrong = [race for race in group if _stands_alone(race)]
        if every_variant:
            made.extend(_row((race,)) for race in group)
            continue
        alike: dict[Verdict, list[RaceResult]] = {}
        for race in group:
            if race not in wrong:
                alike.setdefault(race.verdict, []).append(race)
        made.extend(_row(tuple(same)) for same in alike.values())
        made.extend(_row((race,)) for race in wrong)
    return made


def _stands_alone(race: RaceResult) -> bool:
    return race.verdict in {Verdict.INVALID, Verdict.UNKNOWN}


def _row(races: tuple[RaceResult, ...]) -> Row:
    first = races[0]
    return Row(
        name=_name(races),
        races=races,
        verdict=Verdict.merge(race.verdict for race in races),
        expected=visible(first.expected),
        observed=_observed(races),
        duplicates=sum(race.duplicates for race in races),
        double_contacts=sum(race.double_contacts for race in races),
        rounds=sum(race.rounds for race in races),
        masked_by=visible(first.masked_by),
    )


def _name(races: Sequence[RaceResult]) -> str:
    first = races[0]
    scenario = visible(first.scenario)
    if len(races) > 1:
        return f"{scenario} ({len(races)} races)"
    return " ".join(filter(None, [scenario, visible(first.race.removeprefix(first.scenario))]))


def _observed(races: Sequence[RaceResult]) -> str:
    """Why nothing was seen; else what was, its counts added up over all of them."""
    told = [race.reason for race in races if race.reason] or [race.observed for race in races]
    texts = list(dict.fromkeys(visible(text) for text in told))
    totals = _totals(visible(text) for text in told)
    if totals is not None:
        return ", ".join(f"{what} {number:,}" for what, number in totals.items())
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return texts[0] + more


def _totals(texts: Iterable[str]) -> Counter[str] | None:
    """Texts of the form ``what 3, other 4`` added up; None if one has another form."""
    totals: Counter[str] = Counter()
    for text in texts:
        for part in text.split(", "):
            what, _, number = part.rpartition(" ")
            if not what or not number.isdecimal():
                return None
            totals[what] += int(number)
    return totals


def canary_sentence(canary: CanaryResult | None) -> str:
    """Whether the gate proved that it can fail, in one sentence."""
    if canary is None:
        return "Canary: none was run, so a silent gate proves less."
    twin, rule = visible(canary.twin), visible(canary.rule)
    what = "an agent with a bad habit" if canary.is_agent else "a mailbox broken on purpose"
    if canary.caught:
        return f"Canary: {what} ({twin}) was caught in {seconds(canary.seconds)} by {rule}."
    detail = f" {visible(canary.detail)}" if canary.detail else ""
    return (
        f"Canary: {what} ({twin}) was NOT caught by {rule} "
        f"in {seconds(canary.seconds)}: do not trust this run.{detail}"
    )


def headline(outcome: RunOutcome) -> str:
    """The verdict and the counts in one line; words are for people, the exit status for machines."""
    if is_log(outcome):
        return log_headline(outcome)
    fewest, most = outcome.agents
    agents = count(most, "agent") if fewest == most else f"{fewest}..{most} agents"
    return (
        f"{outcome.command.capitalize()}: {outcome.verdict.value.upper()} - {agents}, "
        f"{count(len(outcome.races), 'race')}, {count(outcome.duplicates, 'duplicate')}, "
        f"{count(outcome.double_contacts, 'double contact')}, {seconds(outcome.elapsed_s)}"
    )


def verdict_sentences(outcome: RunOutcome) -> list[str]:
    """What the verdict means and what to do about it, for somebody who sees it first."""
    if is_log(outcome):
        return [*log_sentences(outcome), *map(visible, outcome.notices)]
    sentences = [_meaning(outcome)]
    if outcome.verdict is Verdict.VALID and outcome.rounds and not outcome.duplicates:
        sentences.append(rate_sentence("duplicates", outcome.rounds) + ".")
    sentences += _expected_duplicates(outcome)
    if outcome.late_hand_overs:
        sentences.append(
            f"{count(outcome.late_hand_overs, 'message')} arrived after a newer grant though "
            "authorised before it: late, not duplicated."
        )
    skipped = sum(race.verdict is Verdict.NOT_APPLICABLE for race in without_agent(outcome).races)
    if skipped and outcome.verdict is not Verdict.NOT_APPLICABLE:
        sentences.append(
            f"{count(skipped, 'race')} did not apply: the target lacks what they need. "
            "They are not counted as passed."
        )
    return sentences + [visible(notice) for notice in outcome.notices]


def _expected_duplicates(outcome: RunOutcome) -> list[str]:
    """Some races show what no mailbox can stop, and are valid with mail that came twice (spec: K9)."""
    shown = [
        race
        for race in without_agent(outcome).races
        if race.verdict is Verdict.VALID and race.duplicates and race.scenario != "contention"
    ]
    if not shown:
        return []
    names = listed(dict.fromkeys(race.scenario for race in shown))
    doubled = count(sum(race.duplicates for race in shown), "duplicate")
    return [f"{doubled} came as expected, in races that show what no mailbox can stop: {names}."]


def _meaning(outcome: RunOutcome) -> str:
    match outcome.verdict:
        case Verdict.VALID:
            valid, total = outcome.count(Verdict.VALID), len(outcome.races)
            whole = "Every race" if valid == total else f"Every race that applied ({valid})"
            return f"{whole} ended as expected."
        case Verdict.INVALID:
            broken = [race for race in outcome.races if race.verdict is Verdict.INVALID]
            names = listed(dict.fromkeys(race.scenario for race in broken))
            if outcome.agent is not None and all(race.scenario == "agent" for race in broken):
                return (
                    f"In {len(broken)} of {count(len(outcome.races), 'situation')} the agent did what "
                    "it must not. Do not add it to a shared mailbox until it is mended."
                )
            return (
                f"{len(broken)} of {count(len(outcome.races), 'race')} broke a rule ({names}). "
                "Do not add an agent to this mailbox until it is mended."
            )
        case Verdict.UNKNOWN:
            unsure = [race for race in outcome.races if race.verdict is Verdict.UNKNOWN]
            names = listed(dict.fromkeys(race.scenario for race in unsure))
            return (
                f"No rule was broken, but {count(len(unsure), 'race')} could not be judged"
                f"{f' ({names})' if names else ''}. This is no pass: run it again."
            )
        case Verdict.NOT_APPLICABLE:
            return "No race applies to this target: it lacks what each of them needs."
        case _:
            return "No race was run."
