"""Steps in the words of the domain, with what they were answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..contract import Answer, Cleaned, Found, Lease, NoReply, Noted, Refused, Released, Sent, Taken
from ..simulation.subjects import AGENT_IDS
from .hands import Told
from .stands import Played
from .steps import AGENT, Cause, Habit, Letter, Moment, Shape, Side, Step, Token, Trouble, Verb

ORDINALS = ("first", "second", "third", "fourth")


def tell(played: Played) -> list[str]:
    """The steps of a run, one sentence each."""
    shape = played.plan.shape
    lines = [_setting(shape)]
    lines += [
        f"{number}. {sentence(told, shape)}" for number, told in enumerate(played.told, start=1)
    ]
    return lines


def sentence(told: Told, shape: Shape) -> str:
    """One step, and its answer."""
    what = _WORDS[told.step.verb](told.step, shape)
    if told.answer is None:
        return what
    return f"{what}: {answer_words(told.answer)}"


def _setting(shape: Shape) -> str:
    parts = [f"{shape.agents} agents"]
    if shape.replicas:
        parts.append(f"a replica of {AGENT_IDS[0]}")
    if shape.contacts > 1:
        parts.append(f"{shape.contacts} contacts")
    parts.append(f"leases of {shape.lease_s:g} s")
    parts.append(f"a cooldown of {shape.cooldown_s:g} s" if shape.cooldown_s else "no cooldown")
    if shape.window_s != Shape().window_s:
        parts.append(f"keys kept for {shape.window_s:g} s")
    if shape.breaker:
        parts.append(f"a circuit breaker from {shape.breaker} delivery on")
    return f"{', '.join(parts[:-1])} and {parts[-1]}."


def answer_words(answer: Answer) -> str:
    """An answer in a few words."""
    match answer:
        case Lease():
            return f"granted, token {answer.token}"
        case Released():
            return "released"
        case Sent():
            return "the original answer" if answer.replay else "sent"
        case Found():
            return f"found {answer.state}"
        case Noted():
            return "noted"
        case Cleaned():
            return f"{answer.rows} rows removed"
        case Taken():
            opted_out = ", an opt-out" if answer.opted_out else ""
            return f"taken{' before' if not answer.first else ''}{opted_out}"
        case Refused():
            return f"refused, {answer.code}"
        case NoReply():
            return f"no answer ({answer.why})"


def _who(step: Step, shape: Shape) -> str:
    if step.agent >= shape.agents:
        return f"{AGENT_IDS[0]}'s replica"
    return AGENT_IDS[step.agent]


def _contact(step: Step, shape: Shape) -> str:
    name = "the contact" if shape.contacts == 1 else f"the {ORDINALS[step.contact]} contact"
    return f"{name} in its {ORDINALS[step.spelling]} spelling" if step.spelling else name


def _under(step: Step) -> str:
    return _TOKENS[step.token]


def _mishap(step: Step) -> str:
    return _MISHAPS[step.trouble].format(point=step.point)


def _message(step: Step) -> str:
    back = {0: "its last message" if step.verb is Verb.LOOKUP else "the last message"}
    return back.get(step.back, f"the message {step.back} before the last")


def _call(verb: str) -> Callable[[Step, Shape], str]:
    return lambda step, shape: (
        f"{_who(step, shape)} {verb} {_contact(step, shape)}{_under(step)}{_mishap(step)}"
    )


def _send(step: Step, shape: Shape) -> str:
    what = _HABITS[step.habit]
    who, contact = _who(step, shape), _contact(step, shape)
    return f"{who} sends {what} to {contact}{_under(step)}{_mishap(step)}"


def _retry(step: Step, shape: Shape) -> str:
    how = {
        Habit.DRIFTED: ", the key in capitals",
        Habit.REWORDED: ", with another text under the same key",
        Habit.ANSWERED: ", as a reply under the same key",
        Habit.REKEYED: ", under the key of the one before it",
        Habit.READDRESSED: f", to {_contact(step, shape)} under the same key",
    }.get(step.habit, "")
    return f"{_who(step, shape)} sends {_message(step)} again{how}{_under(step)}{_mishap(step)}"


def _lookup(step: Step, shape: Shape) -> str:
    return f"{_who(step, shape)} looks the key of {_message(step)} up"


def _receive(step: Step, shape: Shape) -> str:
    who, contact = _who(step, shape), _contact(step, shape)
    what = {
        Letter.QUESTION: f"a question of {contact}",
        Letter.UNSUBSCRIBE: f"an opt-out in a reply of {contact}",
        Letter.AGAIN: "what was received before" if not step.back else "an earlier message",
    }[Letter(step.option)]
    return f"{who} receives {what}{_mishap(step)}"


def _cancel(step: Step, shape: Shape) -> str:
    return f"{_who(step, shape)} cancels {_message(step)}{_mishap(step)}"


def _suppress(step: Step, shape: Shape) -> str:
    who, contact = _who(step, shape), _contact(step, shape)
    if step.option == Cause.LATE:
        return f"{who} tells of a bounce of {contact} from before a person cleared it"
    why = _CAUSES[Cause(step.option)]
    return f"{who} puts {contact} on the suppression list ({why}){_mishap(step)}"


_CAUSES = {
    Cause.OPT_OUT: "an opt-out",
    Cause.BOUNCE: "a bounce",
    Cause.COMPLAINT: "a complaint",
}


def _by(step: Step, shape: Shape) -> str:
    return f"{_who(step, shape)} itself" if step.option == AGENT else "a person"


def _clear(step: Step, shape: Shape) -> str:
    return f"{_by(step, shape)} takes {_contact(step, shape)} off the suppression list"


def _override(step: Step, shape: Shape) -> str:
    return f"{_by(step, shape)} lets the next send to {_contact(step, shape)} skip the cooldown"


def _skew(step: Step, shape: Shape) -> str:
    seconds = int(step.option.removesuffix("s"))
    where = "ahead" if seconds > 0 else "behind"
    return f"{_who(step, shape)}'s clock is put {abs(seconds)} s {where}"


def _time(step: Step, shape: Shape) -> str:  # noqa: ARG001
    moment, _, side = step.option.partition("-")
    if moment in {Moment.SECOND, Moment.DAYS}:
        return "a second passes" if moment == Moment.SECOND else "three days pass"
    return f"time passes to {_SIDES[Side(side)]} {_MOMENTS[Moment(moment)]}"


_SIDES = {Side.BEFORE: "just before", Side.AT: "exactly", Side.AFTER: "just after"}
_MOMENTS = {
    Moment.LEASE: "the end of the last lease",
    Moment.COOLDOWN: "the end of the cooldown",
    Moment.WINDOW: "the end of the key's window",
    Moment.DEADLINE: "the deadline of a send whose worker is gone",
}
_TOKENS = {
    Token.OWN: "",
    Token.FIRST: " under the first token it ever had",
    Token.OTHERS: " under another agent's token",
    Token.NONE: " without a token",
}
_HABITS = {
    Habit.PLAIN: "a message",
    Habit.REPLY: "a transactional reply",
    Habit.ANSWERED: "an answer",
    Habit.FORWARDED: "what was forwarded",
    Habit.DRIFTED: "a message with its key in capitals",
    Habit.REWORDED: "a message",
    Habit.NO_KEY: "a message without a key",
    Habit.BAD_KEY: "a message with a control character in its key",
    Habit.NO_ADDRESS: "a message to what is no address, meant",
    Habit.BAD_SUBJECT: "a message with a line break in its subject",
    Habit.COPIED: "a message with others in its Cc",
    Habit.NO_ONE_CLICK: "a message with an opt-out that takes no one click",
}
_MISHAPS = {
    Trouble.NONE: "",
    Trouble.LOSE: " (its reply is lost)",
    Trouble.PAUSE: " and is paused at {point}",
    Trouble.CRASH: " and crashes at {point}",
    Trouble.SILENT: " (the receiving side takes it and says nothing)",
    Trouble.REFUSE: " (the receiving side refuses it)",
}
_WORDS: Mapping[Verb, Callable[[Step, Shape], str]] = {
    Verb.ACQUIRE: _call("claims"),
    Verb.RENEW: _call("renews"),
    Verb.RELEASE: _call("releases"),
    Verb.SEND: _send,
    Verb.RETRY: _retry,
    Verb.LOOKUP: _lookup,
    Verb.SUPPRESS: _suppress,
    Verb.CLEAR: _clear,
    Verb.OVERRIDE: _override,
    Verb.RECEIVE: _receive,
    Verb.CANCEL: _cancel,
    Verb.PHONE: _call("telephones"),
    Verb.RESUME: lambda step, shape: f"{_who(step, shape)} goes on",
    Verb.RESTART: lambda step, shape: f"{_who(step, shape)} is started again",
    Verb.SKEW: _skew,
    Verb.TIME: _time,
    Verb.CRASH_STORE: lambda _step, _shape: "the store crashes with everybody in it, and is back",
    Verb.CLEAN_UP: lambda _step, _shape: "old rows are cleaned up",
}


def difference(one: Sequence[Told], two: Sequence[Told], shape: Shape) -> str:
    """Where two runs of one plan first gave different answers, or ""."""
    for number, (first, second) in enumerate(zip(one, two, strict=False), start=1):
        said, then = sentence(first, shape), sentence(second, shape)
        if said != then:
            return f"step {number}: {said!r}, and the next time {then!r}"
    if len(one) != len(two):
        return f"one run made {len(one)} steps, the other {len(two)}"
    return ""


__all__ = ["answer_words", "difference", "sentence", "tell"]
