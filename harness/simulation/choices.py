"""What can be chosen at one step of a simulated run, and how a list of choices is written.

A choice is a small number: its kind times 16 plus the agent it concerns. In text an agent is a
letter and a mark before it says what befalls it: ``a12`` is "agent a moves twelve times", ``Cb``
"agent b crashes", ``+`` "the store's clock goes just past the next deadline". No character needs
quoting in a shell.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

MOVE = 0
CRASH = 16
LOSE = 32
SILENT = 48
REFUSE = 64
BUSY = 80
STEP_BACK = 96
STEP_AHEAD = 112
SLOW_CLOCK = 128
TIME = 144
BEFORE, AT, AFTER = TIME, TIME + 1, TIME + 2

AGENTS_MAX = 16

MARKS: dict[int, str] = {
    MOVE: "",
    CRASH: "C",
    LOSE: "L",
    SILENT: "S",
    REFUSE: "R",
    BUSY: "B",
    STEP_BACK: "K",
    STEP_AHEAD: "A",
    SLOW_CLOCK: "D",
}
"""Kind to the mark before the agent's letter."""

TIMES: dict[int, str] = {BEFORE: "-", AT: "=", AFTER: "+"}
"""Time choice to its character."""

NAMES: dict[int, str] = {
    MOVE: "move",
    CRASH: "crash",
    LOSE: "lost reply",
    SILENT: "silent transport",
    REFUSE: "refusing transport",
    BUSY: "store busy",
    STEP_BACK: "clock stepped back",
    STEP_AHEAD: "clock stepped ahead",
    SLOW_CLOCK: "clock drifting behind",
    TIME: "time",
}
"""Kind to its name in reports."""

_KINDS = {mark: kind for kind, mark in MARKS.items() if mark}
_TIMES = {character: code for code, character in TIMES.items()}
_TOKEN = re.compile(r"([CLSRBKAD]?)([a-p])(\d*)|([-=+])(\d*)")
_REPEAT_MAX = 100_000


class BadChoices(ValueError):  # noqa: N818 - the name says what it is
    """The text can't be a list of choices; the message says where."""


def kind_of(choice: int) -> int:
    """Which kind a choice is: `MOVE`, `CRASH` and so on."""
    return choice & ~15


def group_of(choice: int) -> int:
    """The kind by which draws are spread: whatever befalls an agent's clock is one."""
    kind = kind_of(choice)
    return STEP_BACK if STEP_BACK <= kind < TIME else kind


def agent_of(choice: int) -> int:
    """Index of the agent a choice concerns (for time: which of the three)."""
    return choice & 15


def is_fault(choice: int) -> bool:
    """Whether the choice counts against the bound of faults."""
    return CRASH <= choice < TIME


def to_text(choice: int) -> str:
    """One choice as its mark and letter."""
    if choice >= TIME:
        return TIMES[choice]
    return MARKS[kind_of(choice)] + chr(ord("a") + agent_of(choice))


def encode(choices: Iterable[int]) -> str:
    """A list of choices as text, repeats counted."""
    parts: list[str] = []
    last, count = -1, 0
    for choice in (*choices, -1):
        if choice == last:
            count += 1
            continue
        if count:
            parts.append(to_text(last) + (str(count) if count > 1 else ""))
        last, count = choice, 1
    return "".join(parts)


def decode(text: str) -> list[int]:
    """A list of choices from its text.

    Raises:
        BadChoices: A character can't stand where it stands.
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[int]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadChoices(f"no choice starts with {text[at : at + 8]!r} (character {at + 1})")
        mark, letter, repeat, time, time_repeat = found.groups()
        count = int(repeat or time_repeat or 1)
        if not 1 <= count <= _REPEAT_MAX:
            raise BadChoices(f"{found.group()!r} repeats {count} times (character {at + 1})")
        code = _TIMES[time] if time else _KINDS.get(mark, MOVE) + ord(letter) - ord("a")
        for _ in range(count):
            yield code
        at = found.end()


def switches(choices: Sequence[int]) -> int:
    """How often the moving agent changes."""
    movers = [choice for choice in choices if choice < CRASH]
    return sum(one != other for one, other in itertools.pairwise(movers))


def faults(choices: Iterable[int]) -> int:
    """How many faults a list holds."""
    return sum(map(is_fault, choices))
