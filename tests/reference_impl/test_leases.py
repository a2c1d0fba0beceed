"""The lease: one holder at a time, by the store's clock."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from leaserace.harness import points
from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import Cleaned, Code, Lease, Refused, Released
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.parts import Parts
from leaserace.reference_impl.policy import Situation
from tests.reference_impl.desk import JANE, Desk
from tests.reference_impl.watch import Crash, Watch, crash, in_thread


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def test_a_grant_holds_owner_token_and_times_of_the_store(desk: Desk) -> None:
    """spec: L2, L3, L9"""
    now = desk.clock.now_ms()
    lease = desk.mailbox().acquire("Jane.Doe@ACME.com")
    assert lease == Lease(
        key=JANE,
        owner="sales-01",
        token=1,
        acquired_at_ms=now,
        expires_at_ms=now + 60_000,
        granted_at_ms=now,
        cooldown_until_ms=None,
        contact_load=0,
    )


@pytest.mark.parametrize("agent", ["support-01", "sales-01"])
def test_a_live_lease_is_in_everybodys_way(desk: Desk, agent: str) -> None:
    """Its own owner's too: two processes may share an id. spec: L1, L3"""
    lease = desk.lease("sales-01")
    desk.clock.set_ms(lease.expires_at_ms - 1)
    refused = desk.mailbox(agent).acquire(JANE)
    assert isinstance(refused, Refused)
    assert refused.code is Code.CONTACT_OWNED
    assert (refused.owner, refused.expires_at_ms) == ("sales-01", lease.expires_at_ms)
    assert "sales-01" in refused.detail


def test_a_lease_is_free_at_its_very_end(desk: Desk) -> None:
    """spec: L3"""
    lease = desk.lease("sales-01")
    desk.clock.set_ms(lease.expires_at_ms)
    assert desk.lease("support-01").token == lease.token + 1


def test_tokens_rise_over_release_expiry_and_clean_up(desk: Desk) -> None:
    """spec: L4, X11"""
    tokens = []
    for _ in range(3):
        lease = desk.lease()
        tokens.append(lease.token)
        assert desk.mailbox().release(JANE, lease.token) == Released(key=JANE, token=lease.token)
        tokens.append(desk.lease().token)
        desk.clock.advance_ms(30 * 86_400_000)
        assert isinstance(desk.mailbox().clean_up(), Cleaned)
    assert tokens == [1, 2, 3, 4, 5, 6]


def test_each_contact_has_tokens_of_its_own(desk: Desk) -> None:
    """spec: L4"""
    assert desk.lease().token == desk.lease(address="bob@acme.com").token == 1


def test_a_renewal_extends_from_the_stores_now(desk: Desk) -> None:
    """spec: L6, X3"""
    lease = desk.lease()
    desk.clock.advance_ms(50_000)
    renewed = desk.mailbox().renew(JANE, lease.token)
    assert isinstance(renewed, Lease)
    assert renewed.expires_at_ms == desk.clock.now_ms() + 60_000
    assert renewed.granted_at_ms == desk.clock.now_ms()
    assert (renewed.owner, renewed.token) == (lease.owner, lease.token)
    assert renewed.acquired_at_ms == lease.acquired_at_ms


def test_a_lease_that_is_over_is_not_revived(desk: Desk) -> None:
    """Not even if nobody else came. spec: L6, X3"""
    lease = desk.lease()
    desk.clock.set_ms(lease.expires_at_ms)
    refused = desk.mailbox().renew(JANE, lease.token)
    assert isinstance(refused, Refused)
    assert refused.code is Code.LEASE_EXPIRED
    assert refused.expires_at_ms == lease.expires_at_ms


def test_a_former_holder_is_told_of_the_newer_token(desk: Desk) -> None:
    """spec: L6, L7, X2"""
    lease = desk.lease()
    desk.clock.set_ms(lease.expires_at_ms)
    newer = desk.lease("support-01")
    for answer in (
        desk.mailbox().renew(JANE, lease.token),
        desk.mailbox().release(JANE, lease.token),
    ):
        assert isinstance(answer, Refused)
        assert answer.code is Code.STALE_FENCING_TOKEN
        assert (answer.token, answer.owner) == (newer.token, "support-01")
    assert code_of(desk.mailbox().acquire(JANE)) is Code.CONTACT_OWNED


def test_only_its_owner_uses_a_lease_whoever_knows_the_token(desk: Desk) -> None:
    """spec: L7, O7, X2"""
    lease = desk.lease("sales-01")
    other = desk.mailbox("support-01")
    assert code_of(other.renew(JANE, lease.token)) is Code.NOT_HOLDER
    assert code_of(other.release(JANE, lease.token)) is Code.NOT_HOLDER
    assert code_of(desk.mailbox().renew(JANE, lease.token + 1)) is Code.NOT_HOLDER
    assert isinstance(desk.mailbox().renew(JANE, lease.token), Lease)


def test_what_was_never_claimed_or_is_released_is_nobodys(desk: Desk) -> None:
    """spec: L7"""
    assert code_of(desk.mailbox().release(JANE, 1)) is Code.NOT_HOLDER
    lease = desk.lease()
    desk.mailbox().release(JANE, lease.token)
    again = desk.mailbox().release(JANE, lease.token)
    assert code_of(again) is Code.NOT_HOLDER
    assert isinstance(again, Refused)
    assert "nobody" in again.detail


def test_releasing_a_lease_that_is_over_says_so(desk: Desk) -> None:
    """spec: L7"""
    lease = desk.lease()
    desk.clock.set_ms(lease.expires_at_ms)
    assert code_of(desk.mailbox().release(JANE, lease.token)) is Code.LEASE_EXPIRED


@pytest.mark.parametrize(
    ("situation", "length_ms"),
    [(Situation.DRAFTING, 60_000), (Situation.SEQUENCE_STEP, 300_000), (Situation.REPLY, 20_000)],
)
def test_the_situation_decides_the_length_of_grant_and_renewal(
    desk: Desk, situation: Situation, length_ms: int
) -> None:
    """spec: L10"""
    desk.policy = replace(desk.policy, reply_s=20.0)
    lease = desk.mailbox().acquire(JANE, situation)
    assert isinstance(lease, Lease)
    assert lease.expires_at_ms - lease.acquired_at_ms == length_ms
    desk.clock.advance_ms(1000)
    renewed = desk.mailbox().renew(JANE, lease.token)
    assert isinstance(renewed, Lease)
    assert renewed.expires_at_ms - desk.clock.now_ms() == length_ms


@pytest.mark.parametrize("offset_ms", [-3_600_000, 3_600_000])
def test_an_agents_clock_decides_nothing(desk: Desk, offset_ms: int) -> None:
    """spec: L5"""
    mailbox = ReferenceMailbox(
        agent="sales-01",
        policy=desk.policy,
        store=desk.store,
        transport=desk.transport,
        parts=Parts(),
        agent_clock=ManualClock(desk.clock.now_ms() + offset_ms),
    )
    lease = mailbox.acquire(JANE)
    assert isinstance(lease, Lease)
    assert lease.expires_at_ms == desk.clock.now_ms() + 60_000
    assert isinstance(mailbox.renew(JANE, lease.token), Lease)


def test_a_grant_that_comes_late_can_be_told_by_its_times(desk: Desk) -> None:
    """The answer carries what the agent needs to see that it is worth nothing. spec: L8, X19"""
    lease = desk.lease()
    desk.clock.set_ms(lease.expires_at_ms)
    assert lease.granted_at_ms is not None
    assert lease.expires_at_ms - lease.granted_at_ms == 60_000
    assert code_of(desk.mailbox().send(desk.message(lease))) is Code.LEASE_EXPIRED


def test_a_crash_before_the_commit_grants_nothing(desk: Desk) -> None:
    """spec: L3, X9"""
    points.listen(Watch("acquire.granted", crash))
    with pytest.raises(Crash):
        desk.mailbox().acquire(JANE)
    points.listen(None)
    assert desk.lease("support-01").token == 1


def test_a_crash_after_the_commit_leaves_a_lease_that_ends_by_itself(desk: Desk) -> None:
    """spec: L1, X9"""
    points.listen(Watch("acquire.committed", crash))
    with pytest.raises(Crash):
        desk.mailbox().acquire(JANE)
    points.listen(None)
    assert code_of(desk.mailbox("support-01").acquire(JANE)) is Code.CONTACT_OWNED
    desk.clock.advance_ms(60_000)
    assert desk.lease("support-01").token == 2


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (True, ["read", "granted", "committed"]),
        (False, ["read"]),
    ],
)
def test_a_claim_passes_its_points(desk: Desk, wanted: bool, names: list[str]) -> None:
    if not wanted:
        desk.lease("support-01")
    watch = Watch()
    points.listen(watch)
    desk.mailbox().acquire(JANE)
    assert watch.passed == [f"acquire.{name}" for name in names]
    assert set(watch.touches) == {(JANE,)}


@pytest.mark.parametrize("f", ["renew", "release"])
@pytest.mark.parametrize(
    ("wanted", "names"), [(True, ["read", "written", "committed"]), (False, ["read"])]
)
def test_renewal_and_release_pass_their_points(
    desk: Desk, f: str, wanted: bool, names: list[str]
) -> None:
    lease = desk.lease("sales-01" if wanted else "support-01")
    watch = Watch()
    points.listen(watch)
    getattr(desk.mailbox(), f)(JANE, lease.token)
    assert watch.passed == [f"{f}.{name}" for name in names]


def test_an_agent_paused_in_a_transaction_makes_the_others_see_a_busy_store(desk: Desk) -> None:
    """spec: R"""
    others: list[object] = []
    claim = partial(desk.mailbox("support-01").acquire, JANE)
    points.listen(Watch("acquire.read", lambda: others.append(in_thread(claim))))
    desk.lease("sales-01")
    (refused,) = others
    assert isinstance(refused, Refused)
    assert refused.code is Code.STORE_BUSY
    assert refused.retry_after_s == desk.policy.store_deadline_s
