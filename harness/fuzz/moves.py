"""From a drawn number to a step that can be made where the run stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..contract import Capability, Code, Refused
from .stage import Stage
from .steps import (
    AGENT,
    PERSON,
    Cause,
    Habit,
    Letter,
    Moment,
    Shape,
    Side,
    Step,
    Token,
    Trouble,
    Verb,
)

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
    """

    __slots__ = ("_left",)

    def __init__(self, code: int) -> None:
        left = (code + 0x9E3779B97F4A7C15) & _MASK
        left = ((left ^ (left >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        left = ((left ^ (left >> 27)) * 0x94D049BB133111EB) & _MASK
        self._left = left ^ (left >> 31)

    def of(self, choices: Sequence[Any]) -> Any:
        """One of these."""
        self._left, place = divmod(self._left, len(choices))
        return choices[place]


_MASK = 2**64 - 1

PLACES = range(60)
CONTACTS = (0, 0, 0, 1, 2)
SPELLINGS = (0, 0, 1, 2)
TOKENS = (Token.OWN, Token.OWN, Token.OWN, Token.FIRST, Token.OTHERS)
SEND_TOKENS = (*(Token.OWN,) * 9, Token.FIRST, Token.OTHERS, Token.NONE)
HABITS = (
    *(Habit.PLAIN,) * 24,
    *(Habit.REPLY,) * 4,
    Habit.ANSWERED,
    Habit.FORWARDED,
    Habit.NO_KEY,
    Habit.BAD_KEY,
    Habit.NO_ADDRESS,
    Habit.BAD_SUBJECT,
)
RETRY_HABITS = (*(Habit.PLAIN,) * 10, *(Habit.DRIFTED, Habit.REWORDED) * 2, Habit.ANSWERED)
LETTERS = (Letter.QUESTION, Letter.UNSUBSCRIBE, *(Letter.AGAIN,) * 2)
BACK = (0, 0, 0, 1, 2)
MOMENTS = (*(Moment.LEASE,) * 4, *(each for each in Moment if each is not Moment.LEASE))
SIDES = (Side.AFTER, Side.BEFORE, Side.AT)
TROUBLES = (*(Trouble.NONE,) * 9, *(Trouble.PAUSE,) * 4, Trouble.LOSE, Trouble.CRASH)
SEND_TROUBLES = (
    *(Trouble.NONE,) * 7,
    *(Trouble.PAUSE,) * 4,
    Trouble.LOSE,
    *(Trouble.CRASH,) * 2,
    *(Trouble.SILENT,) * 3,
    Trouble.REFUSE,
)
NO_TROUBLE = (Trouble.NONE,)
WHO_CLEARS = (PERSON, PERSON, PERSON, AGENT)


def shape_of(draw: Draw, lengths: Mapping[str, tuple[float, ...]]) -> Shape:
    """What a run is made of."""
    breaker = draw.of((0, 0, 0, 0, 0, 1))
    return Shape(
        agents=draw.of((2, 2, 2, 3, AGENTS_MAX)),
        contacts=CONTACTS_MAX if breaker else draw.of((1, 1, 2)),
        replicas=draw.of((0, 1)),
        **{name: draw.of(values) for name, values in lengths.items()},
        breaker=breaker,
    )


# -- one verb ------------------------------------------------------------------------------------


def step_of(verb: Verb, stage: Stage, draw: Draw) -> Step | None:
    """A step with this verb, or the claim it needs first; None if nobody can make one."""
    if verb in {Verb.TIME, Verb.CRASH_STORE}:
        return Step(verb=verb, **_fields(verb, draw))
    if verb in {Verb.RESUME, Verb.RESTART}:
        seats = _seats(stage, lambda hand: hand.open if verb is Verb.RESUME else hand.is_dead)
        return Step(verb=verb, agent=draw.of(seats)) if seats else None
    free = _seats(stage, lambda hand: hand.is_free)
    if not free:
        return None
    fields = _fields(verb, draw)
    fields["contact"] = fields.get("contact", 0) % len(stage.contacts)
    if verb in _UNDER_LEASE and fields["token"] is not Token.NONE:
        holders = [seat for seat in free if _has(stage, seat, fields["contact"], fields["token"])]
        if not holders:
            return _towards_a_lease(stage, draw, fields["contact"], free)
        free = holders
    replicas = _replicas(stage, free) if verb is Verb.RETRY and draw.of(range(4)) else []
    if replicas:  # the same message at once, as two processes of one service do
        free, fields = replicas, {**fields, "back": 0, "token": Token.OWN}
    trouble, place = draw.of(_TROUBLES.get(verb, NO_TROUBLE)), draw.of(PLACES)
    point = ""
    if trouble in {Trouble.PAUSE, Trouble.CRASH}:
        points = points_of(stage, verb)
        point = points[place % len(points)]
    return Step(verb=verb, agent=draw.of(free), trouble=trouble, point=point, **fields)


def _towards_a_lease(stage: Stage, draw: Draw, contact: int, free: list[int]) -> Step | None:
    """Nobody who is free holds the contact: whoever stands in the way goes on, or time passes."""
    standing = _seats(stage, lambda hand: hand.open)
    if standing:
        return Step(verb=Verb.RESUME, agent=draw.of(standing))
    if stage.is_held(contact) and Moment.LEASE in stage.moments:
        return Step(verb=Verb.TIME, option=f"{Moment.LEASE}-{Side.AFTER}")
    return Step(verb=Verb.ACQUIRE, contact=contact, agent=draw.of(free))


def _replicas(stage: Stage, free: list[int]) -> list[int]:
    """Who is free and shares an agent's id with one whose send stands still."""
    sending = {Verb.SEND, Verb.RETRY}
    ids = {hand.actor.id for hand in stage.hands if hand.open and hand.open.step.verb in sending}
    return [seat for seat in free if stage.hands[seat].actor.id in ids]


def _seats(stage: Stage, fits: Callable[[Any], object]) -> list[int]:
    return [index for index, hand in enumerate(stage.hands) if fits(hand)]


def _has(stage: Stage, seat: int, contact: int, token: Token) -> bool:
    """Whether the agent has such a token for the contact."""
    if token is Token.OTHERS:
        others = (hand for index, hand in enumerate(stage.hands) if index != seat)
        return any(hand.leases.get(contact) for hand in others)
    return len(stage.hands[seat].leases.get(contact, ())) > (token is Token.FIRST)


def _fields(verb: Verb, draw: Draw) -> dict[str, Any]:
    """What is drawn for a verb beside who makes it and what befalls it."""
    return {name: draw.of(choices) for name, choices in _DRAWN.get(verb, {}).items()}


_UNDER_LEASE = {Verb.RENEW, Verb.RELEASE, Verb.SEND}
_TROUBLES: Mapping[Verb, Sequence[Trouble]] = {
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
_DRAWN: Mapping[Verb, Mapping[str, Sequence[Any]]] = {
    Verb.ACQUIRE: {"contact": CONTACTS, "spelling": SPELLINGS},
    Verb.RENEW: {"contact": CONTACTS, "token": TOKENS},
    Verb.RELEASE: {"contact": CONTACTS, "token": TOKENS},
    Verb.SEND: {
        "contact": CONTACTS,
        "spelling": SPELLINGS,
        "token": SEND_TOKENS,
        "habit": HABITS,
    },
    Verb.RETRY: {"back": BACK, "token": SEND_TOKENS, "habit": RETRY_HABITS},
    Verb.LOOKUP: {"back": BACK},
    Verb.SUPPRESS: {
        "contact": CONTACTS,
        "spelling": SPELLINGS,
        "option": tuple(str(each) for each in Cause),
    },
    Verb.CLEAR: {"contact": CONTACTS, "option": WHO_CLEARS},
    Verb.OVERRIDE: {"contact": CONTACTS, "option": WHO_CLEARS},
    Verb.RECEIVE: {"contact": CONTACTS, "spelling": SPELLINGS, "option": LETTERS, "back": BACK},
    Verb.CANCEL: {"back": BACK},
    Verb.PHONE: {"contact": CONTACTS, "spelling": SPELLINGS},
    Verb.SKEW: {"option": tuple(f"{each}s" for each in SKEWS_S)},
    Verb.TIME: {"option": tuple(f"{moment}-{side}" for moment in MOMENTS for side in SIDES)},
}


def points_of(stage: Stage, verb: Verb) -> list[str]:
    """Points a call of this kind may pass, the target's own twice; never none."""
    f = _METHODS.get(verb, str(verb))
    kit = [f"{f}.{name}" for name in ("think", "invoked", "returned")]
    own = sorted(each for each in stage.points if each.startswith(f"{f}.") and each not in kit)
    others = sorted(each for each in stage.points if each.partition(".")[0] not in _NAMES)
    return own * 2 + kit + others


_METHODS = {
    Verb.RETRY: "send",
    Verb.CLEAR: "unsuppress",
    Verb.PHONE: "note_contact",
    Verb.CLEAN_UP: "clean_up",
}
_NAMES = {
    "acquire",
    "renew",
    "release",
    "send",
    "lookup",
    "suppress",
    "unsuppress",
    "override",
    "receive",
    "cancel",
    "note_contact",
    "clean_up",
}


# -- what comes next -----------------------------------------------------------------------------


def follow(stage: Stage, draw: Draw) -> Step | None:
    """A step that makes sense where the run stands, by our own weights."""
    can, hands = stage.capabilities, stage.hands
    has_leases = any(any(hand.leases.values()) for hand in hands)
    is_held = all(stage.is_held(contact) for contact in range(len(stage.contacts)))
    is_stuck = isinstance(stage.last, Refused) and stage.last.code is Code.STORE_BUSY
    standing = [hand.open.step.verb for hand in hands if hand.open]
    is_sending = bool({Verb.SEND, Verb.RETRY} & set(standing))
    last = stage.told[-1].step if stage.told else None
    is_unknown = isinstance(stage.last, Refused) and stage.last.code is Code.SEND_STATUS_UNKNOWN
    is_back = last is not None and last.verb in _BACK
    is_late = last is not None and last.verb is Verb.TIME and last.option.startswith(_LATE)
    is_twice = bool(_replicas(stage, _seats(stage, lambda hand: hand.is_free)))
    hurry = 15 if stage.has_breaker and stage.has_delivered else 1
    weights = {
        Verb.ACQUIRE: (1 if is_held else 8 if is_sending else 5) if Capability.LEASE in can else 0,
        Verb.RENEW: 1 if has_leases else 0,
        Verb.RELEASE: 2 if has_leases else 0,
        Verb.SEND: (20 if stage.has_breaker else 6) if Capability.SEND in can else 0,
        Verb.RETRY: (60 if is_twice else 18 if is_back or is_late else 6 if is_sending else 4)
        if stage.drafts
        else 0,
        Verb.LOOKUP: (10 if is_unknown else 1) if stage.drafts and Capability.LOOKUP in can else 0,
        Verb.CANCEL: (2 if is_sending else 1) if stage.drafts and Capability.CANCEL in can else 0,
        Verb.RECEIVE: 1 if Capability.INBOUND in can else 0,
        Verb.TIME: (5 if is_sending and is_held else 2) if stage.moments else 0,
        Verb.SUPPRESS: hurry if Capability.SUPPRESS in can and not stage.is_listed else 0,
        Verb.CLEAR: hurry + 2 if stage.is_listed and Capability.SUPPRESS in can else 0,
        Verb.RESUME: (30 if is_stuck else 4) if standing else 0,
        Verb.RESTART: 14 if any(hand.is_dead for hand in hands) else 0,
        Verb.CLEAN_UP: 15 if is_late and Capability.CLEAN_UP in can else 0,
    }
    verbs = [verb for verb, weight in weights.items() for _ in range(weight)]
    return step_of(draw.of(verbs), stage, draw) if verbs else None


_BACK = frozenset({Verb.RESTART, Verb.CRASH_STORE, Verb.CLEAN_UP, Verb.LOOKUP})
"""After these a message of before is tried again."""
_LATE = (Moment.WINDOW.value, Moment.DAYS.value)
"""Moments after which rows may be old."""


__all__ = [
    "CODES_MAX",
    "LENGTHS",
    "LENGTHS_REAL",
    "Draw",
    "follow",
    "points_of",
    "shape_of",
    "step_of",
]
