"""``summary.md``: the run on one page, short enough for the step summary of a CI."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import RaceResult, Verdict

from .agent import agent_markdown
from .judged import gaps, noun, shown
from .picture import Picture
from .rows import Row, canary_sentence, headline, rows, verdict_sentences
from .story import stories_text
from .text import count, fenced, markdown, seconds

BYTES_MAX = 1_000_000
"""GitHub refuses a step summary above 1,024 kB."""
STORY_COLUMNS = 100
_HEADERS = (
    "race",
    "verdict",
    "expected",
    "observed",
    "duplicates",
    "double contacts",
    "rounds",
    "would be masked by",
)


_ROOM_MIN = 1_000
"""Bytes left below which no further section is even tried."""


def summary_md(
    outcome: RunOutcome, races: Mapping[str, Picture], *, bytes_max: int = BYTES_MAX
) -> str:
    """The run as Markdown.

    Args:
        outcome: The run.
        races: Race name to its picture, for the stories.
        bytes_max: Longest page; what does not fit is left out, and said.
    """
    head = "\n".join(_head(outcome)) + "\n"
    tail = "\n".join(_tail(outcome)) + "\n"
    budget = bytes_max - len(head.encode()) - len(tail.encode()) - 200
    kept, left_out = [], 0
    for make in _parts(outcome, races):
        text = make() if budget >= _ROOM_MIN else ""
        size = len(text.encode())
        if text and size <= budget:
            kept.append(text)
            budget -= size
        else:
            left_out += 1
    if left_out:
        kept.append(
            f"\n**Left out for length: {count(left_out, 'section')}; see history.jsonl.**\n"
        )
    return head + "".join(kept) + tail


def _head(outcome: RunOutcome) -> Iterator[str]:
    yield f"# {markdown(headline(outcome))}"
    yield ""
    for sentence in verdict_sentences(outcome):
        yield markdown(sentence) + "  "
    if outcome.canary is not None or outcome.command == "gate":
        yield markdown(canary_sentence(outcome.canary))
    yield ""


def _parts(outcome: RunOutcome, races: Mapping[str, Picture]) -> Iterator[Callable[[], str]]:
    """Makers of the sections, so that what is left out is not made."""
    if outcome.agent is not None:
        report = outcome.agent
        yield lambda: "\n".join(agent_markdown(report)) + "\n"
    races_shown = shown(outcome)
    lines, what = rows(races_shown), noun(outcome)
    if lines:
        yield lambda: "\n".join(_table(lines, what)) + "\n"
    if gaps(outcome):
        yield lambda: "\n".join(_gaps(outcome)) + "\n"
    for race in outcome.races:
        if race.verdict is Verdict.INVALID and (race.findings or what == "race"):
            yield partial(_story, race, races)
    if len(lines) < len(races_shown):
        yield partial(_every, races_shown)
    if outcome.contention:
        yield lambda: "\n".join(_contention(outcome)) + "\n"


def _every(races: Sequence[RaceResult]) -> str:
    every = "\n".join(_table(rows(races, every_variant=True), _HEADERS[0]))
    title = f"All {count(len(races), 'race')}"
    return f"\n<details><summary>{title}</summary>\n\n{every}\n\n</details>\n"


def _gaps(outcome: RunOutcome) -> Iterator[str]:
    yield "\n## Not judged, by what is missing\n"
    for line in gaps(outcome):
        yield f"- {markdown(line)}"


def _table(lines: Sequence[Row], what: str) -> Iterator[str]:
    yield _line([what, *_HEADERS[1:]])
    yield _line(["---"] * 4 + ["--:"] * 3 + ["---"])
    for row in lines:
        bold = "" if row.verdict is Verdict.VALID else "**"
        yield _line(
            [
                markdown(row.name),
                f"{bold}{row.verdict.value}{bold}",
                markdown(row.expected),
                markdown(row.observed),
                f"{row.duplicates:,}",
                f"{row.double_contacts:,}",
                f"{row.rounds:,}",
                markdown(row.masked_by),
            ]
        )


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _story(race: RaceResult, races: Mapping[str, Picture]) -> str:
    told = stories_text(race, races, width=STORY_COLUMNS)
    return f"\n## {markdown(race.race)}\n\n{fenced(told.rstrip())}\n"


def _contention(outcome: RunOutcome) -> Iterator[str]:
    yield "\n## Contention\n"
    yield _line(
        ["agents", "time", "attempts", "conflicts", "sends", "slowest to fastest", "longest wait"]
    )
    yield _line(["--:"] * 7)
    for each in outcome.contention:
        yield _line(
            [
                f"{each.agents}",
                seconds(each.seconds),
                f"{each.attempts:,}",
                f"{each.conflicts:,}",
                f"{each.sends:,}",
                f"{each.slowest_to_fastest:.0%}" + ("" if each.contended else " (starved)"),
                seconds(each.longest_wait_s),
            ]
        )


def _tail(outcome: RunOutcome) -> Iterator[str]:
    yield "\n## Run it again\n"
    yield fenced(outcome.again)
    yield ""
    pairs = sorted(outcome.versions.items())
    if pairs:
        yield "Versions: " + ", ".join(f"{markdown(name)} {markdown(each)}" for name, each in pairs)
    if outcome.policy:
        policy = msgspec.json.format(msgspec.json.encode(outcome.policy, order="sorted"), indent=2)
        block = fenced(policy.decode())
        yield f"\n<details><summary>Policy</summary>\n\n{block}\n\n</details>\n"
    yield f"Target: {markdown(outcome.target)}, seed {outcome.seed}, {markdown(outcome.started_at)}"
