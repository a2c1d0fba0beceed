"""What is said of a judged log: its rules are no races, and what is not judged is a gap of the log's.

A log's run has one result for the log itself and one for each rule that was not broken; see
`leaserace.harness.judge.verdict`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import RaceResult, Verdict

from .text import count, listed, seconds, visible

LOG = "log"
"""Scenario of the log's own result."""
NOT_JUDGED = "not judged: "
"""What the reason of a rule begins with that the log's fields can't support."""
IDLE = "nothing in the log gave it something to judge"


def is_log(outcome: RunOutcome) -> bool:
    """Whether the run is a log of somebody's system, judged."""
    return outcome.command == "judge" and any(race.scenario == LOG for race in outcome.races)


def noun(outcome: RunOutcome) -> str:
    """What a result of the run is called."""
    return "rule" if is_log(outcome) else "race"


def shown(outcome: RunOutcome) -> Sequence[RaceResult]:
    """Results for the table; rules of a log that were not judged are told in `gaps` instead."""
    if not is_log(outcome):
        return outcome.races
    return [race for race in outcome.races if race.verdict is not Verdict.NOT_APPLICABLE]


def log_headline(outcome: RunOutcome) -> str:
    """The verdict and the counts in one line."""
    log = _log(outcome)
    parts = [visible(outcome.target)]
    for name, what in (("lines", "line"), ("records", "record"), ("contacts", "contact")):
        if name in log.figures:
            parts.append(count(int(log.figures[name]), what))
    agents = outcome.agents[1]
    parts.append(count(agents, "agent") if agents else "no agent named")
    parts.append(f"{count(len(_judged(outcome)), 'rule')} judged, {_gap_count(outcome)} not")
    parts.append(count(outcome.duplicates, "duplicate"))
    parts.append(count(outcome.double_contacts, "double contact"))
    parts.append(seconds(outcome.elapsed_s))
    return f"Judge: {outcome.verdict.value.upper()} - {', '.join(parts)}"


def log_sentences(outcome: RunOutcome) -> Iterator[str]:
    """What the verdict means, and what was not judged."""
    judged, gaps = _judged(outcome), _gap_count(outcome)
    match outcome.verdict:
        case Verdict.VALID:
            yield f"The log breaks none of the {count(len(judged), 'rule')} that it can support."
        case Verdict.INVALID:
            names = _broken(outcome)
            yield (
                f"The log breaks {count(len(names), 'rule')} ({listed(names)}). "
                "Do not add an agent to this mailbox until it is mended."
            )
        case Verdict.UNKNOWN:
            why = visible(_log(outcome).reason)
            yield f"No broken rule was seen, but {why}. This is no pass."
        case _:
            yield "The log's fields support no rule: map more of them."
    if gaps and judged:
        yield f"{count(gaps, 'rule')} {'was' if gaps == 1 else 'were'} not judged; no rule among them counts as kept."


def gaps(outcome: RunOutcome) -> list[str]:
    """What the log does not tell, each with the rules that need it, one line each."""
    if not is_log(outcome):
        return []
    needs: dict[str, list[str]] = {}
    for race in _left_out(outcome):
        reason = visible(race.reason).removeprefix(NOT_JUDGED)
        for why in [IDLE] if reason == IDLE else reason.split("; "):
            needs.setdefault(why.replace("gave it", "gave them"), []).append(race.scenario)
    return [f"{why}: {', '.join(rules)}" for why, rules in needs.items()]


def _log(outcome: RunOutcome) -> RaceResult:
    return next(race for race in outcome.races if race.scenario == LOG)


def _left_out(outcome: RunOutcome) -> list[RaceResult]:
    return [
        race
        for race in outcome.races
        if race.scenario != LOG and race.verdict is Verdict.NOT_APPLICABLE
    ]


def _gap_count(outcome: RunOutcome) -> int:
    return len(_left_out(outcome))


def _broken(outcome: RunOutcome) -> list[str]:
    return list(dict.fromkeys(finding.rule for finding in _log(outcome).findings))


def _judged(outcome: RunOutcome) -> list[str]:
    """Rules that had something to judge, broken or not."""
    return [
        race.scenario
        for race in outcome.races
        if race.scenario != LOG and race.verdict is not Verdict.NOT_APPLICABLE
    ]


def kept_of(outcome: RunOutcome) -> str:
    """How many of the results are valid; of a log, of the rules that it gave something to judge."""
    valid = outcome.count(Verdict.VALID)
    if not is_log(outcome):
        return f"{valid:,} of {len(outcome.races):,}"
    judged = _judged(outcome)
    return f"{valid - (_log(outcome).verdict is Verdict.VALID):,} of {len(judged):,}"


__all__ = ["gaps", "is_log", "kept_of", "log_headline", "log_sentences", "noun", "shown"]
