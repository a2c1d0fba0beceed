"""The parts of the page that are read without a script, each a function from a run to HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

import msgspec

from leaserace.harness.outcome import Contention, RunOutcome
from leaserace.harness.verdict import Finding, RaceResult, Verdict

from . import palette
from .agent import without_agent
from .duplicates import Wrong, rate_sentences
from .judged import is_log, kept_of, noun
from .markup import (
    command_line,
    escape,
    joints,
    race_link,
    section,
    ticks,
    verdict_class,
    wide_row,
    wide_table,
    word,
)
from .picture import Picture
from .rows import Row, canary_sentence, headline, rows, verdict_sentences
from .story import MAILBOX, Moment, Story, by_rule, tell_picture, telling
from .text import count, milliseconds, seconds, visible
from .timeline import timeline_image

STORIES_MAX = 12
IMAGES_MAX = 1
"""Drawing one takes about a second; the timeline shows the rest."""
WRONGS_MAX = 200
RACES_MAX = 1_000
RATES_MAX = 4

_TITLES = {
    "agent": "The agent",
    "stories": "What went wrong",
    "wrong": "What arrived",
    "races": "Races",
    "timeline": "Timeline",
    "contention": "Contention",
    "run": "Run",
}


def navigation(body: str) -> str:
    """Links to the sections the page has."""
    titles = _TITLES | ({"races": "Rules"} if 'id="races-title">Rules<' in body else {})
    return "".join(
        f'<a href="#{name}">{title}</a>'
        for name, title in titles.items()
        if f'<section id="{name}"' in body
    )


def verdict(outcome: RunOutcome) -> str:
    """The verdict, what it means, and the figures that matter."""
    sentences = "".join(f"<p>{escape(each)}</p>" for each in verdict_sentences(outcome))
    canary = ""
    if outcome.canary is not None or outcome.command == "gate":
        bad = outcome.canary is None or not outcome.canary.caught
        canary = (
            f'<p class="{"note" if bad else "muted"}">{escape(canary_sentence(outcome.canary))}</p>'
        )
    title = escape(headline(outcome)).replace(
        outcome.verdict.value.upper(),
        word(outcome.verdict).replace(
            f">{outcome.verdict.value}<", f">{outcome.verdict.value.upper()}<"
        ),
        1,
    )
    return (
        f'<div class="card verdict {verdict_class(outcome.verdict)}"><h1>{title}</h1>'
        f"{sentences}{canary}{command_line(outcome.again)}</div>\n{_figures(outcome)}"
    )


def _figures(outcome: RunOutcome) -> str:
    figures = (
        ("duplicates", f"{outcome.duplicates:,}", outcome.duplicates > 0),
        ("double contacts", f"{outcome.double_contacts:,}", outcome.double_contacts > 0),
        (f"{noun(outcome)}s valid", kept_of(outcome), outcome.count(Verdict.INVALID) > 0),
        ("sends judged" if is_log(outcome) else "contended rounds", f"{outcome.rounds:,}", False),
        ("late hand-overs", f"{outcome.late_hand_overs:,}", False),
    )
    cells = "".join(
        f"<div{' class=bad' if bad else ''}><dt>{name}</dt><dd>{value}</dd></div>"
        for name, value, bad in figures
    )
    return f'<dl class="figures">{cells}</dl>'


def stories(outcome: RunOutcome, races: Mapping[str, Picture]) -> str:
    """The proof of the first finding of each rule in each race, as a table and as an image."""
    told = telling(outcome.races)
    if not told:
        return ""
    cards = []
    for number, (race, finding) in enumerate(told[:STORIES_MAX]):
        picture = races.get(race.race)
        cards.append(_story(race, finding, picture, image=number < IMAGES_MAX))
    if len(told) > STORIES_MAX:
        more = count(len(told) - STORIES_MAX, "more race")
        cards.append(f'<p class="note">{more} failed: the timeline pins every finding.</p>')
    return section("stories", "What went wrong", "\n".join(cards))


def _story(race: RaceResult, finding: Finding, picture: Picture | None, *, image: bool) -> str:
    more = sum(each.rule == finding.rule for each in race.findings) - 1
    again = f" and {count(more, 'more finding')} of this rule in this race" if more else ""
    parts = [
        f'<article class="card"><h3>{escape(finding.message)}</h3>',
        f'<p class="muted small">{escape(race.race)} &middot; rule <code>{escape(finding.rule)}</code>',
        f"(spec: {escape(', '.join(finding.spec))}){again} &middot;",
        f'<a href="#timeline" data-race="{escape(race.race)}">show it in the timeline</a></p>',
    ]
    if picture is not None:
        parts.append(_moments(tell_picture(race, finding, picture)))
        if image:
            parts.append(_image(timeline_image(picture, [finding]), f"Timeline: {finding.message}"))
    parts.append(_also(race, finding))
    if race.masked_by:
        parts.append(f'<p class="small muted">Would be masked by: {ticks(race.masked_by)}</p>')
    if race.again:
        parts.append(command_line(race.again))
    return "\n".join([*parts, "</article>"])


def _also(race: RaceResult, told: Finding) -> str:
    """What other rules say of the same race, a sentence each."""
    items = "".join(
        f"<li><code>{escape(rule)}</code>: {escape(findings[0].message)}"
        f"{f' (and {len(findings) - 1:,} more)' if len(findings) > 1 else ''}</li>"
        for rule, findings in by_rule(race.findings).items()
        if rule != told.rule
    )
    return (
        f'<p class="small muted">Also in this race:</p><ul class="small">{items}</ul>'
        if items
        else ""
    )


def _moments(story: Story) -> str:
    columns = list(dict.fromkeys(moment.who for moment in story.moments if moment.who != MAILBOX))
    if any(moment.who == MAILBOX for moment in story.moments):
        columns.append(MAILBOX)
    if not story.moments:
        return "<p>The finding names no operation.</p>"
    start = story.moments[0].t
    head = "".join(f'<th scope="col">{escape(who)}</th>' for who in columns)
    body = "".join(_moment(moment, columns, start) for moment in story.moments)
    left = f'<p class="muted small">{count(story.left_out, "moment")} left out.</p>'
    return (
        f'<div class="scroll"><table class="story"><thead><tr><th scope="col" class="n">ms</th>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div>{left if story.left_out else ''}"
    )


def _moment(moment: Moment, columns: Sequence[str], start: int) -> str:
    cells = "".join(
        f'<td data-label="{escape(who)}">{escape(moment.text) if who == moment.who else ""}</td>'
        for who in columns
    )
    pinned = ' class="pinned"' if moment.pinned else ""
    mark = "broken here: " if moment.pinned else ""
    return f'<tr{pinned}><td class="n">{mark}+{milliseconds(moment.t - start)}</td>{cells}</tr>'


_INKS = {
    palette.OK: "var(--ok)",
    palette.VIOLATION: "var(--invalid)",
    palette.REFUSED: "var(--no)",
    palette.UNKNOWN: "var(--un)",
    palette.PAUSE: "var(--pause)",
    palette.COOLDOWN: "var(--cool)",
    **{colour: f"var(--a{place})" for place, colour in enumerate(palette.AGENTS)},
    "#24292f": "currentColor",
    "#f6f8fa": "var(--lane)",
    "#d0d7de": "var(--line)",
    "#ffffff": "var(--card)",
    "#000000": "currentColor",
}


def _image(svg: bytes, title: str) -> str:
    """An image of ours for the page: no prologue, and the ink of the page, light or dark."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for ink, colour in _INKS.items():
        text = text.replace(ink.lower(), colour)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)
    return f"<figure>{text.strip()}</figure>"


def wrong(outcome: RunOutcome, found: Sequence[Wrong]) -> str:
    """What arrived and should not have, with rates; nothing wrong is said as a rate too."""
    rates = _rates(rate_sentences(outcome))
    if not found:
        return section("wrong", "What arrived and should not have", f"<p>Nothing.</p>{rates}")
    columns = (
        "what",
        "contact",
        "copies",
        "agents",
        "tokens",
        "keys",
        "rules",
        "stopped by",
        "state",
    )
    body = "".join(_wrong(row) for row in found[:WRONGS_MAX])
    more = len(found) - WRONGS_MAX
    note = f'<p class="note">{more:,} more; see the frames.</p>' if more > 0 else ""
    table_ = wide_table(columns, body, numbers=("copies",))
    return section("wrong", "What arrived and should not have", table_ + note + rates)


def _rates(sentences: Sequence[str]) -> str:
    shown, rest = sentences[:RATES_MAX], sentences[RATES_MAX:]
    text = "".join(f"<p>{escape(each)}.</p>" for each in shown)
    if rest:
        more = "".join(f"<p>{escape(each)}.</p>" for each in rest)
        text += f"<details><summary>{count(len(rest), 'more rate')}</summary>{more}</details>"
    return text


def _wrong(row: Wrong) -> str:
    state = "not recorded"
    if row.state:
        state = f"<details><summary>state</summary><code>{escape(row.state)}</code></details>"
    return wide_row(
        ("what", f"{escape(row.kind)}<br><span class='muted small'>{joints(row.race)}</span>"),
        ("contact", f"{escape(row.contact)}<br><code>{escape(row.intent)}</code>"),
        ("copies", f"{row.copies}"),
        ("agents", escape(", ".join(row.agents))),
        ("tokens", escape(", ".join(map(str, row.tokens)))),
        ("keys", f"<code>{escape(', '.join(row.keys))}</code>"),
        ("rules", "<br>".join(map(joints, row.rules)) or "-"),
        ("stopped by", escape(row.layer) or "-"),
        ("state", state),
    )


_RACES = ("race", "verdict", "expected", "observed", "duplicates", "double", "rounds", "masked by")
_COUNTS = ("duplicates", "double", "rounds")


def table(outcome: RunOutcome) -> str:
    """The races: scenarios first, every variant behind; those of an agent stand in its own section."""
    outcome = without_agent(outcome)
    lines = rows(outcome.races)
    if not lines:
        return ""
    what = noun(outcome)
    columns = (what, *_RACES[1:])
    body = wide_table(columns, "".join(map(_race, lines)), numbers=_COUNTS)
    if len(lines) < len(outcome.races):
        every = rows(outcome.races[:RACES_MAX], every_variant=True)
        more = len(outcome.races) - RACES_MAX
        note = f'<p class="note">{more:,} more in verdict.json.</p>' if more > 0 else ""
        whole = wide_table(_RACES, "".join(map(_race, every)), numbers=_COUNTS)
        body += (
            f"<details><summary>All {len(outcome.races):,} races</summary>{whole}{note}</details>"
        )
    return section("races", f"{what.capitalize()}s", body)


def _race(row: Row) -> str:
    counts = (row.duplicates, row.double_contacts)
    bad = [name for name, value in zip(_COUNTS, counts, strict=False) if value]
    one = row.races[0].race if len(row.races) == 1 else ""  # it has a timeline to show
    return wide_row(
        ("race", race_link(one, row.name) if one else joints(row.name)),
        ("verdict", word(row.verdict)),
        ("expected", ticks(row.expected)),
        ("observed", ticks(row.observed) or "-"),
        ("duplicates", f"{row.duplicates:,}"),
        ("double", f"{row.double_contacts:,}"),
        ("rounds", f"{row.rounds:,}"),
        ("masked by", ticks(row.masked_by) or "-"),
        bad=bad,
        numbers=_COUNTS,
    )


def contention(outcome: RunOutcome, images: Mapping[str, str], person: Sequence[str]) -> str:
    """Figures and charts of how agents got in each other's way."""
    if not (outcome.contention or images):
        return ""
    columns = ("agents", "time", "asked", "refused", "sent", "slowest to fastest", "longest wait")
    body = "".join(map(_contention, outcome.contention))
    parts = [wide_table(columns, body, numbers=columns)] if body else []
    cards = "".join(f'<div class="card"><figure>{svg}</figure></div>' for svg in images.values())
    parts.append(f'<div class="charts">{cards}</div>')
    if person:
        items = "".join(f"<li>{escape(each)}</li>" for each in person)
        parts.append(f"<h3>Repeated so often that a person should hear of it</h3><ul>{items}</ul>")
    return section("contention", "Contention", "\n".join(parts))


def _contention(each: Contention) -> str:
    starved = "" if each.contended else " (starved)"
    cells = (
        ("agents", f"{each.agents}"),
        ("time", seconds(each.seconds)),
        ("asked", f"{each.attempts:,}"),
        ("refused", f"{each.conflicts:,}"),
        ("sent", f"{each.sends:,}"),
        ("slowest to fastest", f"{each.slowest_to_fastest:.0%}{starved}"),
        ("longest wait", seconds(each.longest_wait_s)),
    )
    return wide_row(*cells, numbers=[name for name, _ in cells])


def particulars(outcome: RunOutcome) -> str:
    """Target, seed, versions, policy, and how to run it again."""
    facts = {
        "target": outcome.target,
        "seed": outcome.seed,
        "began": outcome.started_at,
        "took": seconds(outcome.elapsed_s),
        **dict(sorted(outcome.versions.items())),
    }
    pairs = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()
    )
    policy = msgspec.json.format(msgspec.json.encode(outcome.policy, order="sorted"), indent=2)
    plain = html.escape(visible(policy.decode(), keep_lines=True))
    return section(
        "run",
        "This run",
        f'<dl class="pairs card">{pairs}</dl>{command_line(outcome.again)}'
        f"<details><summary>Policy</summary><pre>{plain}</pre></details>",
    )


def footer(outcome: RunOutcome) -> str:
    """Where the page comes from."""
    own = outcome.versions.get("leaserace", "")
    made = f"Made by leaserace {escape(own)} from <code>verdict.json</code> and"
    return f"{made} <code>history.jsonl</code>; <code>trace.json</code> opens in Perfetto."
