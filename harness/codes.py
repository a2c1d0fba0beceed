"""Why a mailbox refuses, and what an agent does next (spec: R)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeMeaning:
    """What a refusal code means (spec: R).

    Args:
        http_status: The status a REST server answers with.
        when: When it is given, in a few words.
        next_action: What a well-behaved agent does next (spec: A1).
        definite: True if the operation did not happen and never will; False if it may have.
    """

    http_status: int
    when: str
    next_action: str
    definite: bool = True


class Code(StrEnum):
    """Why an operation was refused; `MEANINGS` says what each asks of the agent (spec: R)."""

    CONTACT_OWNED = "contact_owned"
    COOLDOWN_ACTIVE = "cooldown_active"
    LEASE_EXPIRED = "lease_expired"
    STALE_FENCING_TOKEN = "stale_fencing_token"  # noqa: S105 - a code, no password
    SUPPRESSED = "suppressed"
    SEND_STATUS_UNKNOWN = "send_status_unknown"
    STORE_BUSY = "store_busy"
    NOT_HOLDER = "not_holder"
    SEND_IN_PROGRESS = "send_in_progress"
    KEY_REUSED = "key_reused"
    KEY_INVALID = "key_invalid"
    KEY_MISSING = "key_missing"
    INVALID_ADDRESS = "invalid_address"
    INVALID_MESSAGE = "invalid_message"
    APPROVAL_REQUIRED = "approval_required"
    SENDING_HALTED = "sending_halted"
    NOT_AUTHORISED = "not_authorised"
    SEND_CANCELLED = "send_cancelled"

    @property
    def meaning(self) -> CodeMeaning:
        """The row of the table of spec R for this code."""
        return MEANINGS[self]


MEANINGS: Mapping[Code, CodeMeaning] = {
    Code.CONTACT_OWNED: CodeMeaning(
        http_status=409,
        when="another lease on this contact is live",
        next_action="stop, log, and wait for the release or hand off",
    ),
    Code.COOLDOWN_ACTIVE: CodeMeaning(
        http_status=429,
        when="the contact was written to inside the cooldown",
        next_action="drop the message, or schedule it after `until`",
    ),
    Code.LEASE_EXPIRED: CodeMeaning(
        http_status=410,
        when="the lease ended before the send",
        next_action="acquire again, then run every check again",
    ),
    Code.STALE_FENCING_TOKEN: CodeMeaning(
        http_status=412,
        when="the token is below the stored one",
        next_action="discard the draft; never send with this token again",
    ),
    Code.SUPPRESSED: CodeMeaning(
        http_status=403,
        when="the contact is on the suppression list",
        next_action="stop; this binds every agent",
    ),
    Code.SEND_STATUS_UNKNOWN: CodeMeaning(
        http_status=502,
        when="the transport did not answer after the hand-over",
        next_action="look the key up; retry only if no message id exists",
        definite=False,
    ),
    Code.STORE_BUSY: CodeMeaning(
        http_status=503,
        when="the store's lock was not had within its deadline; nothing happened",
        next_action="wait `retry_after_s`, then ask again",
    ),
    Code.NOT_HOLDER: CodeMeaning(
        http_status=403,
        when="the caller does not hold this lease",
        next_action="stop; acquire before working on this contact",
    ),
    Code.SEND_IN_PROGRESS: CodeMeaning(
        http_status=409,
        when="a send under this key is still running",
        next_action="wait, then look the key up",
    ),
    Code.KEY_REUSED: CodeMeaning(
        http_status=422,
        when="the key was used for another payload",
        next_action="make a new key for the new message",
    ),
    Code.KEY_INVALID: CodeMeaning(
        http_status=400,
        when="the key's format is not allowed",
        next_action="make the key in code, by one of the two recipes",
    ),
    Code.KEY_MISSING: CodeMeaning(
        http_status=400,
        when="the send carries no idempotency key",
        next_action="make a key before the first try and keep it for every retry",
    ),
    Code.INVALID_ADDRESS: CodeMeaning(
        http_status=422,
        when="the recipient is no address",
        next_action="correct the part of the address that `detail` names",
    ),
    Code.INVALID_MESSAGE: CodeMeaning(
        http_status=422,
        when="the message can't be sent as it is",
        next_action="correct what `detail` names, then send under a new key",
    ),
    Code.APPROVAL_REQUIRED: CodeMeaning(
        http_status=403,
        when="a person has to decide, or the conflict was repeated too often",
        next_action="hand the thread over to a person",
    ),
    Code.SENDING_HALTED: CodeMeaning(
        http_status=503,
        when="sending is halted by the circuit breaker",
        next_action="stop sending until a person resumes it",
    ),
    Code.NOT_AUTHORISED: CodeMeaning(
        http_status=403,
        when="the credential's scope does not cover this",
        next_action="ask a person with the scope to do it",
    ),
    Code.SEND_CANCELLED: CodeMeaning(
        http_status=410,
        when="the send under this key was cancelled",
        next_action="drop the message; a new decision to send makes a new key",
    ),
}
