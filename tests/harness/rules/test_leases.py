"""Rules over leases: one at a time, extended and freed by their holder only."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.base import Rule
from leaserace.harness.rules.leases import LiveAtSend, OneLive, ReleaseByHolder, RenewalHolds
from tests.support.ops import DIGEST, SALES, SUPPORT, Tape

ALL_RULES = [OneLive, RenewalHolds, ReleaseByHolder, LiveAtSend]


@pytest.mark.parametrize("rule", ALL_RULES)
def test_an_empty_history_has_no_finding_and_exercises_nothing(rule: type[Rule]) -> None:
    judgement = Tape().judge(rule)
    assert not judgement.findings
    assert judgement.exercised == {rule.name: 0}


# -- leases.one_live ------------------------------------------------------------------------------


def test_a_grant_at_the_very_end_of_the_lease_before_it_is_legal() -> None:
    """spec: L3 (``expires_at == now`` frees the lease)."""
    tape = Tape()
    tape.granted(SALES, 41, at_ms=tape.now_ms)
    end_ms = tape.now_ms - 1 + 1000 - 1
    tape.at(1100)
    tape.granted(SUPPORT, 42, at_ms=end_ms)
    judgement = tape.judge(OneLive)
    assert not judgement.findings
    assert judgement.exercised["leases.one_live"] == 1


def test_a_grant_one_millisecond_before_the_end_is_a_finding() -> None:
    """spec: L3, L9."""
    tape = Tape()
    first = tape.granted(SALES, 41)
    at_ms = tape.now_ms - 1
    tape.at(1100)
    second = tape.granted(SUPPORT, 42, at_ms=at_ms + 998)
    (finding,) = tape.findings(OneLive)
    assert finding.ops == (first, second)
    assert finding.agents == (SALES, SUPPORT)
    assert "while the lease of sales-01 (token 41) lived" in finding.message


def test_a_release_by_the_holder_frees_the_lease() -> None:
    """spec: L7."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.released(SALES, 41)
    tape.granted(SUPPORT, 42)
    assert not tape.findings()


def test_a_release_of_unknown_outcome_may_have_freed_the_lease() -> None:
    """spec: S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.info(tape.invoke(SALES, "release", token=41))
    tape.granted(SUPPORT, 42)
    assert not tape.findings()


def test_a_release_that_was_under_way_may_have_freed_the_lease() -> None:
    """spec: S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    release = tape.invoke(SALES, "release", token=41)
    tape.granted(SUPPORT, 42)
    tape.ok(release, answer="Released", key="jane@example.com", token=41)
    assert not tape.findings()


def test_a_release_that_began_after_the_grant_explains_nothing() -> None:
    """spec: L3, S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.granted(SUPPORT, 42)
    tape.released(SALES, 41)
    assert [each.rule for each in tape.findings(OneLive)] == ["leases.one_live"]


def test_a_refused_foreign_release_that_freed_the_lease_shows_at_the_next_grant() -> None:
    """spec: L7, X2."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.refused(SUPPORT, "release", "not_holder", token=41)
    tape.granted(SUPPORT, 42)
    assert tape.broken() == {"leases.one_live"}


def test_a_foreign_release_of_unknown_outcome_excuses_no_grant() -> None:
    """spec: L7: it can't have freed a lease it does not hold."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.info(tape.invoke(SUPPORT, "release", token=41))
    tape.granted(DIGEST, 42)
    assert tape.findings(OneLive)


def test_overlapping_acquires_that_both_win_are_found_by_the_stores_times() -> None:
    """spec: L3, S10, T race 1."""
    tape = Tape()
    first = tape.invoke(SALES, "acquire")
    second = tape.invoke(SUPPORT, "acquire")
    tape.lease(first, 41)
    tape.lease(second, 42)
    assert len(tape.findings(OneLive)) == 1


def test_overlapping_grants_are_ordered_by_their_tokens_where_times_are_equal() -> None:
    """spec: L3, L4."""
    tape = Tape()
    first = tape.invoke(SALES, "acquire")
    second = tape.invoke(SUPPORT, "acquire")
    at_ms = tape.now_ms
    tape.lease(first, 42, at_ms=at_ms)
    tape.lease(second, 41, at_ms=at_ms)
    (finding,) = tape.findings(OneLive)
    assert finding.agents == (SUPPORT, SALES)


def test_overlapping_grants_are_ordered_by_the_stores_times() -> None:
    """spec: L3, L5: the first lease had ended before the second was granted."""
    tape = Tape()
    slow = tape.invoke(SALES, "acquire")
    at_ms = tape.now_ms
    tape.at(1500)
    second = tape.invoke(SUPPORT, "acquire")
    tape.lease(second, 42)
    tape.lease(slow, 41, at_ms=at_ms)
    assert not tape.findings(OneLive)


def test_a_grant_to_a_skewed_clock_is_found_by_intervals() -> None:
    """spec: L5: by its own times the second lease comes an hour later."""
    tape = Tape()
    tape.granted(SALES, 41)
    hour_later: dict[str, Any] = {"acquired_at_ms": tape.now_ms + 3_600_000, "granted_at_ms": None}
    tape.granted(SUPPORT, 42, expires_at_ms=tape.now_ms + 3_601_000, **hour_later)
    assert {"leases.one_live", "clock.store_decides"} <= tape.broken()


def test_a_renewal_moves_the_end() -> None:
    """spec: L6, L3."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(800).renewed(SALES, 41)
    tape.at(1200).granted(SUPPORT, 42)
    assert [each.rule for each in tape.findings(OneLive)] == ["leases.one_live"]


def test_a_renewal_without_store_time_counts_if_it_was_answered_before() -> None:
    """spec: L6, S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(800).renewed(SALES, 41, granted_at_ms=None)
    late = tape.at(900).invoke(SALES, "renew", token=41)
    tape.at(1200).granted(SUPPORT, 42)
    tape.lease(late, 41, granted_at_ms=None)
    assert tape.findings(OneLive)


def test_after_a_jump_of_the_stores_clock_lengths_say_nothing() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.fault("store_clock")
    tape.granted(SUPPORT, 42)
    assert not tape.findings()


def test_three_grants_in_a_row_are_each_compared_with_the_last() -> None:
    """spec: L3: what is over is forgotten."""
    tape = Tape()
    for number, agent in enumerate((SALES, SUPPORT, DIGEST)):
        tape.at(number * 1100 + 1).granted(agent, 41 + number)
    tape.granted(SALES, 44)
    assert [each.agents for each in tape.findings(OneLive)] == [(DIGEST, SALES)]


# -- leases.renewal_holds -------------------------------------------------------------------------


def test_a_holder_renews_its_live_lease() -> None:
    """spec: L6."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(500).renewed(SALES, 41)
    tape.at(1400).renewed(SALES, 41)
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["leases.renewal_holds"] == 2


def test_a_renewal_at_the_very_end_revives_a_dead_lease() -> None:
    """spec: L6, X3."""
    tape = Tape()
    first = tape.granted(SALES, 41)
    end_ms = tape.now_ms - 1 + 1000
    op = tape.invoke(SALES, "renew", token=41)
    tape.lease(op, 41, at_ms=end_ms)
    (finding,) = tape.findings(RenewalHolds)
    assert finding.ops == (first, op)
    assert "had ended 0 ms before" in finding.message


def test_a_renewal_long_after_the_end_is_found_without_store_times() -> None:
    """spec: L6, S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(1100).renewed(SALES, 41, granted_at_ms=None)
    (finding,) = tape.findings(RenewalHolds)
    assert "that lease had ended" in finding.message


def test_a_renewal_of_unknown_outcome_may_have_kept_the_lease_alive() -> None:
    """spec: S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(800)
    tape.info(tape.invoke(SALES, "renew", token=41))
    tape.at(1500).renewed(SALES, 41)
    assert not tape.findings(RenewalHolds)


def test_a_renewal_whose_reply_was_lost_extends_by_one_length_only() -> None:
    """spec: L6, S10: the answer had been made before it was lost."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(800)
    tape.info(tape.invoke(SALES, "renew", token=41), "reply_lost")
    assert not tape.findings()
    tape.at(1700).sent(SALES)
    assert not tape.findings(LiveAtSend)
    tape.at(1900).sent(SALES, intent="i2")
    assert tape.findings(LiveAtSend)


def test_a_foreign_renewal_is_a_finding() -> None:
    """spec: L6."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.renewed(SUPPORT, 41, owner=SALES)
    (finding,) = tape.findings(RenewalHolds)
    assert "sales-01 holds that lease" in finding.message


def test_a_renewal_under_a_token_nobody_was_given_is_a_finding() -> None:
    """spec: L6."""
    tape = Tape()
    op = tape.renewed(SALES, 41)
    (finding,) = tape.findings(RenewalHolds)
    assert finding.ops == (op,)
    assert "no grant gave it that token" in finding.message


def test_a_renewal_after_a_grant_of_unknown_outcome_is_legal() -> None:
    """spec: S10: the agent may know its token from elsewhere."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "acquire"))
    tape.renewed(SALES, 41)
    assert not tape.findings(RenewalHolds)


def test_a_renewal_after_a_newer_grant_is_a_finding() -> None:
    """spec: L6."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(1100).granted(SUPPORT, 42)
    tape.renewed(SALES, 41, owner=SALES, granted_at_ms=None, expires_at_ms=None)
    (finding,) = tape.findings(RenewalHolds)
    assert "support-01 had been granted token 42" in finding.message


def test_a_renewal_after_an_overlapping_grant_is_found_by_store_times() -> None:
    """spec: L5, L6."""
    tape = Tape(lease_s=0.01)
    tape.granted(SALES, 41, expires_at_ms=tape.now_ms + 100)
    acquire = tape.invoke(SUPPORT, "acquire")
    renew = tape.invoke(SALES, "renew", token=41)
    tape.lease(acquire, 42)
    tape.lease(renew, 41)
    (finding,) = tape.findings(RenewalHolds)
    assert "support-01 had been granted token 42" in finding.message


def test_a_renewal_after_the_holders_release_is_a_finding() -> None:
    """spec: L6, L7."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.released(SALES, 41)
    tape.renewed(SALES, 41)
    (finding,) = tape.findings(RenewalHolds)
    assert "it had released that lease" in finding.message


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"token": 42}, "the answer carries token 42"),
        ({"owner": SUPPORT}, "the owner changed from sales-01 to support-01"),
        ({"expires_at_ms": 1_800_000_002_000}, "not 1000"),
    ],
)
def test_a_renewal_that_changes_the_lease_is_a_finding(changed: dict[str, Any], said: str) -> None:
    """spec: L6, X3: owner and token stay, the end is one length from the store's now."""
    tape = Tape()
    tape.granted(SALES, 41)
    op = tape.invoke(SALES, "renew", token=41)
    tape.lease(op, **{"token": 41, **changed})
    (finding,) = tape.findings(RenewalHolds)
    assert said in finding.message


def test_virtual_time_allows_no_millisecond_at_a_renewals_end() -> None:
    """spec: L6: the simulator's clock is the store's own."""
    real, virtual = Tape(), Tape(clock="virtual")
    for tape in (real, virtual):
        tape.granted(SALES, 41)
        tape.renewed(SALES, 41, expires_at_ms=tape.now_ms + 1005)
    assert not real.findings(RenewalHolds)
    assert virtual.findings(RenewalHolds)


def test_after_a_jump_a_late_renewal_is_not_judged() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.fault("store_clock")
    tape.at(1500).renewed(SALES, 41)
    assert not tape.findings()


# -- leases.release_by_holder ---------------------------------------------------------------------


def test_the_holder_releases_and_releases_again() -> None:
    """spec: L7: a second release frees nothing while nobody else came."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.released(SALES, 41)
    tape.released(SALES, 41)
    judgement = tape.judge(ReleaseByHolder)
    assert not judgement.findings
    assert judgement.exercised["leases.release_by_holder"] == 2


def test_a_foreign_release_answered_as_done_is_a_finding() -> None:
    """spec: L7, X2."""
    tape = Tape()
    first = tape.granted(SALES, 41)
    op = tape.released(SUPPORT, 41)
    (finding,) = tape.findings(ReleaseByHolder)
    assert finding.ops == (first, op)


def test_a_stale_release_answered_as_done_is_a_finding() -> None:
    """spec: L7, X2."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(1100).granted(SUPPORT, 42)
    tape.released(SALES, 41)
    (finding,) = tape.findings(ReleaseByHolder)
    assert "support-01 had been granted token 42" in finding.message


def test_a_release_under_a_forgotten_token_is_a_finding_without_its_grant() -> None:
    """spec: L7."""
    tape = Tape()
    for number, agent in enumerate((SALES, SUPPORT, DIGEST)):
        tape.at(number * 1100 + 1).granted(agent, 41 + number)
    op = tape.released(SALES, 41)
    (finding,) = tape.findings(ReleaseByHolder)
    assert finding.ops == (op,)


def test_a_release_that_overlaps_the_newer_grant_is_legal() -> None:
    """spec: S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    release = tape.at(990).invoke(SALES, "release", token=41)
    tape.granted(SUPPORT, 42)
    tape.ok(release, answer="Released", key="jane@example.com", token=41)
    assert not tape.findings()


def test_without_fencing_the_order_of_grants_tells_who_is_newer() -> None:
    """spec: L7: a target may number all its leases 1."""
    tape = Tape(capabilities={Capability.LEASE})
    tape.granted(SALES, 1)
    tape.at(1100).granted(SUPPORT, 1)
    tape.released(SUPPORT, 1)
    assert not tape.findings()
    tape.released(SALES, 1)
    assert tape.findings(ReleaseByHolder)


# -- leases.live_at_send --------------------------------------------------------------------------


def test_a_send_under_a_live_lease_is_legal() -> None:
    """spec: S3."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.sent(SALES)
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["leases.live_at_send"] == 1


def test_a_send_after_the_end_is_a_finding() -> None:
    """spec: S3, L8."""
    tape = Tape()
    first = tape.granted(SALES, 41)
    op = tape.at(1100).sent(SALES)
    (finding,) = tape.findings(LiveAtSend)
    assert finding.ops == (first, op)


def test_a_send_that_was_invoked_before_the_end_is_legal() -> None:
    """spec: S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    op = tape.at(990).invoke(SALES, "send")
    tape.at(1500).delivery()
    tape.accept(op)
    assert not tape.findings()


def test_a_send_after_the_release_is_a_finding() -> None:
    """spec: S3, L7."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.released(SALES, 41)
    tape.sent(SALES)
    (finding,) = tape.findings(LiveAtSend)
    assert "it had released that lease" in finding.message


def test_a_send_under_another_agents_lease_is_a_finding() -> None:
    """spec: S3."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.sent(SUPPORT)
    (finding,) = tape.findings(LiveAtSend)
    assert "sales-01 holds that lease" in finding.message


def test_a_send_under_a_token_nobody_was_given_is_a_finding() -> None:
    """spec: S3."""
    tape = Tape()
    tape.sent(SALES)
    tape.granted(SALES, 41)
    (finding,) = tape.findings(LiveAtSend)
    assert "no grant gave it that token" in finding.message


def test_a_send_without_token_or_a_replay_is_not_judged() -> None:
    """spec: S2, S3."""
    tape = Tape()
    tape.sent(SALES, token=None)
    tape.replay(tape.invoke(SUPPORT, "send"))
    assert not tape.findings(LiveAtSend)


def test_a_send_that_an_earlier_try_may_have_begun_is_not_judged() -> None:
    """spec: S8, S10: the try may have been let through while the lease lived."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.info(tape.invoke(SALES, "send"))
    tape.at(1500).sent(SALES)
    assert not tape.findings(LiveAtSend)


def test_after_a_jump_the_end_of_a_lease_is_not_judged() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.fault("store_clock")
    tape.at(1500).sent(SALES)
    assert not tape.findings(LiveAtSend)
