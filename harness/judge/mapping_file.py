"""Reads a mapping file, and says which key of it is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping as MappingOf
from pathlib import Path
from typing import Any

import msgspec

from ..contract import Code, UsageError
from .mapping import (
    RESULTS,
    TIMES,
    VERSION,
    ContactTable,
    FieldTable,
    IntentTable,
    Mapping,
    SettingsTable,
    StateTable,
    TimeTable,
    near,
)
from .times import Zones, parser, zone_of


def load_mapping(path: Path) -> Mapping:
    """Read a mapping file.

    Raises:
        UsageError: It can't be read, or something in it is wrong; it names the file and the key.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"mapping {str(path)!r} can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name}: not TOML: {error}") from error
    return mapping_from(data, path.name)


def mapping_from(data: MappingOf[str, Any], where: str) -> Mapping:
    """A mapping from its tables.

    Args:
        data: The tables.
        where: The file's name, for errors.

    Raises:
        UsageError: Something in it is wrong; it names the key.
    """
    try:
        mapping = msgspec.convert(data, Mapping)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {_with_hint(str(error))}") from error
    try:
        _check(mapping)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from error
    return mapping


def _with_hint(text: str) -> str:
    """The sentence of msgspec, and the key that was probably meant."""
    match = re.search(r"unknown field `(.+?)`", text)
    if match is None:
        return text
    tables = (Mapping, TimeTable, FieldTable, ContactTable, IntentTable, SettingsTable, StateTable)
    known = [name for table in tables for name in table.__struct_fields__]
    return text + near(match[1], known)


def _check(mapping: Mapping) -> None:
    """What types alone can't say.

    Raises:
        ValueError: It names the key.
    """
    if mapping.version != VERSION:
        message = f"version {mapping.version}: this leaserace reads {VERSION}"
        raise ValueError(message)
    _one_of("format", mapping.format, ("", "jsonl", "csv"))
    _one_of("time.clock", mapping.time.clock, ("store", "agent"))
    _one_of("state.form", mapping.state.form, ("", "leaserace"))
    _one_of("time.says", mapping.time.says, ("decided", "ended"))
    if len(mapping.delimiter) != 1:
        message = f"delimiter: {mapping.delimiter!r} is not one character"
        raise ValueError(message)
    _check_times(mapping)
    _check_names(mapping)
    for name, figures in (("time", mapping.time), ("settings", mapping.settings)):
        for field in figures.__struct_fields__:
            value = getattr(figures, field)
            if isinstance(value, float) and not 0 <= value < 1e9:
                message = f"{name}.{field}: {value!r} is no number of seconds"
                raise ValueError(message)


def _check_times(mapping: Mapping) -> None:
    try:
        parser(mapping.time.format, Zones())
        zone_of(mapping.time.zone or "UTC")
        for name, form in mapping.formats.items():
            _one_of("formats", name, TIMES)
            parser(form, Zones())
    except ValueError as error:
        message = f"time or formats: {error}"
        raise ValueError(message) from error


def _check_names(mapping: Mapping) -> None:
    try:
        actions = mapping.actions()
    except ValueError as error:
        message = f"events: {error}"
        raise ValueError(message) from error
    if not any(actions.values()):
        raise ValueError("events: nothing in the log means anything; name at least one event")
    if not mapping.has("recipient"):
        raise ValueError("fields.recipient: not given; without it nobody can be written to twice")
    if not mapping.has("event") and set(actions) != {"*"}:
        raise ValueError('fields.event: not given; then events must be one line: "*" = "delivery"')
    for code in mapping.codes.values():
        if code not in set(Code) and code not in RESULTS:
            message = f"codes: {code!r} is no code{near(code, [*Code, *RESULTS])}"
            raise ValueError(message)
    for kind in mapping.kinds.values():
        _one_of("kinds", kind, ("commercial", "transactional"))


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        words = ", ".join(each or "(nothing)" for each in allowed)
        message = f"{name}: {value!r} is none of {words}{near(value, allowed)}"
        raise ValueError(message)


__all__ = ["load_mapping", "mapping_from"]
