"""Drafts a mapping from a log, as TOML with the evidence beside each guess."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..contract import Code, UsageError
from .guess import NAMES, code_meaning, column_for, meaning, time_format
from .mapping import RESULTS, TIMES
from .sample import Column, Sample, sample

OURS_FIELDS = frozenset({"seq", "at_ms", "actor", "event", "key", "decision"})
EVENTS_MAX = 60
SHOWN = 60


def looks_like_ours(path: Path) -> bool:
    """Whether a log is our own audit log, by its first lines.

    Raises:
        UsageError: There is nothing to look at.
    """
    try:
        first = sample(path).rows[0]
    except UsageError:
        return False
    return first.keys() >= OURS_FIELDS


def suggest(path: Path) -> str:
    """Draft a mapping.

    Args:
        path: The log.

    Raises:
        UsageError: There is nothing to look at, or no field looks like a time or an address.
    """
    if looks_like_ours(path):
        return "# This is leaserace's own audit log: it needs no mapping.\n"
    seen = sample(path)
    found: dict[str, Column] = {}
    for field in (
        "recipient",
        "time",
        *(name for name in NAMES if name not in {"recipient", "time"}),
    ):
        column = column_for(field, seen, (each.path for each in found.values()))
        if column is not None:
            found[field] = column
    for field, what in (("time", "a time"), ("recipient", "an address")):
        if field not in found:
            names = ", ".join(repr(name[:40]) for name in list(seen.columns)[:20])
            raise UsageError(f"{path.name}: no field looks like {what}; there are {names}")
    return "\n".join(_lines(path, seen, found)) + "\n"


def _lines(path: Path, seen: Sample, found: dict[str, Column]) -> Iterator[str]:
    yield f"# Drafted from the first {seen.lines} lines of {_shown(path.name)}. Look every line over:"
    yield "# a wrong field gives a wrong verdict. `leaserace judge LOG --mapping THIS` uses it."
    yield "version = 1"
    yield f"format = {_quoted(seen.format)}"
    if seen.format == "csv" and seen.delimiter != ",":
        yield f"delimiter = {_quoted(seen.delimiter)}"
    yield from _time(seen, found)
    yield from _fields(seen, found)
    yield from _events(found)
    yield from _codes(found)
    yield from _rest(found)


def _time(seen: Sample, found: dict[str, Column]) -> Iterator[str]:
    column = found["time"]
    form = time_format(column)
    yield "\n[time]"
    yield f"field = {_quoted(column.path)}{_evidence(column, seen)}"
    yield f"format = {_quoted(form)}"
    if not form.startswith("unix") and not _has_zone(column.example):
        yield 'zone = "UTC"  # the times carry none: say where the log was written'
    clock = "agent" if "store_time" in found else "store"
    yield f'clock = "{clock}"  # "agent" if each agent\'s own clock wrote its lines'


def _has_zone(value: Any) -> bool:
    text = str(value).strip()
    return text[-1:] in "Zz" or text[-6:-5] in "+-" or text[-5:-4] in "+-"


def _fields(seen: Sample, found: dict[str, Column]) -> Iterator[str]:
    yield "\n[fields]"
    for field in NAMES:
        if field != "time" and field in found:
            column = found[field]
            yield f"{field} = {_quoted(column.path)}{_evidence(column, seen)}"
    unused = [path for path in seen.columns if path not in {each.path for each in found.values()}]
    if unused:
        yield f"# not used: {', '.join(map(_shown, unused[:30]))}"
    formats = {
        field: time_format(found[field])
        for field in TIMES
        if field in found and time_format(found[field]) != time_format(found["time"])
    }
    if formats:
        yield "\n[formats]"
        yield from (f"{field} = {_quoted(form)}" for field, form in formats.items())


def _events(found: dict[str, Column]) -> Iterator[str]:
    yield "\n[events]"
    column = found.get("event")
    if column is None:
        yield '"*" = "delivery"  # no field names the event: each line is taken as a delivery'
        return
    drafted = 0
    for value, count in column.values.most_common(EVENTS_MAX):
        told = meaning(str(value), has_codes="code" in found)
        drafted += told not in {"", "ignore"}
        note = f"  # {count} lines" if told else f"  # {count} lines; what is it?"
        yield f"{_quoted(str(value))} = {_quoted(told or 'ignore')}{note}"
    if not drafted:
        yield '"*" = "delivery"  # no event could be told: each line is taken as a delivery'


def _codes(found: dict[str, Column]) -> Iterator[str]:
    column = found.get("code")
    if column is None:
        return
    yield "\n[codes]"
    known = {*map(str, Code), *RESULTS}
    for value, count in column.values.most_common(EVENTS_MAX):
        text = str(value)
        if text in known:
            continue
        told = code_meaning(text)
        if told:
            yield f"{_quoted(text)} = {_quoted(told)}  # {count} lines"
        else:
            yield f"# {_quoted(text)} = ?  # {count} lines; one of: {', '.join(sorted(known))}"


def _rest(found: dict[str, Column]) -> Iterator[str]:
    yield "\n[contact]"
    yield '# aliases = { "googlemail.com" = "gmail.com" }  # domains that are one'
    yield "\n[intent]"
    if "idempotency_key" in found or "message_id" in found:
        name = "idempotency key" if "idempotency_key" in found else "message id"
        yield f"# one logical send is one {name}; name the fields that tell it better:"
    yield '# fields = ["thread", "step"]'
    yield "\n[settings]"
    yield "# lease_s = 60.0      # where the log gives no expiry"
    yield "# cooldown_s = 86400  # the cooldown in force; without it no cooldown is judged"
    yield "\n[state]"
    yield '# fields = ["cooldown_until"]  # what a decision was made on, to trace duplicates to it'


def _evidence(column: Column, seen: Sample) -> str:
    share = f"{column.count} of {seen.lines} lines"
    return f"  # {share}, such as {_shown(column.example)}"


def _shown(value: Any) -> str:
    """A value inside a comment: one line, nothing that could end it."""
    return ascii(value if isinstance(value, int | float) else str(value)[:SHOWN])


def _quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


__all__ = ["looks_like_ours", "suggest"]
