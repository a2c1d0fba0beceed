"""The few operations that prove a finding, in order, a column per agent: what to read at 2 a.m."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from leaserace.harness.history import History, Operation, OpType
from leaserace.harness.verdict import Finding, RaceResult

from .picture import Arrival, Picture, intent_of, pictures, token_of
from .text import answer_words, call_words, count, fault_words, milliseconds, short_id, visible

Races = History | Mapping[str, Picture]
"""Where a race is found: a history, or pictures by name."""
LINES_MAX = 12
"""Moments a story tells; more are left out in the middle, and counted."""
COLUMN_MIN = 20
"""Below so many characters a column, the agents stand beneath each other instead."""
MAILBOX = "receiving mailbox"
_TURNS = frozenset({"acquire", "suppress", "unsuppress", "override", "receive", "cancel"})
"""Calls that change what a contact allows; a story tells them also where no finding names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One line of a story.

    Args:
        t: When, in nanoseconds of the history's clock.
        who: The column: an agent, or `MAILBOX`.
        text: What happened.
        proof: Whether it is part of the proof, so that it is never left out.
        pinned: Whether the rule was broken here.
    """

    t: int
    who: str
    text: str
    proof: bool = True
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A finding, told.

    Args:
        sentence: What went wrong, in one sentence.
        rule: The rule and the numbers of the spec it carries.
        moments: In order.
        left_out: How many moments were left out.
        again: The command that runs the race again.
    """

    sentence: str
    rule: str
    moments: tuple[Moment, ...]
    left_out: int = 0
    again: str = ""


def tell(result: RaceResult, finding: Finding, race: History) -> Story:
    """Gather what proves a finding, with the faults and deliveries between.

    Args:
        result: The race the finding is of.
        finding: What a rule found.
        race: Events of that race only (`History.of_race`).
    """
    return tell_picture(result, finding, picture_of(race, result.race))


def picture_of(races: Races, race: str) -> Picture:
    """The picture of one race, empty if there is none.

    Args:
        races: A history with the race in it, or race names to their pictures.
        race: Its name.
    """
    if isinstance(races, History):
        races = pictures(races.of_race(race))
    return races.get(race) or Picture(race=race)


def tell_picture(result: RaceResult, finding: Finding, picture: Picture) -> Story:
    """The same from a picture of the race."""
    proof = proof_of(finding, picture.operations)
    told: list[Moment] = []
    if proof:
        begin = proof[0].invoked_ns
        end = max(finding.t, *(op.completed_ns or op.invoked_ns for op in proof))
        agents = {*finding.agents, *(op.agent for op in proof)}
        between = [*_faults(agents, picture, begin, end), *_deliveries(proof, picture)]
        instants = {moment.t for moment in between}
        instants |= {t for op in proof for t in (op.invoked_ns, op.completed_ns) if t is not None}
        told = [moment for op in proof for moment in _of_operation(op, instants)]
        told = sorted([*told, *between], key=lambda moment: moment.t)
    kept = _keep(_pin(told, finding.t))
    return Story(
        sentence=visible(finding.message),
        rule=f"{visible(finding.rule)} (spec: {visible(', '.join(finding.spec)) or '-'})",
        moments=tuple(kept),
        left_out=len(told) - len(kept),
        again=visible(result.again),
    )


def proof_of(finding: Finding, operations: Sequence[Operation]) -> list[Operation]:
    """The operations that prove it; where a finding names none, the contact's last ones."""
    named = set(finding.ops)
    if named:
        return _with_grants(named, operations)
    near = [
        op
        for op in operations
        if (not finding.contact or op.contact == finding.contact)
        and (not finding.t or op.invoked_ns <= finding.t)
    ]
    return near[-6:]


def _with_grants(named: Set[str], operations: Sequence[Operation]) -> list[Operation]:
    """The operations named, with the grants of the tokens they carry and those between.

    There the story begins, and there the contact went to somebody else.
    """
    proof = [op for op in operations if op.op in named]
    tokens = {(op.agent, op.contact, token_of(op)) for op in proof if token_of(op)}
    contacts = {op.contact for op in proof if op.contact}
    end = max((op.completed_ns or op.invoked_ns for op in proof), default=0)
    begin = min((op.invoked_ns for op in proof), default=0)
    told = []
    for op in operations:
        granted = op.f == "acquire" and op.type is OpType.OK
        if granted and (op.agent, op.contact, token_of(op)) in tokens:
            begin = min(begin, op.invoked_ns)
    for op in operations:
        turn = op.f in _TURNS and op.type is OpType.OK and op.contact in contacts
        if op.op in named or (turn and begin <= op.invoked_ns <= end):
            told.append(op)
    return told


def _of_operation(op: Operation, instants: Iterable[int]) -> list[Moment]:
    """One moment where nothing else happened meanwhile, else its begin and its end."""
    call, end_ns = call_words(op), op.completed_ns
    answer = answer_words(op)
    if end_ns is None:
        return [Moment(t=op.invoked_ns, who=op.agent, text=f"{call}: {answer}")]
    if not any(op.invoked_ns < t < end_ns for t in instants):
        return [Moment(t=end_ns, who=op.agent, text=f"{call}: {answer}")]
    return [
        Moment(t=op.invoked_ns, who=op.agent, text=f"{call} ..."),
        Moment(t=end_ns, who=op.agent, text=f"... {op.f}: {answer}"),
    ]


def _faults(agents: Set[str], picture: Picture, begin: int, end: int) -> list[Moment]:
    """Faults of those involved and of the surroundings, also one that began before and lasts."""
    told = []
    for span in picture.faults:
        if span.agent and span.agent not in agents:
            continue
        both = [(span.begin_ns, True)]
        if span.end_ns is not None and span.fault != "lost_reply":
            both.append((span.end_ns, False))
        lasts = span.end_ns is None or span.end_ns >= begin
        for t, begins in both:
            if begin <= t <= end or (begins and lasts and t < begin):
                text = fault_words(span.fault, span.point, span.detail, begins=begins)
                told.append(Moment(t=t, who=span.agent or MAILBOX, text=text, proof=False))
    return sorted(told, key=lambda moment: moment.t)


def _deliveries(proof: Sequence[Operation], picture: Picture) -> list[Moment]:
    """What arrived of the sends in question, and what else the contact got meanwhile."""
    contacts = {op.contact for op in proof}
    begin = proof[0].invoked_ns
    end = max(op.completed_ns or op.invoked_ns for op in proof)
    intents = {intent_of(op) for op in proof} - {""}
    return [
        Moment(t=arrival.t_ns, who=MAILBOX, text=_arrival(arrival))
        for arrival in picture.arrivals
        if arrival.t_ns >= begin
        and (arrival.intent in intents or (arrival.contact in contacts and arrival.t_ns <= end))
    ]


def _arrival(arrival: Arrival) -> str:
    words = f"{short_id(arrival.message_id)} arrives"
    if arrival.number > 1:
        words = f"DUPLICATE: {words}, number {arrival.number} of {visible(arrival.intent)}"
    return words if arrival.replied else f"{words}, its reply is LOST"


def _pin(told: list[Moment], t: int) -> list[Moment]:
    """Mark where the rule was broken: the last moment up to that instant."""
    places = [place for place, moment in enumerate(told) if not t or moment.t <= t]
    if not places:
        return told
    place = places[-1]
    return [*told[:place], replace(told[place], pinned=True), *told[place + 1 :]]


def _keep(told: list[Moment]) -> list[Moment]:
    """At most `LINES_MAX` moments: faults between go first, then the middle."""
    for keep in (lambda _: True, lambda moment: moment.proof or moment.pinned):
        told = [moment for moment in told if keep(moment)] if len(told) > LINES_MAX else told
    if len(told) <= LINES_MAX:
        return told
    head = LINES_MAX // 3
    return [*told[:head], *told[head - LINES_MAX :]]


def story_text(story: Story, *, width: int = 100) -> str:
    """The story as text: the sentence on top, the command that runs it again below.

    Args:
        story: What `tell` gathered.
        width: Columns of the terminal, at least 40.
    """
    width = max(40, width)
    lines = textwrap.wrap(story.sentence, width)
    lines += textwrap.wrap(f"rule {story.rule}", width, initial_indent="  ", subsequent_indent="  ")
    lines.append("")
    lines += _table(story, width)
    if story.left_out:
        lines.append(f"  ({count(story.left_out, 'moment')} left out; the history has all)")
    if story.again:
        lines += ["", "run it again:", f"  {story.again}"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(story: Story, width: int) -> list[str]:
    if not story.moments:
        return ["  (the finding names no operation)"]
    columns = list(dict.fromkeys(moment.who for moment in story.moments))
    if MAILBOX in columns:
        columns.remove(MAILBOX)
        columns.append(MAILBOX)
    start = story.moments[0].t
    times = [f"+{milliseconds(moment.t - start)}" for moment in story.moments]
    margin = max(len("ms"), *(len(time) for time in times)) + 2
    each = (width - margin) // len(columns) - 3
    if each < COLUMN_MIN:
        return _beneath(story, times, margin, width)
    head = ["ms".rjust(margin), *(visible(who)[:each].ljust(each) for who in columns)]
    lines = [" | ".join(head), "-+-".join(["-" * margin, *("-" * each for _ in columns)])]
    for moment, time in zip(story.moments, times, strict=True):
        parts = textwrap.wrap(moment.text, each, break_on_hyphens=False) or [""]
        for number, part in enumerate(parts):
            margin_text = (_sign(moment) + time).rjust(margin) if not number else " " * margin
            cells = [part if who == moment.who else "" for who in columns]
            lines.append(" | ".join([margin_text, *(cell.ljust(each) for cell in cells)]))
    return lines


def _beneath(story: Story, times: Sequence[str], margin: int, width: int) -> list[str]:
    """For a narrow terminal or many agents: one line a moment, who acts in front."""
    name = max(len(visible(moment.who)) for moment in story.moments)
    lines = []
    for moment, time in zip(story.moments, times, strict=True):
        front = f"{(_sign(moment) + time).rjust(margin)}  {visible(moment.who).ljust(name)}  "
        indent = " " * (len(front) if len(front) < width - COLUMN_MIN else margin + 2)
        lines += textwrap.wrap(
            front + moment.text,
            width,
            subsequent_indent=indent,
            break_on_hyphens=False,
            drop_whitespace=False,
        )
    return lines


def _sign(moment: Moment) -> str:
    return "! " if moment.pinned else ""


def by_rule(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Findings by rule, in order; rules of the history before a script's own expectations.

    The former say what was broken, the latter only that something was.
    """
    made: dict[str, list[Finding]] = {}
    for finding in findings:
        made.setdefault(finding.rule, []).append(finding)
    return dict(sorted(made.items(), key=lambda item: item[0].startswith("scenario.")))


def leading(race: RaceResult) -> Finding | None:
    """The finding to tell first, or None."""
    return next((findings[0] for findings in by_rule(race.findings).values()), None)


def telling(races: Iterable[RaceResult]) -> list[tuple[RaceResult, Finding]]:
    """Each failing race with its leading finding; what was not told yet comes first.

    A variant that broke the same rule as the one before tells nothing new.
    """
    pairs = [(race, finding) for race in races if (finding := leading(race)) is not None]
    firsts = {(race.scenario, finding.rule): race.race for race, finding in reversed(pairs)}
    return sorted(pairs, key=lambda pair: firsts[pair[0].scenario, pair[1].rule] != pair[0].race)


def stories_text(
    result: RaceResult,
    races: Races,
    *,
    width: int = 100,
    limit: int = 3,
) -> str:
    """The stories of a race's findings: the first of each rule, at most `limit`.

    Args:
        result: The race.
        races: A history with the race in it, or race names to their pictures.
        width: Columns of the terminal.
        limit: How many rules' stories to tell.
    """
    picture = picture_of(races, result.race)
    rules, parts = by_rule(result.findings), []
    for rule, findings in list(rules.items())[:limit]:
        text = story_text(tell_picture(result, findings[0], picture), width=width)
        if len(findings) > 1:
            text += (
                f"and {count(len(findings) - 1, 'more finding')} of {visible(rule)} in this race\n"
            )
        parts.append(text)
    if len(rules) > limit:
        parts.append(f"and findings of {count(len(rules) - limit, 'more rule')}\n")
    return "\n".join(parts)


__all__ = [
    "MAILBOX",
    "Moment",
    "Story",
    "by_rule",
    "leading",
    "stories_text",
    "story_text",
    "tell",
    "tell_picture",
    "telling",
]
