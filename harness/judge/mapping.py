"""The mapping file: where in somebody's log stand the time, the agent, the recipient, the outcome.

A TOML file of a few lines. Unknown keys are refused by name, so that a slip of the pen is never
taken for "my log has no tokens".
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

import msgspec

from ..contract import Code

VERSION = 1
OPERATIONS = (
    "acquire",
    "renew",
    "release",
    "send",
    "lookup",
    "suppress",
    "unsuppress",
    "override",
)
RESULTS = ("ok", "replay", "unknown")
"""What a code may mean beside a refusal."""
_ACTION = re.compile(
    rf"(?P<f>{'|'.join(OPERATIONS)})(\.(?P<phase>begin|end|ok|fail|unknown|replay))?(:(?P<code>\w+))?"
)
TIMES = (
    "time",
    "store_time",
    "started_at",
    "acquired_at",
    "expires_at",
    "held_until",
    "until",
)
"""Fields that carry a time; each may have a format of its own under ``[formats]``."""


class Phase(StrEnum):
    """Which end of an operation a line tells."""

    BEGIN = "begin"
    END = "end"
    """The end; the outcome stands in the code."""
    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"
    REPLAY = "replay"
    WHOLE = "whole"
    """Both ends; the outcome stands in the code."""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """What one line means.

    Args:
        f: The mailbox method, ``delivery``, or ``dispatch`` (the hand-over begins).
        phase: Which end of it.
        code: The refusal that its name implies, or "".
    """

    f: str
    phase: Phase = Phase.WHOLE
    code: str = ""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file."""


class TimeTable(_Table, frozen=True, kw_only=True):
    """``[time]``.

    Args:
        field: Field of the time.
        format: ``unix_s``, ``unix_ms``, ``unix_us``, ``unix_ns``, ``iso`` or a `strptime` format.
        zone: Zone of times that carry none; UTC is assumed, and said, if it is not given.
        clock: ``store`` if one clock wrote all lines, ``agent`` if each agent's own did.
        says: When a line that tells a whole operation was written: ``decided`` or ``ended``.
        uncertainty_s: How far a line's time may be off, either way.
        call_s: Where lines say when a call ended: the longest it may have taken.
        settle_s: How long before the log's end a message may still be on its way.
    """

    field: str
    format: str = "iso"
    zone: str = ""
    clock: str = "store"
    says: str = "decided"
    uncertainty_s: float = 0.0
    call_s: float = 0.0
    settle_s: float = 60.0


class FieldTable(_Table, frozen=True, kw_only=True):
    """``[fields]``: where each thing stands; a dot goes one level down, a list means "the first there".

    Args:
        event: What happened; several are joined with a slash (``send/authorized``).
        agent: Who did it.
        recipient: To whom; a list gives one operation each.
        record_id: Id of the line itself; a second line with it is a repetition.
        operation: Id that joins the begin and the end of a call.
        seq: Position in the commit order; where it is there, it is the order.
        code: Outcome of a call; see ``[codes]``.
        token, owner, lease_key: Of a lease, as the log's own system sees it.
        acquired_at, expires_at, ttl_s: Of the lease that was granted or renewed.
        held_token, held_until: Of the stored lease, as the decision found it.
        until: End of a cooldown.
        store_time: The store's own time, where ``time`` is by an agent's clock.
        started_at, duration_s: When a call told by one line began, or how long it took.
        idempotency_key, message_id, subject, body, kind, replay: Of a send; ``kind`` is commercial
            or transactional, see ``[kinds]``.
        person: Who lifted a suppression or set an override.
    """

    event: str | list[str] = ""
    agent: str | list[str] = ""
    recipient: str | list[str] = ""
    record_id: str | list[str] = ""
    operation: str | list[str] = ""
    seq: str | list[str] = ""
    code: str | list[str] = ""
    token: str | list[str] = ""
    owner: str | list[str] = ""
    lease_key: str | list[str] = ""
    acquired_at: str | list[str] = ""
    expires_at: str | list[str] = ""
    ttl_s: str | list[str] = ""
    held_token: str | list[str] = ""
    held_until: str | list[str] = ""
    until: str | list[str] = ""
    store_time: str | list[str] = ""
    started_at: str | list[str] = ""
    duration_s: str | list[str] = ""
    idempotency_key: str | list[str] = ""
    message_id: str | list[str] = ""
    subject: str | list[str] = ""
    body: str | list[str] = ""
    kind: str | list[str] = ""
    replay: str | list[str] = ""
    person: str | list[str] = ""


class ContactTable(_Table, frozen=True, kw_only=True):
    """``[contact]``: which spellings are one person (spec: I).

    Args:
        identity: Name under the entry point group ``leaserace.identity``, or ``plain``.
        aliases: Domain to canonical domain.
    """

    identity: str = ""
    aliases: dict[str, str] = {}


class IntentTable(_Table, frozen=True, kw_only=True):
    """``[intent]``: which fields together name one logical send.

    Args:
        fields: Fields; empty for the idempotency key, and without one the message id.
        by_recipient: Whether each recipient makes it another one.
    """

    fields: list[str] = []
    by_recipient: bool = True


class SettingsTable(_Table, frozen=True, kw_only=True):
    """``[settings]``: the policy in force when the log was written, in seconds.

    Args:
        lease_s: Length of a lease, where the log gives no expiry.
        cooldown_s: Cooldown after a delivery; 0 if there was none.
        key_window_s: How long an idempotency key is replayed.
        from_start: Whether the log begins with an empty system, so that nothing rests on what was
            before it.
    """

    lease_s: float | None = None
    cooldown_s: float | None = None
    key_window_s: float = 86_400.0
    from_start: bool = False


class StateTable(_Table, frozen=True, kw_only=True):
    """``[state]``: fields that tell the policy state a decision was made on (spec: R3).

    Args:
        fields: Fields of the log.
        form: ``leaserace`` if the one field is a state as our own audit log writes it.
    """

    fields: list[str] = []
    form: str = ""


class Mapping(_Table, frozen=True, kw_only=True):
    """A mapping file, checked.

    Args:
        events: What the log calls things to what they are; ``*`` at an end matches anything.
        codes: The log's codes to ours, or to ``ok``, ``replay`` or ``unknown``.
        kinds: The log's kinds of message to ``commercial`` or ``transactional``.
        formats: Formats of further times, by the name of the field in ``[fields]``.
        clocks: Agent to how many seconds its clock is ahead.
        lenient: Whether fields may be named that no line has.
    """

    time: TimeTable
    events: dict[str, str | list[str]]
    version: int = VERSION
    format: str = ""
    delimiter: str = ","
    fields: FieldTable = FieldTable()
    codes: dict[str, str] = {}
    kinds: dict[str, str] = {}
    formats: dict[str, str] = {}
    clocks: dict[str, float] = {}
    lenient: bool = False
    contact: ContactTable = ContactTable()
    intent: IntentTable = IntentTable()
    settings: SettingsTable = SettingsTable()
    state: StateTable = StateTable()

    def paths(self, name: str) -> tuple[str, ...]:
        """Fields of the log that carry `name`, none if it is not mapped."""
        if name == "time":
            return (self.time.field,)
        told = getattr(self.fields, name)
        return tuple([told] if isinstance(told, str) and told else told)

    def has(self, *names: str) -> bool:
        """Whether the log carries all of these."""
        return all(self.paths(name) for name in names)

    def time_format(self, name: str) -> str:
        """Format of one of `TIMES`."""
        return self.formats.get(name, self.time.format)

    def actions(self) -> dict[str, tuple[Action, ...]]:
        """What each event of the log means; an empty tuple for what is to be left out."""
        return {
            name: tuple(
                action
                for text in ([told] if isinstance(told, str) else told)
                for action in _actions(text)
            )
            for name, told in self.events.items()
        }

    def does(self, f: str) -> bool:
        """Whether any event of the log means `f`."""
        return any(action.f == f for told in self.actions().values() for action in told)


def _actions(text: str) -> tuple[Action, ...]:
    if text == "ignore":
        return ()
    if text in {"delivery", "dispatch"}:
        return (Action(f=text),)
    match = _ACTION.fullmatch(text)
    if match is None:
        message = f"{text!r} is nothing a line can mean: {_meanings()}"
        raise ValueError(message)
    code = match["code"] or ""
    if code and code not in set(Code):
        message = f"{text!r}: {code!r} is no code{near(code, Code)}"
        raise ValueError(message)
    return (Action(f=match["f"], phase=Phase(match["phase"] or "whole"), code=code),)


def _meanings() -> str:
    return (
        f"write delivery, dispatch, ignore, or one of {', '.join(OPERATIONS)}, "
        "alone or with .begin, .end, .ok, .fail, .unknown or .replay"
    )


def near(word: str, known: Any) -> str:
    """What was probably meant, as the end of a sentence; "" for no idea."""
    close = get_close_matches(word, [str(each) for each in known], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


__all__ = ["OPERATIONS", "RESULTS", "TIMES", "Action", "Mapping", "Phase", "near"]
