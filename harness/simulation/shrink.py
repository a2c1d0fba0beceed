"""From a run with a finding to the smallest one we can make: fewest calls, faults and switches."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..contract import UsageError
from .choices import CRASH, TIME, faults, switches
from .driver import Bounds
from .run import Outcome, Runner
from .schedule import Schedule
from .strategies.pct import Pct
from .strategies.replay import Replay
from .subjects import Subject, parse

SECONDS_MAX = 4.0
TRIES = 24
"""Drawn runs of a smaller subject before it is given up."""
FOREVER = 400
"""More moves than any agent of a small subject makes."""

WITNESSES = (
    "prog.AS",
    "prog.A.A",
    "prog.AN",
    "prog.ASR",
    "prog.ASS",
    "prog.AS.AS",
    "prog.ASXR",
    "prog.ASL.AS",
    "prog.ASLAS",
    "prog.ATR",
    "prog.AXN.A",
    "prog.AXS.A",
)
"""Clients that may show what agents with playbooks showed, in fewer calls."""

Size = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What shrinking came to.

    Args:
        schedule: The smallest schedule found.
        outcome: Its run.
        runs: Runs it took.
    """

    schedule: Schedule
    outcome: Outcome
    runs: int


class Shrinker:
    """Makes one finding's run smaller.

    Args:
        runner: Entered.
        schedule: A run with the finding.
        rule: The rule that must go on finding it.
        seconds: When to be content.
    """

    def __init__(
        self, runner: Runner, schedule: Schedule, rule: str, *, seconds: float = SECONDS_MAX
    ) -> None:
        self._runner = runner
        self._rule = rule
        self._ends = time.perf_counter() + seconds
        self._runs = 0
        self._rng = random.Random(schedule.to_text())
        self._schedule = schedule
        outcome = self._replay(schedule.to_subject(), schedule.choices)
        if outcome is None:
            raise UsageError(f"the schedule does not show {rule} any more: the code has changed")
        self._best = outcome

    def shrink(self) -> Shrunk:
        """Try ever smaller runs until nothing helps or the time is up."""
        while self._in_time() and (self._smaller_subject() or self._smaller_choices()):
            pass
        return Shrunk(
            schedule=replace(self._schedule, choices=tuple(self._best.trail)),
            outcome=self._best,
            runs=self._runs,
        )

    def _in_time(self) -> bool:
        return time.perf_counter() < self._ends

    def _replay(self, subject: Subject, choices: Sequence[int]) -> Outcome | None:
        return self._run(subject, Replay(choices, strict=False), Bounds())

    def _run(self, subject: Subject, chooser: Replay | Pct, bounds: Bounds) -> Outcome | None:
        """One run; None if the rule has nothing to say of it."""
        self._runs += 1
        schedule = self._schedule
        outcome = self._runner.run(
            subject, schedule.policy, chooser, bounds, coarse=schedule.coarse
        )
        shows = any(finding.rule == self._rule for finding in outcome.findings)
        return outcome if shows else None

    # -- the subject: fewer agents, fewer calls ----------------------------------------------------

    def _smaller_subject(self) -> bool:
        for text, choices in smaller_subjects(self._schedule.subject, self._best.trail):
            if not self._in_time():
                return False
            try:
                subject = parse(text)
            except UsageError:
                continue
            outcome = self._replay(subject, choices) or self._drawn(subject)
            if outcome is not None and self._is_shorter(outcome, text):
                self._best = outcome
                self._schedule = replace(self._schedule, subject=text)
                return True
        return False

    def _is_shorter(self, outcome: Outcome, text: str) -> bool:
        """A part of the subject always is; another subject only if less happens in it."""
        if text.partition(".")[0] == self._schedule.subject.partition(".")[0]:
            return True
        return len(outcome.events) < len(self._best.events)

    def _drawn(self, subject: Subject) -> Outcome | None:
        """Look for the finding in a smaller subject with no more faults than before."""
        bounds = Bounds(
            faults=faults(self._best.trail),
            time_steps=sum(choice >= TIME for choice in self._best.trail),
        )
        chooser = Pct(self._rng, depth=3, length=max(8, len(self._best.trail)))
        for _ in range(TRIES):
            outcome = self._run(subject, chooser, bounds)
            if outcome is not None:
                return outcome
        return None

    # -- the choices: fewer faults, fewer switches ---------------------------------------------------

    def _smaller_choices(self) -> bool:
        size = size_of(self._best)
        subject = self._schedule.to_subject()
        for choices in smaller_choices(self._best.trail):
            if not self._in_time():
                return False
            outcome = self._replay(subject, choices)
            if outcome is not None and size_of(outcome) < size:
                self._best = outcome
                return True
        return False


def size_of(outcome: Outcome) -> Size:
    """What is made smaller, the most annoying first: faults, switches, events, choices."""
    trail = outcome.trail
    disturbed = sum(choice >= CRASH for choice in trail)
    return disturbed, switches(trail), len(outcome.events), len(trail)


def smaller_choices(trail: Sequence[int]) -> Iterator[list[int]]:
    """Lists with something left out, or with an agent that goes on where another took over."""
    segments = [(choice, len(list(group))) for choice, group in itertools.groupby(trail)]
    for number, (choice, _) in enumerate(segments):
        if choice >= CRASH:
            yield _spelled(segments[:number] + segments[number + 1 :])
    for number, (choice, _) in enumerate(segments):
        if choice < CRASH:
            yield _spelled(segments[:number] + segments[number + 1 :])
            yield _spelled([*segments[:number], (choice, FOREVER), *segments[number + 1 :]])
    for number, (choice, count) in enumerate(segments):
        if choice < CRASH and count > 1:
            yield _spelled([*segments[:number], (choice, count - 1), *segments[number + 1 :]])
    for number in range(len(segments) - 1):
        swapped = list(segments)
        swapped[number], swapped[number + 1] = swapped[number + 1], swapped[number]
        yield _spelled(swapped)


def _spelled(segments: Sequence[tuple[int, int]]) -> list[int]:
    return [choice for choice, count in segments for _ in range(count)]


def smaller_subjects(text: str, trail: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Subjects with an agent or a call less, with the choices that are left; for playbooks, programs too."""
    kind, _, rest = text.partition(".")
    if kind == "race":
        return
    names = rest.split(".")
    if kind == "play":
        for program in WITNESSES:
            yield program, list(trail)
    if len(names) > 1:
        for gone in range(len(names)):
            left = names[:gone] + names[gone + 1 :]
            yield f"{kind}." + ".".join(left), _without(trail, gone)
    for index, name in enumerate(names):
        for shorter in _shorter(kind, name):
            yield f"{kind}." + ".".join([*names[:index], shorter, *names[index + 1 :]]), list(trail)


def _without(trail: Sequence[int], gone: int) -> list[int]:
    """The choices that do not concern the agent that is gone; those behind it move up."""
    kept = []
    for choice in trail:
        index = choice & 15
        if choice >= TIME or index < gone:
            kept.append(choice)
        elif index > gone:
            kept.append(choice - 1)
    return kept


def _shorter(kind: str, name: str) -> Iterator[str]:
    """A program with a letter less; a playbook with a step or try less."""
    if kind == "prog":
        mark, letters = ("@", name[1:]) if name.startswith("@") else ("", name)
        letters, underscore, spelling = letters.partition("_")
        for gone in range(len(letters)):
            if len(letters) > 1:
                yield f"{mark}{letters[:gone]}{letters[gone + 1 :]}{underscore}{spelling}"
        return
    word, _, number = name.partition("-")
    if not number:
        yield f"{word}-1"
    elif number.isdigit() and int(number) > 1:
        yield f"{word}-{int(number) - 1}"
