"""What is known of one lease while other calls on its contact stand open, so that nothing is final."""

from __future__ import annotations

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.leases import LiveAtSend, OneLive, RenewalHolds
from leaserace.harness.rules.refusals import Explained
from leaserace.harness.rules.sends import Arrived
from tests.support.ops import DIGEST, SALES, SUPPORT, Tape


def _tape() -> Tape:
    """A tape with a call that never ends: nothing is folded, nothing is forgotten."""
    tape = Tape()
    tape.invoke(DIGEST, "lookup", key="other")
    tape.granted(SALES, 41)
    tape.at(800).renewed(SALES, 41)
    return tape


def test_a_renewal_moves_the_end_for_the_next_grant() -> None:
    """spec: L3, L6."""
    tape = _tape()
    tape.at(1200).granted(SUPPORT, 42)
    assert tape.findings(OneLive)


def test_a_renewal_without_store_time_moves_the_end_by_intervals() -> None:
    """spec: L3, S10."""
    tape = _tape()
    tape.at(1500).renewed(SALES, 41, granted_at_ms=None)
    late = tape.at(1600).invoke(SALES, "renew", token=41)
    tape.at(2000).granted(SUPPORT, 42)
    tape.lease(late, 41, granted_at_ms=None)
    assert tape.findings(OneLive)


def test_a_renewal_makes_the_holder_certain_for_longer() -> None:
    """spec: L6, R."""
    tape = _tape()
    tape.at(1500).refused(SALES, "send", "lease_expired")
    assert tape.findings(Explained)


def test_a_renewal_under_way_makes_nobody_certain() -> None:
    """spec: S10."""
    tape = _tape()
    tape.at(1700).invoke(SALES, "renew", token=41)
    tape.at(1900).refused(SALES, "send", "lease_expired")
    assert not tape.findings(Explained)


def test_a_renewal_extends_what_a_later_renewal_needs() -> None:
    """spec: L6, S10."""
    legal, illegal = _tape(), _tape()
    legal.at(1700).renewed(SALES, 41, granted_at_ms=None)
    illegal.at(1900).renewed(SALES, 41, granted_at_ms=None)
    assert not legal.findings(RenewalHolds)
    assert illegal.findings(RenewalHolds)


def test_a_renewal_after_the_end_by_store_times_counts_the_renewals_before() -> None:
    """spec: L6."""
    tape = _tape()
    at_ms = tape.now_ms
    op = tape.at(1700).invoke(SALES, "renew", token=41)
    tape.lease(op, 41, at_ms=at_ms + 1000)
    assert tape.findings(RenewalHolds)


def test_a_renewal_that_began_after_the_send_extends_nothing_for_it() -> None:
    """spec: S10, S3."""
    tape = _tape()
    op = tape.at(1900).sent(SALES)
    tape.renewed(SALES, 41)
    assert op in {each.ops[-1] for each in tape.findings(LiveAtSend)}


def test_leases_without_fencing_are_told_apart_by_the_order_of_their_calls() -> None:
    """spec: L3: a target may number all its leases 1."""
    tape = Tape(capabilities={Capability.LEASE})
    tape.invoke(DIGEST, "lookup", key="other")
    tape.granted(SALES, 1)
    tape.at(1100).granted(SUPPORT, 1)
    tape.refused(SALES, "renew", "not_holder", token=1)
    assert not tape.findings()


@pytest.mark.parametrize("expires_at_ms", [None, 5])
def test_an_end_that_makes_no_sense_leaves_the_length_that_was_asked_for(
    expires_at_ms: int | None,
) -> None:
    """spec: L3."""
    tape = Tape()
    tape.granted(SALES, 41, expires_at_ms=expires_at_ms)
    tape.at(500).refused(SUPPORT, "acquire", "contact_owned")
    assert not tape.findings(Explained)
    tape.at(1100).refused(SUPPORT, "acquire", "contact_owned")
    assert tape.findings(Explained)


def test_a_lift_stays_known_while_an_older_call_is_open() -> None:
    """spec: C1, S10."""
    tape = Tape()
    tape.invoke(DIGEST, "lookup", key="other")
    tape.noted(SUPPORT, "suppress")
    tape.noted(SUPPORT, "unsuppress")
    tape.noted(SUPPORT, "suppress")
    tape.refused(SALES, "send", "suppressed")
    assert not tape.findings(Explained, Arrived)


def test_a_stale_release_is_a_finding_while_the_old_lease_is_still_known() -> None:
    """spec: L7."""
    tape = _tape()
    tape.at(1900).granted(SUPPORT, 42)
    tape.released(SALES, 41)
    assert "leases.release_by_holder" in tape.broken()


def test_a_renewal_of_unknown_outcome_moves_no_end_for_certain() -> None:
    """spec: S10, L3."""
    tape = _tape()
    tape.info(tape.at(1700).invoke(SALES, "renew", token=41))
    tape.at(1900).granted(SUPPORT, 42)
    assert not tape.findings(OneLive)


def test_an_acquire_that_began_after_the_refusal_explains_nothing() -> None:
    """spec: S10: although the refusal is judged later."""
    tape = Tape()
    tape.invoke(DIGEST, "lookup", key="other")
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.info(tape.invoke(SALES, "acquire"))
    assert tape.findings(Explained)


def test_suppressions_of_unknown_outcome_are_all_kept() -> None:
    """spec: C1, S10."""
    tape = Tape()
    tape.info(tape.invoke(SUPPORT, "suppress"))
    tape.info(tape.invoke(DIGEST, "suppress"))
    tape.refused(SALES, "send", "suppressed")
    assert not tape.findings(Explained)
