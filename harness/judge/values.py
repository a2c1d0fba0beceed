"""From a field's value to what a record holds; each raises `BadLine` without naming the field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .problems import BadLine
from .times import NoTime, Parse, ParseMany

TEXT_MAX = 10_000
"""Longer texts are cut: they are compared and shown, never parsed."""

MOMENTS = ("store_time", "expires_at", "acquired_at", "held_until", "until")
"""Fields of the mapping that a record holds in milliseconds since the epoch."""

Convert = Callable[[Any], Any]


def text(value: Any) -> str:
    """A text; numbers count as their digits, a list as its parts."""
    if type(value) is str:
        return value[:TEXT_MAX]
    if type(value) is list:
        return ", ".join(map(text, value))[:TEXT_MAX]
    if isinstance(value, bool | dict):
        raise BadLine(f"{str(value)[:80]!r} is no text")
    return str(value)[:TEXT_MAX]


def whole(value: Any) -> int:
    """A whole number, also where a log writes it as text."""
    if type(value) is int:
        number = value
    elif type(value) is float and value.is_integer():
        number = int(value)
    elif type(value) is str:
        try:
            number = int(value)
        except ValueError:
            raise BadLine(f"{value[:80]!r} is no whole number") from None
    else:
        raise BadLine(f"{str(value)[:80]!r} is no whole number")
    if not -(1 << 62) < number < 1 << 62:
        raise BadLine(f"{str(value)[:80]!r} is out of range")
    return number


def seconds_ms(value: Any) -> int:
    """A length in seconds, to milliseconds."""
    try:
        length_ms = float(value) * 1000
    except (TypeError, ValueError):
        raise BadLine(f"{str(value)[:80]!r} is no number of seconds") from None
    if not 0 <= length_ms < 1e15:
        raise BadLine(f"{str(value)[:80]!r} is no number of seconds")
    return round(length_ms)


def flag(value: Any) -> bool:
    """A yes or no."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in {"true", "yes", "1", "replay", "replayed"}:
        return True
    if word in {"false", "no", "0", ""}:
        return False
    raise BadLine(f"{str(value)[:80]!r} is neither true nor false")


def moment_ns(parse: Parse) -> Convert:
    """A time, to nanoseconds."""

    def convert(value: Any) -> int:
        try:
            return parse(value)
        except NoTime as error:
            raise BadLine(f"{str(value)[:80]!r} {error}") from None

    return convert


def moment_ms(parse: Parse) -> Convert:
    """A time, to milliseconds."""
    to_ns = moment_ns(parse)
    return lambda value: to_ns(value) // 1_000_000


def moments_ms(parse_many: ParseMany) -> Callable[[Sequence[Any]], list[int | None]]:
    """Many times, to milliseconds; raises `NoTime`."""

    def convert(column: Sequence[Any]) -> list[int | None]:
        there = [value for value in column if value is not None and value != ""]
        if len(there) == len(column):
            return [t_ns // 1_000_000 for t_ns in parse_many(there)]
        told = iter(parse_many(there))
        return [
            None if value is None or value == "" else next(told) // 1_000_000 for value in column
        ]

    return convert


__all__ = [
    "MOMENTS",
    "Convert",
    "flag",
    "moment_ms",
    "moment_ns",
    "moments_ms",
    "seconds_ms",
    "text",
    "whole",
]
