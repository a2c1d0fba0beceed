"""What a mailbox answers; part of the contract, from where it is imported.

Times called ``*_at_ms`` or ``until_ms`` are whole milliseconds since the Unix epoch **by the store's
clock** (spec: L5); an agent's own clock never appears in an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .codes import Code


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A granted or renewed lease (spec: L2).

    Args:
        key: The recipient key the lease is held under.
        owner: Id of the agent that holds it.
        token: Fencing token, at least 1; rises with every grant of this key.
        acquired_at_ms: When it was granted.
        expires_at_ms: When it ends unless renewed.
        granted_at_ms: The store's now when this answer was made (the grant or the renewal).
        cooldown_until_ms: End of the contact's cooldown, or None.
        contact_load: Messages to this contact on the shared timeline (spec: C5), or None.
    """

    key: str
    owner: str
    token: int
    acquired_at_ms: int
    expires_at_ms: int
    granted_at_ms: int | None = None
    cooldown_until_ms: int | None = None
    contact_load: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The lease was held by the caller and is free now (spec: L7)."""

    key: str
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The message was handed over and taken, now or by the call this one replays (spec: K2).

    Args:
        message_id: The Message-ID header, fixed at authorisation.
        status: HTTP status of the original answer; a replay repeats it.
        replay: True if an earlier call did the work and nothing was sent now.
    """

    message_id: str
    status: int = 201
    replay: bool = False


class SendState(StrEnum):
    """What became of a send (spec: S8)."""

    ABSENT = "absent"
    AUTHORIZED = "authorized"
    DISPATCHING = "dispatching"
    DELIVERED = "delivered"
    UNKNOWN = "unknown"
    WITHDRAWN = "withdrawn"
    """It was not handed over; a try under the same key may run."""
    CANCELLED = "cancelled"
    """It was not handed over, and no try under the same key ever runs (spec: X17)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Answer of a look-up or a cancellation by idempotency key.

    A cancellation that succeeded says `SendState.CANCELLED`; any other state says that it came too late.
    """

    state: SendState
    message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A change of the suppression list or an override was recorded at this time."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a received message (spec: O4).

    Args:
        key: Recipient key of who wrote, or of who opted out by it.
        first: True the first time only; only then may an agent's loop start. Its run id is made from
            the event id, so that a restart resumes it.
        opted_out: It took the contact off our mail, which is done already (spec: C3).
        at_ms: When it was first taken.
    """

    key: str
    first: bool
    opted_out: bool
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """Old rows were removed; what still matters was not (spec: K5, L4)."""

    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The operation was refused; the fields below `detail` are filled where the code needs them.

    Args:
        code: Why; `Code.meaning` says what to do next.
        detail: One sentence for a person, naming values.
        owner: Who holds the lease (`contact_owned`, `stale_fencing_token`).
        expires_at_ms: When that lease ends.
        until_ms: End of the cooldown (`cooldown_active`).
        token: The stored fencing token.
        message_id: The Message-ID that may exist (`send_status_unknown`).
        retry_after_s: Seconds to wait (`store_busy`).
        reasons: Every refusal that held, strongest first (spec: S7).
        faults: Stable codes of what a pre-send lint found (`invalid_message`; spec: O6).
    """

    code: Code
    detail: str = ""
    owner: str | None = None
    expires_at_ms: int | None = None
    until_ms: int | None = None
    token: int | None = None
    message_id: str | None = None
    retry_after_s: float | None = None
    reasons: tuple[Code, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoReply:
    """The caller never learned the outcome: a lost reply, a timeout or an exception."""

    why: str


Answer = Lease | Released | Sent | Found | Noted | Taken | Cleaned | Refused | NoReply
"""What a scenario sees of a call; a mailbox itself never returns `NoReply`, it raises."""
