"""A history of ours, judged again: each of its races by the rules of today."""

from __future__ import annotations

import shlex
import time
from datetime import UTC, datetime
from pathlib import Path

from ..contract import UsageError
from ..history import AnyEvent, History, InvalidHistory, MarkEvent
from ..lines import Lines, validated
from ..outcome import RunOutcome
from ..rules import ALL
from ..rules.base import Judge, RaceInfo
from ..verdict import RaceResult, Verdict
from .lines import open_log
from .run import Answer
from .verdict import versions

EVENTS_SHOWN = 200_000
AGAIN = (
    "The history was judged again by the rules; whether each race entered its window, and what it "
    "expected of its answers, is said by the run's own verdict."
)


def is_history(path: Path) -> bool:
    """Whether the file is a history of ours, by its first line.

    Raises:
        UsageError: It can't be read.
    """
    with open_log(path) as file:
        head = file.readline(4_096).lstrip()
    return head.startswith(b'{"e":"')


def judge_history(path: Path) -> Answer:
    """Judge every race of a history.

    Raises:
        UsageError: It is no history; the message names file and line.
    """
    started, began_s = datetime.now(UTC), time.monotonic()
    judges: dict[str, Judge] = {}
    agents: dict[str, set[str]] = {}
    shown: list[AnyEvent] = []
    lines = Lines(path)
    try:
        for event in validated(lines):
            judge = judges.get(event.race)
            if judge is None:
                judge = judges[event.race] = Judge(_info(event), ALL)
            judge.feed(event)
            agents.setdefault(event.race, set()).add(getattr(event, "agent", ""))
            if len(shown) < EVENTS_SHOWN:
                shown.append(event)
    except InvalidHistory as error:
        raise UsageError(str(error)) from error
    again = shlex.join(["leaserace", "judge", str(path)])
    results = [
        _result(race, judge, len(agents[race] - {""}), again)
        for race, judge in judges.items()
        if race
    ]
    cut = lines.number > len(shown)
    outcome = RunOutcome(
        command="judge",
        target=path.name,
        seed=0,
        agents=_range([result.agents for result in results]),
        verdict=Verdict.merge(result.verdict for result in results),
        races=tuple(results),
        again=again,
        started_at=started.isoformat(timespec="seconds"),
        elapsed_s=time.monotonic() - began_s,
        versions=versions(),
        notices=(
            AGAIN,
            *lines.notices,
            *([f"The first {EVENTS_SHOWN:,} events are shown."] if cut else []),
        ),
    )
    return Answer(
        outcome=outcome,
        history=History(shown),
        traced=(),
        judged=tuple(rule.name for rule in ALL),
        not_judged={},
    )


def _info(event: AnyEvent) -> RaceInfo:
    if isinstance(event, MarkEvent) and event.name == "race.begin":
        return RaceInfo.from_mark(event.data)
    return RaceInfo()


def _result(race: str, judge: Judge, agents: int, again: str) -> RaceResult:
    judge.finish()
    said = judge.judgement()
    scenario, _, variant = race.partition("[")
    return RaceResult(
        race=race,
        scenario=scenario.partition("/")[0],
        variant=variant.partition("]")[0],
        agents=agents,
        verdict=said.verdict,
        expected="no rule is broken",
        observed=f"{sum(said.exercised.values()):,} judgements, {len(said.findings)} findings",
        reason="; ".join(said.unknown),
        findings=said.findings,
        rounds=said.exercised.get("sends.once", 0),
        duplicates=said.duplicates,
        double_contacts=said.double_contacts,
        late_hand_overs=said.late_hand_overs,
        again=again,
    )


def _range(counts: list[int]) -> tuple[int, int]:
    return (min(counts), max(counts)) if counts else (0, 0)


__all__ = ["is_history", "judge_history"]
