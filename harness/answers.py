"""Answers at the border: to JSON and back, and the check that a mailbox keeps the contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .contract import (
    Answer,
    Code,
    Found,
    Lease,
    Message,
    NoReply,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
)

ALLOWED: Mapping[str, tuple[type, ...]] = {
    "acquire": (Lease, Refused),
    "renew": (Lease, Refused),
    "release": (Released, Refused),
    "send": (Sent, Refused),
    "lookup": (Found, Refused),
    "suppress": (Noted, Refused),
    "unsuppress": (Noted, Refused),
    "override": (Noted, Refused),
}
"""Which answers each mailbox method may give."""

_KINDS: Mapping[str, type] = {
    kind.__name__: kind for kind in (Lease, Released, Sent, Found, Noted, Refused, NoReply)
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
    """A message as JSON, without its body (the intent identifies it)."""
    value: dict[str, Any] = msgspec.to_builtins(message)
    return value


def message_from_json(value: Mapping[str, Any]) -> Message:
    """A message from `message_to_json`'s form."""
    return msgspec.convert(value, Message)


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
    checked: Answer = answer
    return checked


def _problem(answer: Any) -> str | None:
    """Name the first wrong field."""
    match answer:
        case Lease():
            return (
                _not_text(answer, "key", "owner")
                or _not_count(answer, "token", 1)
                or _not_count(answer, "acquired_at_ms", 0)
                or _not_count(answer, "expires_at_ms", 0)
            )
        case Released():
            return _not_text(answer, "key") or _not_count(answer, "token", 1)
        case Sent():
            return (
                _not_text(answer, "message_id")
                or _not_count(answer, "status", 100)
                or _not_bool(answer, "replay")
            )
        case Found():
            return None if answer.state in _STATES else f"unknown state={answer.state!r}"
        case Noted():
            return _not_count(answer, "at_ms", 0)
        case Refused():
            return None if answer.code in _CODES else f"unknown code={answer.code!r}"
        case _:
            return None


def _not_text(answer: object, *names: str) -> str | None:
    for name in names:
        value = getattr(answer, name)
        if not isinstance(value, str) or not value:
            return f"{name}={value!r}, not a text"
    return None


def _not_count(answer: object, name: str, least: int) -> str | None:
    value = getattr(answer, name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        return f"{name}={value!r}, not a whole number of at least {least}"
    return None


def _not_bool(answer: object, name: str) -> str | None:
    value = getattr(answer, name)
    return None if isinstance(value, bool) else f"{name}={value!r}, not a bool"
