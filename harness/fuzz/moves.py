"""From a drawn number to a step that can be made where the run stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..contract import Code
from .chances import (
    AT_ONCE,
    CONTACTS,
    DEAR_MOMENTS,
    DRAWN,
    HALTING,
    LIVE,
    MOMENTS,
    NO_TROUBLE,
    PLACES,
    SELDOM,
    SIDES,
    STUCK,
    TROUBLES_OF,
    Draw,
)
from .outlook import Outlook, look
from .stage import Stage
from .steps import CALLS, Habit, Moment, Side, Step, Token, Trouble, Verb


def step_of(verb: Verb, stage: Stage, draw: Draw) -> Step | None:
    """A step with this verb, or what it needs first; None if nobody can make one."""
    if verb is Verb.TIME:
        return _passage(stage, draw)
    if verb is Verb.CRASH_STORE:
        return Step(verb=verb)
    if verb in {Verb.RESUME, Verb.RESTART}:
        seats = _seats(stage, lambda hand: hand.open if verb is Verb.RESUME else hand.is_dead)
        return Step(verb=verb, agent=draw.of(seats)) if seats else None
    standing = _standing_in_the_way(stage)
    if standing and draw.of(STUCK):
        return Step(verb=Verb.RESUME, agent=draw.of(standing))
    free = _seats(stage, lambda hand: hand.is_free)
    return _made_by_one(verb, stage, free, draw) if free else None


def _made_by_one(verb: Verb, stage: Stage, free: list[int], draw: Draw) -> Step | None:
    """A step of one of these, or what it needs first."""
    fields = _fields(verb, stage, draw)
    replicas = replicas_of(stage) if verb is Verb.RETRY and draw.of(AT_ONCE) else []
    if verb is Verb.SEND:
        fields["contact"] = _written_to(stage, free, fields["contact"], draw)
    makers = _makers(verb, stage, free, fields, draw)
    if not makers:
        return _towards_a_lease(stage, draw, fields["contact"], free)
    if replicas:  # the same message at once, as two processes of one service do
        makers, fields = replicas, {**fields, "back": 0, "token": Token.OWN}
    troubles = (
        NO_TROUBLE if _is_watched(stage) and draw.of(LIVE) else TROUBLES_OF.get(verb, NO_TROUBLE)
    )
    trouble, place = draw.of(troubles), draw.of(PLACES)
    point = ""
    if trouble in {Trouble.PAUSE, Trouble.CRASH}:
        points = points_of(stage, verb)
        point = points[place % len(points)]
    return Step(verb=verb, agent=draw.of(makers), trouble=trouble, point=point, **fields)


def _is_watched(stage: Stage) -> bool:
    """Whether a plain answer tells most: whether a halt binds, or what others may do meanwhile."""
    return stage.known.halted is not None or any(hand.open for hand in stage.hands)


def _makers(
    verb: Verb, stage: Stage, free: list[int], fields: Mapping[str, Any], draw: Draw
) -> list[int]:
    """Who may make it; nobody where a lease is needed first."""
    if verb is Verb.SUPPRESS and stage.known.may_halt:  # who goes on writing to others
        return [seat for seat in free if _open_to(stage, [seat])] or free
    if verb is Verb.RETRY:
        contact = stage.addressee(fields["back"])
        return _holders(stage, free, contact, Token.OWN, draw) or free
    if verb in _UNDER_LEASE and fields["token"] is not Token.NONE:
        return _holders(stage, free, fields["contact"], fields["token"], draw)
    return free


def _passage(stage: Stage, draw: Draw) -> Step | None:
    """Time passes to a moment that is still to come, most likely to one that is waited for."""
    wanted = (*_awaited(look(stage)), *MOMENTS)
    if stage.waits:  # time is dear
        wanted = DEAR_MOMENTS if draw.of(SELDOM) == 0 else ()
    moments = [each for each in wanted if stage.can_pass_to(each)]
    if not moments:
        return None
    return Step(verb=Verb.TIME, option=f"{draw.of(moments)}-{draw.of(SIDES)}")


def _awaited(now: Outlook) -> Sequence[Moment]:
    if now.is_sending:
        return (Moment.DEADLINE,) * 12
    if now.is_left or now.code in {Code.SEND_IN_PROGRESS, Code.SEND_STATUS_UNKNOWN}:
        return (*(Moment.DEADLINE,) * 6, *(Moment.DAYS,) * 12)
    return ()


def _standing_in_the_way(stage: Stage) -> list[int]:
    """Who stands still, if somebody was just told that the store is busy."""
    if stage.known.code is Code.STORE_BUSY:
        return _seats(stage, lambda hand: hand.open)
    return []


def _written_to(stage: Stage, free: list[int], contact: int, draw: Draw) -> int:
    """Most likely a contact that somebody holds who is free, and that is not on the list.

    While sending is halted else one that nobody holds.
    """
    likely = _open_to(stage, _concerned(stage, free))
    if not likely and stage.known.halted is not None:
        likely = [each for each in _unlisted(stage) if not stage.known.is_held(each)]
    return draw.of(likely) if likely and draw.of(LIVE) else contact


def _unlisted(stage: Stage) -> list[int]:
    return [each for each in range(len(stage.contacts)) if each not in stage.known.listed]


def _open_to(stage: Stage, seats: list[int]) -> list[int]:
    """Contacts that one of these holds and may write to."""
    return [each for each in _unlisted(stage) if any(stage.holds(seat, each) for seat in seats)]


def _concerned(stage: Stage, seats: list[int]) -> list[int]:
    """Whom a halt concerns next: who told of the bounce, if it can write; then the others."""
    if stage.known.halted is not None:
        return [seat for seat in seats if seat != stage.known.halted]
    last = stage.told[-1].step if stage.told else None
    if last is not None and last.verb is Verb.SUPPRESS and stage.known.may_halt:
        told = [seat for seat in seats if seat == last.agent]
        return told if _open_to(stage, told) else seats
    return seats


def _holders(stage: Stage, free: list[int], contact: int, token: Token, draw: Draw) -> list[int]:
    """Who makes a step under such a token: most likely who holds the contact, seldom who once did."""
    had = [seat for seat in free if _has(stage, seat, contact, token)]
    if token is not Token.OWN:
        return had
    live = [seat for seat in _concerned(stage, had) if stage.holds(seat, contact)]
    return (live if draw.of(LIVE) else had) or live


def _towards_a_lease(stage: Stage, draw: Draw, contact: int, free: list[int]) -> Step | None:
    """Nobody who is free holds the contact: whoever stands in the way goes on, or time passes."""
    standing = _seats(stage, lambda hand: hand.open)
    if standing:
        return Step(verb=Verb.RESUME, agent=draw.of(standing))
    if stage.known.is_held(contact) and Moment.LEASE in stage.known.moments:
        return Step(verb=Verb.TIME, option=f"{Moment.LEASE}-{Side.AFTER}")
    return Step(verb=Verb.ACQUIRE, contact=contact, agent=draw.of(_concerned(stage, free) or free))


def replicas_of(stage: Stage) -> list[int]:
    """Who is free and shares an agent's id with one whose send stands still."""
    sending = {Verb.SEND, Verb.RETRY}
    ids = {hand.actor.id for hand in stage.hands if hand.open and hand.open.step.verb in sending}
    return _seats(stage, lambda hand: hand.is_free and hand.actor.id in ids)


def _seats(stage: Stage, fits: Callable[[Any], object]) -> list[int]:
    return [index for index, hand in enumerate(stage.hands) if fits(hand)]


def _has(stage: Stage, seat: int, contact: int, token: Token) -> bool:
    """Whether the agent has such a token for the contact."""
    if token is Token.OTHERS:
        others = (hand for index, hand in enumerate(stage.hands) if index != seat)
        return any(hand.leases.get(contact) for hand in others)
    return len(stage.hands[seat].leases.get(contact, ())) > (token is Token.FIRST)


def _fields(verb: Verb, stage: Stage, draw: Draw) -> dict[str, Any]:
    """What is drawn for a verb beside who makes it and what befalls it."""
    fields = {name: draw.of(choices) for name, choices in DRAWN.get(verb, {}).items()}
    if "back" in fields:
        told = stage.events if verb is Verb.RECEIVE else stage.drafts
        fields["back"] %= max(1, len(told))
    if verb in _ABOUT_ONE:
        fields["contact"] = draw.of(CONTACTS[len(stage.contacts) - 1])
    if verb is Verb.CLEAR and stage.known.listed:
        fields["contact"] = draw.of(sorted(stage.known.listed))
    if verb is Verb.SUPPRESS and stage.known.may_halt:
        unheld = [each for each in range(len(stage.contacts)) if not stage.known.is_held(each)]
        fields["option"] = str(draw.of(HALTING))
        fields["contact"] = draw.of(unheld or [fields["contact"]])
    return fields | _meant(stage, fields, draw) if verb is Verb.RETRY else fields


def _meant(stage: Stage, fields: Mapping[str, Any], draw: Draw) -> dict[str, Any]:
    """Whom a message goes to the next time; a plain retry where there is no other contact or key."""
    habit, back = fields["habit"], fields["back"]
    if habit is Habit.READDRESSED:
        others = [each for each in range(len(stage.contacts)) if each != stage.addressee(back)]
        return {"contact": draw.of(others)} if others else {"habit": Habit.PLAIN}
    if habit is Habit.REKEYED and back + 1 >= len(stage.drafts):
        return {"habit": Habit.PLAIN}
    return {}


_ABOUT_ONE = CALLS - {Verb.RETRY, Verb.LOOKUP, Verb.CANCEL}
"""Calls that name a contact."""
_UNDER_LEASE = {Verb.RENEW, Verb.RELEASE, Verb.SEND}


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


__all__ = ["points_of", "replicas_of", "step_of"]
