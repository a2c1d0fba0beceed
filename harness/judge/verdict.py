"""From what was found in a log to a run's outcome: one row for the log, one for each rule."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from ..outcome import RunOutcome
from ..rules.base import Rule
from ..verdict import Finding, RaceResult, Verdict
from .build import RACE
from .shard import Judged, Terms
from .support import NEVER, rules_for

RACE_RULES = f"{', '.join(NEVER)} judge a race's script and a skew that was put in on purpose: a log has none."
EXPECTED = "no rule that the log can support is broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a judgement of a log is said with.

    Args:
        name: The log's name.
        again: The command that judges it again.
        started_at: When it began, ISO 8601.
        elapsed_s: Wall-clock seconds it took.
        agents: How many agents the log names.
        notices: What was assumed.
        broken_from: First line that could not be read, or 0.
        lines, records: How many lines the log has, and how many records came of them.
    """

    name: str
    again: str
    started_at: str
    elapsed_s: float
    agents: int
    notices: tuple[str, ...]
    broken_from: int
    lines: int = 0
    records: int = 0


def outcome_of(judged: Judged, terms: Terms, setting: Setting) -> RunOutcome:
    """What a log came to.

    Args:
        judged: What was found in all its shards.
        terms: What it was judged by.
        setting: What it is said with.
    """
    rules, left = rules_for(terms.facts())
    broken = {finding.rule for finding in judged.findings}
    doubts = list(judged.unknown)
    if setting.broken_from:
        doubts.append(f"from line {setting.broken_from:,} on the log could only be read in part")
    whole = _whole(judged, terms, setting, rules, doubts)
    rows = [whole]
    rows += [_broken(rule, judged, setting.again) for rule in rules if rule.name in broken]
    rows += [
        _row(rule, judged.exercised.get(rule.name, 0), doubts, setting.again)
        for rule in rules
        if rule.name not in broken
    ]
    rows += [_left_out(name, why) for name, why in left.items() if name not in NEVER]
    return RunOutcome(
        command="judge",
        target=setting.name,
        seed=0,
        agents=(setting.agents, setting.agents),
        verdict=whole.verdict,
        races=tuple(rows),
        again=setting.again,
        started_at=setting.started_at,
        elapsed_s=setting.elapsed_s,
        versions=versions(),
        policy=_policy(terms),
        notices=(*setting.notices, RACE_RULES),
    )


def _whole(
    judged: Judged, terms: Terms, setting: Setting, rules: list[type[Rule]], doubts: list[str]
) -> RaceResult:
    exercised = sum(judged.exercised.values())
    if judged.findings:
        verdict = Verdict.INVALID
    elif doubts:
        verdict = Verdict.UNKNOWN
    elif not rules:
        verdict = Verdict.NOT_APPLICABLE
    else:
        verdict = Verdict.VALID if exercised else Verdict.UNKNOWN
    reason = "; ".join(doubts)
    if verdict is Verdict.UNKNOWN and not doubts:
        reason = "nothing in the log gave any rule something to judge"
    if verdict is Verdict.NOT_APPLICABLE:
        reason = "the log's fields support no rule"
    more = sum(judged.left_out.values())
    plain = "" if terms.whole else f" ({judged.plain:,} plainly in order)"
    observed = f"{judged.contacts:,} contacts{plain}, {len(judged.findings) + more:,} findings"
    return RaceResult(
        race=RACE,
        scenario=RACE,
        variant="",
        agents=setting.agents,
        verdict=verdict,
        expected=EXPECTED,
        observed=observed,
        reason=reason if verdict is not Verdict.INVALID else "",
        findings=tuple(sorted(judged.findings, key=_gravest)),
        rounds=judged.exercised.get("sends.once", 0),
        duplicates=judged.counts.get("duplicates", 0),
        double_contacts=judged.counts.get("double_contacts", 0),
        late_hand_overs=judged.counts.get("late_hand_overs", 0),
        again=setting.again,
        figures={
            "lines": float(setting.lines),
            "records": float(setting.records),
            "contacts": float(judged.contacts),
            "findings left out": float(more),
        },
    )


_ORDER = ("sends.once", "keys.one_per_send", "cooldown.no_double_contact", "suppression.wins")


def _gravest(finding: Finding) -> tuple[int, int]:
    """Duplicates first: they are what somebody woke up for."""
    place = _ORDER.index(finding.rule) if finding.rule in _ORDER else len(_ORDER)
    return place, finding.t


def _broken(rule: type[Rule], judged: Judged, again: str) -> RaceResult:
    """A rule that was broken; its findings stand in the log's own row, whose timeline shows them."""
    found = sum(finding.rule == rule.name for finding in judged.findings)
    found += judged.left_out.get(rule.name, 0)
    return RaceResult(
        race=rule.name,
        scenario=rule.name,
        variant="",
        agents=0,
        verdict=Verdict.INVALID,
        expected=property_of(rule),
        reason=f"{found:,} {'finding' if found == 1 else 'findings'}, told under {RACE}",
        again=again,
    )


def _row(rule: type[Rule], exercised: int, doubts: list[str], again: str) -> RaceResult:
    """A rule that was judged and not broken."""
    verdict, reason = Verdict.VALID, ""
    if not exercised:
        verdict, reason = Verdict.NOT_APPLICABLE, "nothing in the log gave it something to judge"
    elif doubts:
        verdict, reason = Verdict.UNKNOWN, doubts[0]
    return RaceResult(
        race=rule.name,
        scenario=rule.name,
        variant="",
        agents=0,
        verdict=verdict,
        expected=property_of(rule),
        observed=f"judged {exercised:,} times",
        reason=reason,
        again=again,
    )


def _left_out(name: str, why: str) -> RaceResult:
    """A rule that the log's fields can't support."""
    return RaceResult(
        race=name,
        scenario=name,
        variant="",
        agents=0,
        verdict=Verdict.NOT_APPLICABLE,
        expected="",
        reason=f"not judged: {why}",
    )


def property_of(rule: type[Rule]) -> str:
    """The rule's property: the first sentence of its docstring."""
    first = (rule.__doc__ or rule.name).split("\n\n")[0]
    return re.sub(r"\s+", " ", first).strip().removesuffix(".")


def _policy(terms: Terms) -> MappingOf[str, object]:
    told = terms.mapping.settings
    return {
        "lease_s": None if terms.lease_ms is None else terms.lease_ms / 1000,
        "cooldown_s": told.cooldown_s,
        "key_window_s": told.key_window_s,
        "identity": terms.identity,
    }


def versions() -> dict[str, str]:
    """Of what judged."""
    try:
        ours = version("leaserace")
    except PackageNotFoundError:
        ours = "unknown"
    return {
        "leaserace": ours,
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
    }


__all__ = ["Setting", "outcome_of", "property_of", "versions"]
