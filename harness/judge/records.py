"""One line of a log, reduced to what the rules need; small enough to spill millions of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

CORE = ("t", "line", "offset", "event", "contact", "recipient")
"""Fields that every row begins with."""


class Record(msgspec.Struct, array_like=True, gc=False):
    """What one line says of one recipient; what it does not say is None.

    Args:
        t: When, in nanoseconds since the epoch, by the clock that wrote the line.
        line: Number of the line.
        offset: Where the line begins in the file.
        event: Which entry of the mapping's events it is.
        contact: The person, as the identity function names them.
        recipient: As the log spells it.
        agent: Who acted.
        record_id: Of the line itself, for lines that come twice.
        intent: Name of the logical send, where it is not the key or the message id.
        item: Which of several objects on one line, from 0.
        part: Which of several recipients of one line, from 0.
        state: The policy state a refusal was made on.
        Further fields as in `FieldTable`; times in milliseconds, `started` in nanoseconds.
    """

    t: int
    line: int
    offset: int
    event: int
    contact: str
    recipient: str
    agent: str | None = None
    record_id: str | None = None
    code: str | None = None
    token: int | None = None
    message_id: str | None = None
    key: str | None = None
    intent: str | None = None
    operation: str | None = None
    seq: int | None = None
    store_ms: int | None = None
    owner: str | None = None
    expires_ms: int | None = None
    acquired_ms: int | None = None
    held_token: int | None = None
    held_until_ms: int | None = None
    until_ms: int | None = None
    lease_key: str | None = None
    started: int | None = None
    subject: str | None = None
    body: str | None = None
    kind: str | None = None
    replay: bool | None = None
    person: str | None = None
    part: int | None = None
    item: int | None = None
    state: Any = None


FIELDS = Record.__struct_fields__


def record_type(stored: Sequence[str]) -> type[Record]:
    """A `Record` whose rows hold only some fields, in this order behind `CORE`.

    A row of a log is as short as its mapping: what is not mapped takes no place in the file.

    Args:
        stored: Fields of `Record` beside the core.
    """
    types = {field.name: field.type for field in msgspec.structs.fields(Record)}
    order = [*CORE, *stored, *(name for name in FIELDS if name not in {*CORE, *stored})]
    made = msgspec.defstruct(
        "Row",
        [(name, types[name]) if name in CORE else (name, types[name], None) for name in order],
        array_like=True,
        gc=False,
    )
    return cast("type[Record]", made)


__all__ = ["CORE", "FIELDS", "Record", "record_type"]
