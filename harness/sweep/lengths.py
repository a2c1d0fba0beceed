"""Durations as people write them, and the lengths one cell of a sweep runs under."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..contract import UsageError

UNITS_S: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
NONE, BY_POLICY = "none", "by-policy"
LONGEST_S = 365 * 86_400.0

COMMERCIAL_COOLDOWN_S = 72 * 3600.0
TRANSACTIONAL_COOLDOWN_S = 0.0
ESCALATE_AFTER = 3
"""What a policy file that says nothing means; the reference's own defaults (spec: C2, R2)."""

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """A rule for cooldowns (spec: C2).

    Args:
        name: As it was written: ``none``, ``by-policy`` or a duration, which holds for every kind.
        commercial_s: Least time from the last message to a commercial one.
        transactional_s: The same for a reply somebody waits for.
    """

    name: str
    commercial_s: float
    transactional_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """All lengths one cell runs under, in whole milliseconds.

    Args:
        lease_ms: Length of a lease.
        commercial_ms: Cooldown before a commercial message.
        transactional_ms: Cooldown before a transactional one.
        escalate_after: Refusals by one lease before a person must decide (spec: R2).
    """

    lease_ms: int
    commercial_ms: int
    transactional_ms: int
    escalate_after: int = ESCALATE_AFTER


def seconds_of(text: str) -> float:
    """Read ``10s``, ``5m``, ``1.5h``, ``7d`` or ``250ms``.

    Raises:
        UsageError: It is no duration, or it is out of range.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no duration: write a number and ms, s, m, h or d, as in 5m")
    seconds = float(match[1]) * UNITS_S[match[2]]
    if not 0.001 <= seconds <= LONGEST_S:
        raise UsageError(f"{text!r} is out of range: from 1ms to 365d")
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """What a sweep reads of a policy file; the names are the reference's.

    Args:
        commercial_s: Cooldown before a commercial message.
        transactional_s: Cooldown before a transactional one.
        escalate_after: Refusals by one lease before a person must decide.
    """

    commercial_s: float = COMMERCIAL_COOLDOWN_S
    transactional_s: float = TRANSACTIONAL_COOLDOWN_S
    escalate_after: int = ESCALATE_AFTER


def read_policy(path: Path | None) -> PolicyFile:
    """The cooldowns and the limit of a TOML policy file, or the defaults.

    Raises:
        UsageError: It can't be read, or a value can't be used.
    """
    if path is None:
        return PolicyFile()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"policy {path}: {error.strerror}: name a file that can be read") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"policy {path}: not TOML: {error}") from None
    after = values.get("escalate_after", ESCALATE_AFTER)
    if not isinstance(after, int) or isinstance(after, bool) or after < 1:
        raise UsageError(f"policy {path}: escalate_after = {after!r}: give a number of at least 1")
    return PolicyFile(
        commercial_s=_length(path, values, "commercial_cooldown_s", COMMERCIAL_COOLDOWN_S),
        transactional_s=_length(path, values, "transactional_cooldown_s", TRANSACTIONAL_COOLDOWN_S),
        escalate_after=after,
    )


def _length(path: Path, values: Mapping[str, Any], name: str, default: float) -> float:
    value = values.get(name, default)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= LONGEST_S:
        raise UsageError(
            f"policy {path}: {name} = {value!r}: give seconds, from 0 to {LONGEST_S:g}"
        )
    return float(value)


def cooldown_of(text: str, policy: PolicyFile) -> Cooldown:
    """Read ``none``, ``by-policy`` or a flat duration (spec: C2).

    Raises:
        UsageError: It is none of them.
    """
    name = text.strip()
    if name == NONE:
        return Cooldown(name=name, commercial_s=0.0, transactional_s=0.0)
    if name == BY_POLICY:
        return Cooldown(
            name=name, commercial_s=policy.commercial_s, transactional_s=policy.transactional_s
        )
    try:
        flat_s = seconds_of(name)
    except UsageError:
        raise UsageError(
            f"{text!r} is no cooldown: write none, by-policy or a duration such as 7d"
        ) from None
    return Cooldown(name=name, commercial_s=flat_s, transactional_s=flat_s)


def lengths_of(lease_s: float, cooldown: Cooldown, policy: PolicyFile) -> Lengths:
    """The lengths of a cell."""
    return Lengths(
        lease_ms=ms(lease_s),
        commercial_ms=ms(cooldown.commercial_s),
        transactional_ms=ms(cooldown.transactional_s),
        escalate_after=policy.escalate_after,
    )


def ms(seconds: float) -> int:
    """Seconds as whole milliseconds."""
    return int(seconds * 1000 + 0.5)


def spoken(seconds: float) -> str:
    """A length in few characters: ``250 ms``, ``10 s``, ``5 min``, ``7 d``."""
    for unit, size in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size or (seconds >= size and seconds % size == 0):
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 1 or seconds == 0 else f"{seconds * 1000:.3g} ms"
