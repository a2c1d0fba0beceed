"""Times as logs write them, to nanoseconds since the Unix epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

EARLIEST_NS = 315_532_800 * 10**9
"""1980: anything before it is a wrong unit, not a mail."""
LATEST_NS = 4_102_444_800 * 10**9
"""2100."""
UNITS_NS = {"unix_s": 10**9, "unix_ms": 10**6, "unix_us": 10**3, "unix_ns": 1}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_SOME_SECOND = "2026-11-30T12:00:00"
SECOND = len(_SOME_SECOND)
DAY_NS = 86_400 * 10**9
PARTS_CACHED = 50_000

Parse = Callable[[Any], int]
"""From a field's value to nanoseconds; raises `NoTime`."""
ParseMany = Callable[[Sequence[Any]], list[int]]
"""The same for many values at once, which is what most lines of a large log go through."""


class NoTime(ValueError):  # noqa: N818 - it is what the value is
    """The value is no time; the message says why, without the value's place."""


class Zones:
    """The zone that times without one are in, and what had to be assumed about them.

    Args:
        name: ``UTC``, ``+02:00`` or a name such as ``Europe/Berlin``; "" for none given.

    Attributes:
        without: How many times carried no zone.
        twice: How many local times exist twice (the hour when clocks go back).
        never: How many local times do not exist.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.zone: tzinfo = zone_of(name) if name else UTC
        self._fixed = self.zone is UTC or not isinstance(self.zone, ZoneInfo)
        self.without = self.twice = self.never = 0

    def aware(self, moment: datetime) -> datetime:
        """The moment with its zone; where it has none, the log's."""
        if moment.tzinfo is not None:
            return moment
        self.without += 1
        told = moment.replace(tzinfo=self.zone)
        if not self._fixed:
            later = told.replace(fold=1)
            if told.utcoffset() != later.utcoffset():
                back = told.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None)
                if back == moment:
                    self.twice += 1
                else:
                    self.never += 1
        return told


def zone_of(name: str) -> tzinfo:
    """The zone called `name`.

    Raises:
        ValueError: There is none.
    """
    if name in {"UTC", "Z"}:
        return UTC
    if name[:1] in "+-" and len(name) == 6:
        moment = datetime.fromisoformat(f"2000-01-01T00:00:00{name}")
        assert moment.tzinfo is not None
        return moment.tzinfo
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        message = f"no time zone is called {name!r}"
        raise ValueError(message) from error


def parser(form: str, zones: Zones) -> Parse:
    """What reads a time of this form; see `parsers`."""
    return parsers(form, zones)[0]


def parsers(form: str, zones: Zones) -> tuple[Parse, ParseMany]:
    """What reads times of this form, one or many.

    Args:
        form: ``unix_s``, ``unix_ms``, ``unix_us``, ``unix_ns``, ``iso``, or a `strptime` format.
        zones: Where times without a zone are, and where what was assumed is counted.

    Raises:
        ValueError: The format can't be one.
    """
    if form == "iso":
        return _iso(zones)
    if form in UNITS_NS:
        return _unix(UNITS_NS[form])
    if "%" not in form:
        message = f"{form!r} is no time format: use {', '.join(UNITS_NS)}, iso or a strptime format"
        raise ValueError(message)
    parse = _strptime(form, zones)
    return parse, lambda values: list(map(parse, values))


def _unix(unit_ns: int) -> tuple[Parse, ParseMany]:
    def parse(value: Any) -> int:
        if type(value) is str:
            value = _number(value)
        if type(value) is int:
            return _checked(value * unit_ns)
        if type(value) is not float:
            raise NoTime("is no time")
        if not math.isfinite(value):
            raise NoTime("is no time: it is not finite")
        # A double holds microseconds of today's times, no more.
        return _checked(round(value * (unit_ns / 1000)) * 1000 if unit_ns > 1000 else int(value))

    def parse_many(values: Sequence[Any]) -> list[int]:
        if set(map(type, values)) == {int}:
            _checked(min(values) * unit_ns)
            _checked(max(values) * unit_ns)
            return [value * unit_ns for value in values]
        return list(map(parse, values))

    return parse, parse_many


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise NoTime("is no time: a number is expected") from None


class _Parts(dict[str, int]):
    """Parts of ISO 8601 texts to nanoseconds; a part that is none by itself is a `KeyError`.

    Args:
        before, after: What makes the part a whole time that carries its zone.
    """

    def __init__(self, before: str, after: str) -> None:
        super().__init__()
        self._before = before
        self._after = after

    def __missing__(self, part: str) -> int:
        try:
            moment = datetime.fromisoformat(f"{self._before}{part}{self._after}")
        except ValueError:
            raise KeyError(part) from None
        if moment.tzinfo is None:
            raise KeyError(part)
        t_ns = (moment - _EPOCH) // _MICROSECOND * 1000
        if not EARLIEST_NS + DAY_NS < t_ns < LATEST_NS - DAY_NS:
            raise KeyError(part)
        if len(self) >= PARTS_CACHED:
            self.clear()
        self[part] = t_ns
        return t_ns


def _iso(zones: Zones) -> tuple[Parse, ParseMany]:
    """Most times of a log share their second, or what stands behind it, with others."""
    seconds, tails = _Parts("", "Z"), _Parts(_SOME_SECOND, "")
    base_ns = seconds[_SOME_SECOND]

    def parse(value: Any) -> int:
        try:
            return seconds[value[:SECOND]] + tails[value[SECOND:]] - base_ns
        except (KeyError, TypeError):
            pass
        return _checked((zones.aware(_iso_moment(value)) - _EPOCH) // _MICROSECOND * 1000)

    def parse_many(values: Sequence[Any]) -> list[int]:
        try:
            return [seconds[text[:SECOND]] + tails[text[SECOND:]] - base_ns for text in values]
        except (KeyError, TypeError):
            return list(map(parse, values))

    return parse, parse_many


def _iso_moment(value: Any) -> datetime:
    if type(value) is not str:
        raise NoTime("is no time: an ISO 8601 text is expected")
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return _slow_iso(value)


def _slow_iso(text: str) -> datetime:
    """ISO 8601 as logs bend it: outer white space, more than six digits, a zone behind a blank."""
    plain = text.strip().replace(" UTC", "+00:00").replace(" Z", "Z")
    head, dot, tail = plain.partition(".")
    if dot:
        digits = len(tail) - len(tail.lstrip("0123456789"))
        plain = f"{head}.{tail[: min(digits, 6)]}{tail[digits:]}"
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        raise NoTime("is no time: ISO 8601 is expected") from None


def _strptime(form: str, zones: Zones) -> Parse:
    def parse(value: Any) -> int:
        try:
            moment = datetime.strptime(str(value), form)  # noqa: DTZ007 - `aware` gives it its zone
        except ValueError:
            raise NoTime(f"is no time of the form {form!r}") from None
        return _checked((zones.aware(moment) - _EPOCH) // _MICROSECOND * 1000)

    return parse


def _checked(t_ns: int) -> int:
    if EARLIEST_NS <= t_ns <= LATEST_NS:
        return t_ns
    for name, unit_ns in UNITS_NS.items():
        for other_ns in UNITS_NS.values():
            if unit_ns != other_ns and EARLIEST_NS <= t_ns // other_ns * unit_ns <= LATEST_NS:
                raise NoTime(f"is no time between 1980 and 2100; as {name} it would be one")
    raise NoTime("is no time between 1980 and 2100")


__all__ = ["UNITS_NS", "NoTime", "Parse", "ParseMany", "Zones", "parser", "parsers", "zone_of"]
