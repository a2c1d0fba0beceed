"""What the store keeps, one row type a table; every time is by the store's clock (spec: L5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from leaserace.harness.contract import AuditRecord, MessageKind, SendState


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A row and its primary key."""

    key: str


AnyRow = TypeVar("AnyRow", bound=Row)


class FenceRow(Row, frozen=True, kw_only=True):
    """The last token issued for a contact; never deleted, so that it never restarts (spec: L4).

    Args:
        key: Recipient key.
        token: At least 1.
    """

    token: int


class LeaseRow(Row, frozen=True, kw_only=True):
    """A claim that was granted and not released (spec: L2).

    The cooldown that L2 lists with it belongs to the contact and outlives the lease: see `TimelineRow`.

    Args:
        key: Recipient key.
        owner: Agent that holds it.
        token: Fencing token of the grant.
        acquired_at_ms: When it was granted.
        expires_at_ms: When it ends unless renewed.
        length_ms: What each renewal adds to the store's now.
    """

    owner: str
    token: int
    acquired_at_ms: int
    expires_at_ms: int
    length_ms: int


class SendRow(Row, frozen=True, kw_only=True):
    """One logical send and what became of it, kept with its idempotency key (spec: S8, K2, K5).

    Args:
        key: Idempotency key, normalised.
        fingerprint: Of the payload (spec: K4).
        contact: Recipient key.
        agent: Who authorised it.
        token: Fencing token it was authorised under; 0 only where no fence asks for one.
        attempt: Number of the authorisation; a worker of an older one may do nothing more.
        message_id: Message-ID header, the same on every attempt.
        state: Where it stands.
        authorized_at_ms: When this attempt was authorised.
        deadline_ms: From then on this attempt's worker counts as gone.
        settled_at_ms: When the outcome was recorded, or 0.
    """

    fingerprint: str
    contact: str
    agent: str
    token: int
    attempt: int
    message_id: str
    state: SendState
    authorized_at_ms: int
    deadline_ms: int
    settled_at_ms: int = 0


class Contacted(msgspec.Struct, frozen=True, kw_only=True):
    """One message on a contact's timeline (spec: S9, C5).

    Args:
        message_id: Which message.
        send: Its idempotency key.
        agent: Who wrote.
        kind: Commercial or transactional.
        at_ms: When it was authorised; once confirmed, when it was delivered.
        confirmed: False while it is only reserved.
    """

    message_id: str
    send: str
    agent: str
    kind: MessageKind
    at_ms: int
    confirmed: bool = False


class TimelineRow(Row, frozen=True, kw_only=True):
    """All messages to one contact, across every agent; cooldown and load are read from it."""

    entries: tuple[Contacted, ...] = ()


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why a contact is suppressed, and when that happened."""

    reason: str
    at_ms: int


class SuppressionRow(Row, frozen=True, kw_only=True):
    """A contact's place on the suppression list; suppressed while a cause is left (spec: C1, C7).

    Args:
        key: Recipient key.
        causes: What holds now; empty once cleared.
        cleared_at_ms: When a person last cleared it, or 0; older events change nothing.
    """

    causes: tuple[Cause, ...] = ()
    cleared_at_ms: int = 0


class OverrideRow(Row, frozen=True, kw_only=True):
    """A person's leave to skip the cooldown once (spec: C4)."""

    person: str
    reason: str
    at_ms: int
    until_ms: int


class ConflictRow(Row, frozen=True, kw_only=True):
    """How often one agent met the same lease of another (spec: R2).

    Args:
        key: Agent and recipient key.
        token: Token of the lease in the way; a newer one is another conflict.
        count: Refusals so far.
        at_ms: When the last one was.
    """

    token: int
    count: int
    at_ms: int


class InboundRow(Row, frozen=True, kw_only=True):
    """A message that came in, so that it is taken once (spec: O4).

    Args:
        key: Its Message-ID.
        contact: Who wrote, or who opted out by it.
        reason: ``opt-out``, or nothing.
        at_ms: When it was taken.
    """

    contact: str
    reason: str
    at_ms: int


class OptOutRow(Row, frozen=True, kw_only=True):
    """Whom a message's opt-out belongs to (spec: C6).

    Args:
        key: What the message's opt-out headers carry.
        contact: Recipient key.
        until_ms: Until when it is kept at least.
    """

    contact: str
    until_ms: int


class CancelRow(Row, frozen=True, kw_only=True):
    """What goes by this idempotency key was cancelled, sent or not; kept for ever (spec: X17).

    Args:
        key: Idempotency key, normalised.
        agent: Who cancelled it first.
        at_ms: When.
    """

    agent: str
    at_ms: int


class Bucket(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in one step of the circuit breaker's window (spec: O5)."""

    start_ms: int
    delivered: int = 0
    bounced: int = 0
    complained: int = 0


class TrafficRow(Row, frozen=True, kw_only=True):
    """Deliveries, bounces and complaints of the whole mailbox, oldest first (spec: O5)."""

    buckets: tuple[Bucket, ...] = ()


class HaltRow(Row, frozen=True, kw_only=True):
    """Sending is halted until a person resumes it (spec: O5)."""

    reason: str
    at_ms: int


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """One send on an agent's budget, by its idempotency key."""

    send: str
    at_ms: int


class BudgetRow(Row, frozen=True, kw_only=True):
    """What one agent did of late, and how much more a person approved (spec: O5).

    Args:
        key: Agent id.
        spent: Its sends inside the window, oldest first.
        approved: Sends beyond the budget that a person approved and that were not made yet.
    """

    spent: tuple[Spent, ...] = ()
    approved: int = 0


class SentRow(Row, frozen=True, kw_only=True):
    """What an application sent; kept for ever, in a store of its own (spec: O1, O3).

    Args:
        key: Name of the logical send.
        message_id: What the mailbox answered.
        at_ms: When it was written down.
    """

    message_id: str
    at_ms: int


class StepRow(Row, frozen=True, kw_only=True):
    """A finished step of a run, with its result, in the application's store (spec: O1, O2).

    Args:
        key: Run id and step, escaped.
        step: Name of the step.
        about: What it worked on.
        result: As JSON.
        number: Place in the order in which the run's steps finished.
        at_ms: When it finished.
    """

    step: str
    about: str
    result: str
    number: int
    at_ms: int


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One decision for the audit log; the store numbers it (spec: R3). Fields as in `AuditRecord`."""

    at_ms: int
    actor: str
    event: str
    key: str
    decision: str
    state: Mapping[str, Any]
    token: int | None = None
    owner: str | None = None
    reasons: tuple[str, ...] = ()
    message_id: str | None = None
    idempotency_key: str | None = None

    def numbered(self, seq: int) -> AuditRecord:
        """The decision in its place of the log."""
        return AuditRecord(seq=seq, **msgspec.structs.asdict(self))


TABLES: tuple[type[Row], ...] = (
    FenceRow,
    LeaseRow,
    SendRow,
    TimelineRow,
    SuppressionRow,
    OverrideRow,
    ConflictRow,
    InboundRow,
    OptOutRow,
    CancelRow,
    TrafficRow,
    HaltRow,
    BudgetRow,
    SentRow,
    StepRow,
)
"""Every table a store must have."""
