"""What makes sense next: weights of the kinds of step, by where a run stands.

Some faults show only at the end of a story: a send of unknown outcome, days, a clean-up, a try of the
same key. Each step of such a story is made likely once the one before it was made; nothing is certain
to come, so the stories mix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..contract import Code
from .chances import Draw
from .moves import replicas_of, step_of
from .outlook import Outlook, look
from .stage import Stage
from .steps import Step, Verb

USUAL: Mapping[Verb, int] = {
    Verb.ACQUIRE: 5,
    Verb.RENEW: 1,
    Verb.RELEASE: 2,
    Verb.SEND: 6,
    Verb.RETRY: 4,
    Verb.LOOKUP: 1,
    Verb.CANCEL: 1,
    Verb.RECEIVE: 1,
    Verb.TIME: 2,
    Verb.SUPPRESS: 1,
    Verb.CLEAR: 8,
    Verb.OVERRIDE: 0,
    Verb.RESUME: 4,
    Verb.RESTART: 14,
    Verb.CLEAN_UP: 0,
}
"""Where nothing stands out."""
OUTLOOKS: tuple[tuple[Callable[[Outlook], bool], Mapping[Verb, int]], ...] = (
    (lambda now: now.is_sending, {Verb.RETRY: 6, Verb.CANCEL: 2, Verb.SUPPRESS: 5, Verb.TIME: 9}),
    (lambda now: now.is_sending and not now.is_held, {Verb.ACQUIRE: 8}),
    (lambda now: now.is_listed, {Verb.CLEAN_UP: 3}),
    (lambda now: now.has_told, {Verb.SEND: 40}),
    (
        lambda now: now.may_halt and not now.is_halted,
        {Verb.SEND: 20, Verb.SUPPRESS: 15, Verb.CLEAR: 17},
    ),
    (lambda now: now.is_overridden, {Verb.SEND: 15}),
    (lambda now: now.is_left, {Verb.RESTART: 30, Verb.RETRY: 18, Verb.TIME: 6}),
    (lambda now: now.is_back, {Verb.RETRY: 22}),
    (lambda now: now.are_rows_old, {Verb.RETRY: 15, Verb.CLEAN_UP: 20}),
    (lambda now: now.is_worker_gone, {Verb.RETRY: 20}),
    (lambda now: now.was_turned_down, {Verb.RETRY: 20}),
    (lambda now: now.code is Code.SEND_STATUS_UNKNOWN, {Verb.LOOKUP: 12, Verb.TIME: 16}),
    (lambda now: now.code is Code.SEND_IN_PROGRESS and not now.is_sending, {Verb.TIME: 20}),
    (lambda now: now.code is Code.COOLDOWN_ACTIVE, {Verb.OVERRIDE: 10, Verb.TIME: 4}),
    (lambda now: now.is_halted, {Verb.SEND: 40, Verb.ACQUIRE: 10}),
)
"""Where something does, and what is likely then; of several weights the highest counts."""
TO_REPLICA = 50
"""Weight of a try of the same message by a replica of who stands in its send, once."""


def follow(stage: Stage, draw: Draw) -> Step | None:
    """A step that makes sense where the run stands, by our own weights."""
    weights = weights_of(stage)
    verbs = [verb for verb, weight in weights.items() for _ in range(weight)]
    return step_of(draw.of(verbs), stage, draw) if verbs else None


def weights_of(stage: Stage) -> dict[Verb, int]:
    """How likely each kind of step is here; what can't be made is not."""
    now = look(stage)
    weights = dict(USUAL)
    if now.is_held:
        weights[Verb.ACQUIRE] = 1
    for holds, likely in OUTLOOKS:
        if holds(now):
            weights |= {verb: max(weights[verb], weight) for verb, weight in likely.items()}
    if replicas_of(stage) and not now.is_asked_again:
        weights[Verb.RETRY] = TO_REPLICA
    return {verb: weight for verb, weight in weights.items() if weight and _may(verb, stage, now)}


def _may(verb: Verb, stage: Stage, now: Outlook) -> bool:
    """Whether such a step can be made here."""
    return stage.can(verb) and _MAKES_SENSE.get(verb, _always)(stage, now)


def _always(_stage: Stage, _now: Outlook) -> bool:
    return True


def _has_lease(stage: Stage, _: Outlook) -> bool:
    return any(any(hand.leases.values()) for hand in stage.hands)


def _has_draft(stage: Stage, _: Outlook) -> bool:
    return bool(stage.drafts)


_MAKES_SENSE: Mapping[Verb, Callable[[Stage, Outlook], bool]] = {
    Verb.RENEW: _has_lease,
    Verb.RELEASE: _has_lease,
    Verb.RETRY: _has_draft,
    Verb.LOOKUP: _has_draft,
    Verb.CANCEL: _has_draft,
    Verb.TIME: lambda stage, _: bool(stage.known.moments),
    Verb.SUPPRESS: lambda _, now: not now.is_listed,
    Verb.CLEAR: lambda _, now: now.is_listed,
    Verb.RESUME: lambda _, now: now.is_standing,
    Verb.RESTART: lambda _, now: now.is_dead,
}

__all__ = ["follow", "weights_of"]
