"""One line of a log, reduced to what the rules need; small enough to spill millions of."""

from __future__ import annotations

from typing import Any

import msgspec


class Record(msgspec.Struct, array_like=True, gc=False):
    """What one line says of one recipient.

    Args:
        t: When, in nanoseconds since the epoch, by the clock that wrote the line.
        line: Number of the line.
        offset: Where the line begins in the file.
        event: Which entry of the mapping's events it is.
        contact: The person, as the identity function names them.
        agent: Who acted.
        record_id: Of the line itself, for lines that come twice.
        recipient: As the log spells it.
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
    agent: str
    record_id: str
    recipient: str
    code: str = ""
    token: int | None = None
    message_id: str = ""
    key: str = ""
    intent: str = ""
    operation: str = ""
    seq: int | None = None
    store_ms: int | None = None
    owner: str = ""
    expires_ms: int | None = None
    acquired_ms: int | None = None
    held_token: int | None = None
    held_until_ms: int | None = None
    until_ms: int | None = None
    lease_key: str = ""
    started: int | None = None
    subject: str = ""
    body: str = ""
    kind: str = ""
    replay: bool = False
    person: str = ""
    part: int = 0
    item: int = 0
    state: Any = None


__all__ = ["Record"]
