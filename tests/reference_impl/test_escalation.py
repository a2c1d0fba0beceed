"""Conflicts are information; the same one over and over is a person's business."""

from __future__ import annotations

from leaserace.harness.contract import Code, Refused
from tests.reference_impl.desk import JANE, Desk


def refusals(desk: Desk, count: int, agent: str = "support-01") -> list[Code | None]:
    answers = [desk.mailbox(agent).acquire(JANE) for _ in range(count)]
    return [answer.code if isinstance(answer, Refused) else None for answer in answers]


def test_the_third_refusal_by_the_same_lease_asks_for_a_person(desk: Desk) -> None:
    """spec: R1, R2"""
    desk.lease("sales-01")
    assert refusals(desk, 4) == [
        Code.CONTACT_OWNED,
        Code.CONTACT_OWNED,
        Code.APPROVAL_REQUIRED,
        Code.APPROVAL_REQUIRED,
    ]
    last = desk.mailbox("support-01").acquire(JANE)
    assert isinstance(last, Refused)
    assert last.owner == "sales-01"
    assert last.reasons == (Code.APPROVAL_REQUIRED, Code.CONTACT_OWNED)


def test_each_agent_is_counted_apart(desk: Desk) -> None:
    """spec: R2"""
    desk.lease("sales-01")
    assert refusals(desk, 2, "support-01") == refusals(desk, 2, "digest-01")


def test_a_newer_lease_is_another_conflict(desk: Desk) -> None:
    """spec: R2"""
    lease = desk.lease("sales-01")
    refusals(desk, 2)
    desk.mailbox("sales-01").release(JANE, lease.token)
    desk.lease("digest-01")
    assert refusals(desk, 2) == [Code.CONTACT_OWNED, Code.CONTACT_OWNED]


def test_a_grant_ends_the_conflict(desk: Desk) -> None:
    """An escalated contact is still granted once it is free. spec: R2"""
    lease = desk.lease("sales-01")
    refusals(desk, 3)
    desk.mailbox("sales-01").release(JANE, lease.token)
    assert desk.lease("support-01").owner == "support-01"
