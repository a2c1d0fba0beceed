"""How likely each choice is, and how choices are made out of a drawn number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .steps import AGENT, PERSON, Cause, Habit, Letter, Moment, Shape, Side, Token, Trouble, Verb

LENGTHS = {
    "lease_s": (60.0, 2.0),
    "cooldown_s": (0.0, 0.0, 300.0, 5.0),
    "window_s": (86_400.0, 30.0),
}
LENGTHS_REAL = {
    "lease_s": (0.4,),
    "cooldown_s": (0.0, 0.0, 0.6),
    "window_s": (86_400.0, 86_400.0, 1.0),
}
"""Lengths that can be waited for."""
SKEWS_S = (3600, -3600, 90, -90)
AGENTS_MAX, CONTACTS_MAX = 4, 3
"""With three contacts one can bounce while two agents hold the others."""
CODES_MAX = 2**24 - 1
"""Above 24 bits Hypothesis prefers small numbers."""


class Draw:
    """Makes one choice after the other out of a number.

    The number is stirred first: Hypothesis likes small and repeated numbers, and what is drawn here
    should depend on all of its bits.

    Args:
        code: The number.
        number: Which of several independent draws out of it.
    """

    __slots__ = ("_left",)

    def __init__(self, code: int, number: int = 0) -> None:
        left = (code + (number + 1) * 0x9E3779B97F4A7C15) & _MASK
        left = ((left ^ (left >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        left = ((left ^ (left >> 27)) * 0x94D049BB133111EB) & _MASK
        self._left = left ^ (left >> 31)

    def of(self, choices: Sequence[Any]) -> Any:
        """One of these."""
        self._left, place = divmod(self._left, len(choices))
        return choices[place]


_MASK = 2**64 - 1

PLACES = range(60)
CONTACTS = ((0,), (0, 0, 1), (0, 1, 2))
"""By how many there are."""
SPELLINGS = (0, 0, 1, 2, 3)
TOKENS = (Token.OWN, Token.OWN, Token.OWN, Token.FIRST, Token.OTHERS)
SEND_TOKENS = (*(Token.OWN,) * 15, Token.FIRST, Token.OTHERS, Token.NONE)
HABITS = (
    *(Habit.PLAIN,) * 36,
    *(Habit.REPLY,) * 4,
    Habit.ANSWERED,
    Habit.FORWARDED,
    Habit.NO_KEY,
    Habit.BAD_KEY,
    Habit.NO_ADDRESS,
    Habit.BAD_SUBJECT,
    *(Habit.COPIED, Habit.NO_ONE_CLICK) * 2,
)
RETRY_HABITS = (
    *(Habit.PLAIN,) * 10,
    *(Habit.DRIFTED, Habit.REWORDED) * 2,
    Habit.READDRESSED,
    Habit.REKEYED,
    Habit.ANSWERED,
)
LETTERS = (Letter.QUESTION, Letter.UNSUBSCRIBE, *(Letter.AGAIN,) * 2)
BACK = (0, 0, 0, 1, 2)
MOMENTS = (
    *(Moment.LEASE,) * 6,
    *(Moment.COOLDOWN, Moment.WINDOW, Moment.DEADLINE) * 2,
    Moment.SECOND,
    Moment.DAYS,
)
DEAR_MOMENTS = (*(Moment.LEASE,) * 6, *(Moment.COOLDOWN, Moment.WINDOW) * 2, Moment.DEADLINE)
"""Where it has to be waited for them."""
SELDOM = range(2)
"""Once in so many times it is waited."""
SIDES = (Side.AFTER, Side.BEFORE, Side.AT)
TROUBLES = (*(Trouble.NONE,) * 10, *(Trouble.PAUSE,) * 3, Trouble.LOSE, Trouble.CRASH)
SEND_TROUBLES = (
    *(Trouble.NONE,) * 7,
    *(Trouble.PAUSE,) * 4,
    Trouble.LOSE,
    *(Trouble.CRASH,) * 2,
    *(Trouble.SILENT,) * 3,
    Trouble.REFUSE,
)
LIVE = range(5)
"""Once in so many steps under a lease it may be one that was lost."""
AT_ONCE = range(4)
"""Once in so many tries again it is not by a replica of who stands in the send."""
STUCK = range(4)
"""Once in so many steps the store is asked again although somebody keeps it busy."""
HALTING = (*(Cause.BOUNCE, Cause.COMPLAINT) * 3, Cause.OPT_OUT, Cause.LATE)
"""Causes, where a breaker counts them."""
NO_TROUBLE = (Trouble.NONE,)
WHO_CLEARS = (PERSON, PERSON, PERSON, AGENT)


TROUBLES_OF: Mapping[Verb, Sequence[Trouble]] = {
    Verb.ACQUIRE: TROUBLES,
    Verb.RENEW: TROUBLES,
    Verb.RELEASE: TROUBLES,
    Verb.SEND: SEND_TROUBLES,
    Verb.RETRY: SEND_TROUBLES,
    Verb.SUPPRESS: TROUBLES,
    Verb.RECEIVE: TROUBLES,
    Verb.CANCEL: TROUBLES,
    Verb.CLEAN_UP: TROUBLES,
}
DRAWN: Mapping[Verb, Mapping[str, Sequence[Any]]] = {
    Verb.ACQUIRE: {"spelling": SPELLINGS},
    Verb.RENEW: {"token": TOKENS},
    Verb.RELEASE: {"token": TOKENS},
    Verb.SEND: {
        "spelling": SPELLINGS,
        "token": SEND_TOKENS,
        "habit": HABITS,
    },
    Verb.RETRY: {"back": BACK, "token": SEND_TOKENS, "habit": RETRY_HABITS},
    Verb.LOOKUP: {"back": BACK},
    Verb.SUPPRESS: {
        "spelling": SPELLINGS,
        "option": tuple(str(each) for each in Cause),
    },
    Verb.CLEAR: {"option": WHO_CLEARS},
    Verb.OVERRIDE: {"option": WHO_CLEARS},
    Verb.RECEIVE: {"spelling": SPELLINGS, "option": LETTERS, "back": BACK},
    Verb.CANCEL: {"back": BACK},
    Verb.PHONE: {"spelling": SPELLINGS},
    Verb.SKEW: {"option": tuple(f"{each}s" for each in SKEWS_S)},
}


def shape_of(draw: Draw, lengths: Mapping[str, tuple[float, ...]]) -> Shape:
    """What a run is made of."""
    breaker = draw.of((0, 0, 0, 0, 1))
    return Shape(
        agents=draw.of((2, 2, 2, 3, AGENTS_MAX)),
        contacts=CONTACTS_MAX if breaker else draw.of((1, 1, 2)),
        replicas=draw.of((0, 1)),
        **{name: draw.of(values) for name, values in lengths.items()},
        breaker=breaker,
    )
