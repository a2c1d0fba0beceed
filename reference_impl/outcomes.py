"""Refusals, each built in one place with what its code needs (spec: R), strongest first (spec: S7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from leaserace.harness.contract import Code, Refused

from .records import CancelRow, HaltRow, LeaseRow, SendRow, SuppressionRow

if TYPE_CHECKING:
    from .lint import Fault

STRENGTH = (
    Code.SUPPRESSED,
    Code.STALE_FENCING_TOKEN,
    Code.LEASE_EXPIRED,
    Code.NOT_HOLDER,
    Code.COOLDOWN_ACTIVE,
    Code.SENDING_HALTED,
    Code.APPROVAL_REQUIRED,
)
"""Which refusal of a send the answer carries when several hold (spec: S7)."""


FEW = 10
"""Faults told in words; the codes of all are there for machines."""


class Refusal(Exception):  # noqa: N818 - an answer on its way out, not a mistake
    """Carries a refusal out of a check that comes before any transaction."""

    def __init__(self, refused: Refused, contact: str = "") -> None:
        super().__init__(refused.detail)
        self.refused = refused
        self.contact = contact


def strongest(refusals: Sequence[Refused]) -> Refused:
    """The strongest of at least one refusal, carrying the codes of all (spec: S7)."""
    if len(refusals) == 1:
        return refusals[0]
    ordered = sorted(refusals, key=lambda refused: STRENGTH.index(refused.code))
    return replace(ordered[0], reasons=tuple(refused.code for refused in ordered))


def _refused(code: Code, detail: str, **data: object) -> Refused:
    return Refused(code=code, detail=detail, reasons=(code,), **data)  # type: ignore[arg-type]


def contact_owned(lease: LeaseRow) -> Refused:
    """Another live lease (spec: L3)."""
    return _refused(
        Code.CONTACT_OWNED,
        f"{lease.owner} holds {lease.key} until {lease.expires_at_ms}",
        owner=lease.owner,
        expires_at_ms=lease.expires_at_ms,
    )


def escalated(lease: LeaseRow, count: int) -> Refused:
    """The same lease refused the same agent too often (spec: R2)."""
    return Refused(
        code=Code.APPROVAL_REQUIRED,
        detail=f"{lease.key} was refused {count} times while {lease.owner} holds it",
        owner=lease.owner,
        expires_at_ms=lease.expires_at_ms,
        reasons=(Code.APPROVAL_REQUIRED, Code.CONTACT_OWNED),
    )


def stale_token(contact: str, token: int, stored: int, lease: LeaseRow | None) -> Refused:
    """The token is below the stored one (spec: S3)."""
    return _refused(
        Code.STALE_FENCING_TOKEN,
        f"token {token} of {contact} is stale: the last one issued is {stored}",
        token=stored,
        owner=lease.owner if lease else None,
        expires_at_ms=lease.expires_at_ms if lease else None,
    )


def lease_expired(lease: LeaseRow, now_ms: int) -> Refused:
    """The caller's lease is over (spec: S3, L6)."""
    return _refused(
        Code.LEASE_EXPIRED,
        f"the lease on {lease.key} ended {now_ms - lease.expires_at_ms} ms ago",
        expires_at_ms=lease.expires_at_ms,
        token=lease.token,
    )


def not_holder(contact: str, agent: str, lease: LeaseRow | None, stored: int) -> Refused:
    """The caller holds no lease on this contact (spec: S3, L6, L7)."""
    holder = f"{lease.owner} does" if lease else "nobody does"
    return _refused(
        Code.NOT_HOLDER,
        f"{agent} does not hold {contact}: {holder}",
        owner=lease.owner if lease else None,
        token=stored or None,
    )


def suppressed(entry: SuppressionRow) -> Refused:
    """The contact is on the list (spec: C1, S4)."""
    reasons = ", ".join(cause.reason for cause in entry.causes)
    return _refused(Code.SUPPRESSED, f"{entry.key} is on the suppression list: {reasons}")


def cooldown_active(contact: str, until_ms: int) -> Refused:
    """The contact was written to inside the cooldown (spec: S5)."""
    return _refused(
        Code.COOLDOWN_ACTIVE, f"{contact} is in cooldown until {until_ms}", until_ms=until_ms
    )


def sending_halted(halt: HaltRow) -> Refused:
    """The circuit breaker is open (spec: O5)."""
    return _refused(
        Code.SENDING_HALTED,
        f"sending is halted since {halt.at_ms} until a person resumes it: {halt.reason}",
    )


def budget_spent(agent: str, most: int, window_ms: int) -> Refused:
    """The agent did what it may do without a person (spec: O5)."""
    return _refused(
        Code.APPROVAL_REQUIRED,
        f"{agent} made the {most} sends it may make in {window_ms} ms: a person has to approve more",
    )


def send_cancelled(key: str, cancelled: CancelRow) -> Refused:
    """Somebody took it back, and it is never sent (spec: X17)."""
    return _refused(
        Code.SEND_CANCELLED, f"{cancelled.agent} cancelled {key!r} at {cancelled.at_ms}"
    )


def send_unknown(row: SendRow) -> Refused:
    """The message may have been handed over (spec: S8, K10)."""
    return _refused(
        Code.SEND_STATUS_UNKNOWN,
        f"whether {row.message_id} was taken is not known",
        message_id=row.message_id,
    )


def send_in_progress(row: SendRow, why: str = "a try under this key is under way") -> Refused:
    """The key's send is still running (spec: K4)."""
    return _refused(Code.SEND_IN_PROGRESS, f"{why}: look {row.key!r} up after {row.deadline_ms}")


def rejected(row: SendRow, why: str) -> Refused:
    """The receiving side refused for certain: nothing was taken.

    The code is `invalid_message`, the one refusal that is about the message itself; the key is free
    to be tried again once `detail` has been dealt with (spec: S9).
    """
    return _refused(
        Code.INVALID_MESSAGE, f"{row.message_id} was refused and nothing was taken: {why}"
    )


def key_reused(row: SendRow) -> Refused:
    """The key was used for another payload (spec: K4)."""
    return _refused(Code.KEY_REUSED, f"key {row.key!r} was used for another message")


def key_missing() -> Refused:
    """The send carries no key (spec: K4)."""
    return _refused(Code.KEY_MISSING, "the send carries no idempotency key")


def key_invalid(key: str, why: str) -> Refused:
    """The key's format is not allowed (spec: K3)."""
    return _refused(Code.KEY_INVALID, f"key {key[:40]!r}: {why}")


def invalid_address(why: str) -> Refused:
    """The recipient is no address (spec: I4)."""
    return _refused(Code.INVALID_ADDRESS, why)


def unfit(faults: Sequence[Fault]) -> Refused:
    """The message can't be sent as it is: every fault with its fix (spec: O6, I4)."""
    code = Code.INVALID_ADDRESS if faults[0].field == "to" else Code.INVALID_MESSAGE
    detail = "; ".join(f"{_named(each.field)}: {each.problem}: {each.fix}" for each in faults[:FEW])
    if len(faults) > FEW:
        detail += f"; and {len(faults) - FEW} more"
    return _refused(code, detail, faults=tuple(fault.code.value for fault in faults))


def _named(field: str) -> str:
    return field if field.isprintable() else repr(field)


def event_unusable(what: str, why: str) -> Refused:
    """What came in can't be used as it is (spec: O4)."""
    return _refused(Code.INVALID_MESSAGE, f"{what} can't be used: {why}")


def opt_out_unknown(token: str) -> Refused:
    """No message of ours carries this opt-out, or it was cleaned up after its time (spec: C6)."""
    return _refused(Code.INVALID_MESSAGE, f"no message of ours has the opt-out {token[:40]!r}")


def not_authorised(who: str, what: str) -> Refused:
    """Only a person may do this (spec: C1, C4)."""
    return _refused(Code.NOT_AUTHORISED, f"{who!r} may not {what}: a person has to")


def store_busy(deadline_s: float, what: str = "nothing happened") -> Refused:
    """The store's lock was not had in time."""
    return _refused(
        Code.STORE_BUSY,
        f"the store was busy for {deadline_s:g} s; {what}",
        retry_after_s=deadline_s,
    )
