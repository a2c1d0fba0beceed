"""Answers at the border: to JSON and back, and the check that a mailbox keeps the contract."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import IntEnum, StrEnum
from typing import Any

import msgspec

from .contract import (
    Answer,
    Cleaned,
    Code,
    Endpoint,
    Found,
    Lease,
    Message,
    NoReply,
    Noted,
    Received,
    Refused,
    Released,
    SendState,
    Sent,
    Taken,
)

ALLOWED: Mapping[str, tuple[type, ...]] = {
    "acquire": (Lease, Refused),
    "renew": (Lease, Refused),
    "release": (Released, Refused),
    "send": (Sent, Refused),
    "reply": (Sent, Refused),
    "forward": (Sent, Refused),
    "receive": (Taken, Refused),
    "lookup": (Found, Refused),
    "cancel": (Found, Refused),
    "suppress": (Noted, Refused),
    "unsuppress": (Noted, Refused),
    "override": (Noted, Refused),
    "note_contact": (Noted, Refused),
    "clean_up": (Cleaned, Refused),
}
"""Which answers each mailbox method may give."""

_KINDS: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (Lease, Released, Sent, Found, Noted, Taken, Cleaned, Refused, NoReply)
}


_STATES, _CODES = frozenset(SendState), frozenset(Code)


class ContractBroken(Exception):  # noqa: N818
    """A target's answer that is none; the message names the method, the field and the value."""


def to_json(answer: Answer) -> dict[str, Any]:
    """The answer as JSON, with its kind under ``answer``; absent fields are left out."""
    value = msgspec.to_builtins(answer)
    return {"answer": type(answer).__name__} | {
        name: item for name, item in value.items() if item is not None and item != []
    }


def from_json(value: Mapping[str, Any]) -> Answer:
    """The answer from `to_json`'s form.

    Raises:
        ValueError: It is no answer.
    """
    fields = dict(value)
    kind = _KINDS.get(fields.pop("answer", ""))
    if kind is None:
        message = f"no such answer: {value.get('answer')!r}"
        raise ValueError(message)
    try:
        answer: Answer = msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
    return answer


def message_to_json(message: Message) -> dict[str, Any]:
    """A message as JSON; what makes it a reply or a forward is left out where it is neither."""
    value: dict[str, Any] = msgspec.to_builtins(message)
    if message.endpoint is Endpoint.SEND:
        del value["endpoint"]
    if message.refers_to is None:
        del value["refers_to"]
    return value


def message_from_json(value: Mapping[str, Any]) -> Message:
    """A message from `message_to_json`'s form."""
    return msgspec.convert(value, Message)


def event_to_json(event: Received) -> dict[str, Any]:
    """A received message as JSON; what is empty is left out."""
    value: dict[str, Any] = msgspec.to_builtins(event)
    must = ("event_id", "sender")
    return {name: item for name, item in value.items() if name in must or item not in {None, ""}}


def event_from_json(value: Mapping[str, Any]) -> Received:
    """A received message from `event_to_json`'s form."""
    return msgspec.convert(value, Received)


def check(f: str, answer: Any) -> Answer:
    """Return the answer if the contract allows it for the method `f`.

    Raises:
        ContractBroken: It names the first field that is wrong, with its value.
    """
    allowed = ALLOWED[f]
    if type(answer) not in allowed:
        names = " or ".join(kind.__name__ for kind in allowed)
        raise ContractBroken(f"{f} returned {answer!r:.200}; allowed: {names}")
    problem = _problem(answer)
    if problem:
        raise ContractBroken(f"{f} returned {type(answer).__name__} with {problem}")
    checked: Answer = _in_our_words(answer)
    return checked


def check_clock(target: str, value: Any) -> int | None:
    """Return what a target's `now_ms` gave if it is a time, or None where it tells none (spec: L5).

    Raises:
        ContractBroken: It is neither; the message names the target and the value.
    """
    if value is None:
        return None
    problem = _not_whole("now_ms()", value, least=0)
    if problem:
        raise ContractBroken(f"target {target}: {problem}")
    return int(value)


def unmade(f: str, error: BaseException) -> str:
    """What is wrong with an answer that could not even be made, or "" where it was no answer.

    Args:
        f: The mailbox method.
        error: What it raised: Python's own words for a field that is missing or that no answer has,
            or for a text that is no code or state.
    """
    text = str(error)
    made = _UNMADE.match(text) if isinstance(error, TypeError) else None
    if made is not None:
        what = "without" if "missing" in made[2] else "with what it does not have:"
        return f"{f} returned {made[1]} {what} {made[3]}"
    word = _NO_MEMBER.fullmatch(text) if isinstance(error, ValueError) else None
    if word is not None:
        return f"{f} returned unknown {_MEMBERS[word[2]]}={word[1]}"
    return ""


_UNMADE = re.compile(
    rf"({'|'.join(_KINDS)})\.__init__\(\) "
    r"(missing \d+ required keyword-only arguments?:|got an unexpected keyword argument) "
    r"(.+?)(?:\. Did you mean .*)?$"
)
_MEMBERS = {"Code": "code", "SendState": "state"}
_NO_MEMBER = re.compile(r"(.+) is not a valid (Code|SendState)")


def _in_our_words(answer: Any) -> Any:
    """A code or state that was given as plain text is the same code or state."""
    if isinstance(answer, Refused):
        codes = tuple(Code(each) for each in answer.reasons)
        if type(answer.code) is not Code or codes != answer.reasons:
            return replace(answer, code=Code(answer.code), reasons=codes)
    if isinstance(answer, Found) and type(answer.state) is not SendState:
        return replace(answer, state=SendState(answer.state))
    return answer


def _problem(answer: Any) -> str | None:
    """Name the first wrong field."""
    found: str | None = _PROBLEMS[type(answer)](answer)
    return found


def _of_lease(answer: Lease) -> str | None:
    return (
        _not_text(answer, "key", "owner")
        or _not_count(answer, "token", least=1)
        or _not_count(answer, "acquired_at_ms", "expires_at_ms")
        or _not_count(answer, "granted_at_ms", "cooldown_until_ms", "contact_load", optional=True)
    )


def _of_released(answer: Released) -> str | None:
    return _not_text(answer, "key") or _not_count(answer, "token", least=1)


def _of_sent(answer: Sent) -> str | None:
    return (
        _not_text(answer, "message_id")
        or _not_count(answer, "status", least=100)
        or _not_bool(answer, "replay")
    )


def _of_found(answer: Found) -> str | None:
    return _not_one_of(_STATES, "state", answer.state) or _not_text(
        answer, "message_id", optional=True
    )


def _of_noted(answer: Noted) -> str | None:
    return _not_count(answer, "at_ms")


def _of_taken(answer: Taken) -> str | None:
    return (
        _not_text(answer, "key")
        or _not_bool(answer, "first", "opted_out")
        or _not_count(answer, "at_ms")
    )


def _of_cleaned(answer: Cleaned) -> str | None:
    return _not_count(answer, "rows")


def _of_refused(answer: Refused) -> str | None:
    return (
        _not_one_of(_CODES, "code", answer.code)
        or (None if answer.detail == "" else _not_text(answer, "detail"))
        or _not_text(answer, "owner", "message_id", optional=True)
        or _not_count(answer, "expires_at_ms", "until_ms", "token", optional=True)
        or _not_seconds(answer, "retry_after_s")
        or _not_all(answer, "reasons", lambda each: _not_one_of(_CODES, "code", each) is None)
        or _not_all(answer, "faults", _is_text)
    )


_PROBLEMS: Mapping[type, Callable[[Any], str | None]] = {
    Lease: _of_lease,
    Released: _of_released,
    Sent: _of_sent,
    Found: _of_found,
    Noted: _of_noted,
    Taken: _of_taken,
    Cleaned: _of_cleaned,
    Refused: _of_refused,
}
LARGEST = 2**63 - 1
"""What a history can hold."""


def _is_text(value: object) -> bool:
    """A text that can be written down: no half of a surrogate pair, no class of the target's own."""
    if type(value) is not str and not isinstance(value, StrEnum):
        return False
    return value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value)


def _not_text(answer: object, *names: str, optional: bool = False) -> str | None:
    for name in names:
        value = getattr(answer, name)
        if value is None and optional:
            continue
        if not value or not _is_text(value):
            return f"{name}={value!r:.200}, not a text"
    return None


def _not_count(answer: object, *names: str, least: int = 0, optional: bool = False) -> str | None:
    for name in names:
        value = getattr(answer, name)
        if value is None and optional:
            continue
        problem = _not_whole(name, value, least)
        if problem:
            return problem
    return None


def _not_whole(name: str, value: Any, least: int) -> str | None:
    is_whole = type(value) is int or isinstance(value, IntEnum)
    if not is_whole or value < least:
        return f"{name}={value!r:.200}, not a whole number of at least {least}"
    return f"{name}={value!r:.200}, larger than {LARGEST}" if value > LARGEST else None


def _not_seconds(answer: object, name: str) -> str | None:
    value = getattr(answer, name)
    if value is None or (type(value) in {int, float} and 0 <= value <= LARGEST):
        return None
    return f"{name}={value!r:.200}, no number of seconds"


def _not_bool(answer: object, *names: str) -> str | None:
    for name in names:
        value = getattr(answer, name)
        if not isinstance(value, bool):
            return f"{name}={value!r:.200}, not a bool"
    return None


def _not_one_of(known: frozenset[Any], name: str, value: object) -> str | None:
    is_known = isinstance(value, str) and value in known
    return None if is_known else f"unknown {name}={value!r:.200}"


def _not_all(answer: object, name: str, fits: Callable[[object], bool]) -> str | None:
    """A tuple or list of which each item fits; the answer names the first that does not."""
    values = getattr(answer, name)
    if not isinstance(values, tuple | list):
        return f"{name}={values!r:.200}, not a tuple"
    wrong = [each for each in values if not fits(each)]
    return f"{wrong[0]!r:.200} in {name}, which is unknown" if wrong else None
