"""The rule over refusals: every "no" has a cause that the history can name."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.rules.refusals import Explained
from tests.support.ops import DIGEST, SALES, SUPPORT, Tape


def _said(tape: Tape) -> str:
    (finding,) = tape.findings(Explained)
    return finding.message


def test_an_empty_history_has_no_finding_and_exercises_nothing() -> None:
    judgement = Tape().judge(Explained)
    assert not judgement.findings
    assert judgement.exercised == {Explained.name: 0}


@pytest.mark.parametrize(
    "code", ["store_busy", "invalid_address", "invalid_message", "approval_required"]
)
def test_some_refusals_are_always_possible(code: str) -> None:
    """spec: R."""
    tape = Tape()
    tape.refused(SALES, "acquire", code)
    tape.info(tape.invoke(SALES, "acquire"), "reply_lost")
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["refusals.explained"] == 0


# -- contact_owned --------------------------------------------------------------------------------


def test_a_live_lease_explains_contact_owned() -> None:
    """spec: L3: also to its own holder, who may be another process."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.refused(SALES, "acquire", "contact_owned")
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.exercised["refusals.explained"] == 2


def test_contact_owned_on_a_fresh_contact_is_a_finding() -> None:
    """spec: L3, R: a target that refuses everything must fail."""
    tape = Tape()
    op = tape.refused(SUPPORT, "acquire", "contact_owned")
    (finding,) = tape.findings()
    assert finding.ops == (op,)
    assert "no lease of it can have been live" in finding.message


def test_contact_owned_after_the_release_is_a_finding() -> None:
    """spec: L7."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.released(SALES, 41)
    tape.refused(SUPPORT, "acquire", "contact_owned")
    assert "no lease of it can have been live" in _said(tape)


def test_contact_owned_after_the_end_is_a_finding() -> None:
    """spec: L3."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(1100).refused(SUPPORT, "acquire", "contact_owned")
    assert "no lease of it can have been live" in _said(tape)


def test_contact_owned_while_a_release_was_under_way_is_legal() -> None:
    """spec: S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    release = tape.invoke(SALES, "release", token=41)
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.ok(release, answer="Released", key="jane@example.com", token=41)
    assert not tape.findings()


def test_a_renewal_under_way_may_have_kept_the_lease_alive() -> None:
    """spec: S10, L6."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.info(tape.at(900).invoke(SALES, "renew", token=41))
    tape.at(1500).refused(SUPPORT, "acquire", "contact_owned")
    assert not tape.findings()


def test_two_acquires_at_once_that_both_lose_are_a_finding() -> None:
    """spec: L3, S10: judged when both are known."""
    tape = Tape()
    first, second = tape.invoke(SALES, "acquire"), tape.invoke(SUPPORT, "acquire")
    tape.fail(first, "contact_owned")
    tape.fail(second, "contact_owned")
    assert len(tape.findings(Explained)) == 2


def test_an_acquire_of_unknown_outcome_may_hold_the_contact() -> None:
    """spec: S10."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "acquire"))
    tape.at(5000).refused(SUPPORT, "acquire", "contact_owned", owner="who knows")
    assert not tape.findings()


def test_an_acquire_whose_reply_was_lost_holds_it_for_one_length_at_most() -> None:
    """spec: S10, L3."""
    legal, illegal = Tape(), Tape()
    for tape, ms in ((legal, 500), (illegal, 1100)):
        tape.info(tape.invoke(SALES, "acquire"), "reply_lost")
        tape.at(ms).refused(SUPPORT, "acquire", "contact_owned")
    assert not legal.findings()
    assert illegal.findings()


def test_an_acquire_that_began_after_the_refusal_explains_nothing() -> None:
    """spec: S10."""
    tape = Tape()
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.info(tape.invoke(SALES, "acquire"))
    tape.granted(DIGEST, 41)
    assert tape.findings(Explained)


def test_a_crashed_agents_acquire_may_hold_the_contact() -> None:
    """spec: S10: and its call keeps no judgement waiting."""
    tape = Tape()
    tape.invoke(SALES, "acquire")
    tape.fault("crash", SALES)
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.released(DIGEST, 40)
    judgement = tape.judge(Explained)
    assert not judgement.findings


def test_the_named_owner_must_be_a_possible_one() -> None:
    """spec: L3: the conflict names the owner."""
    tape = Tape()
    tape.granted(SALES, 41)
    op = tape.invoke(SUPPORT, "acquire")
    tape.fail(op, "contact_owned", owner=SALES)
    assert not tape.findings()
    op = tape.invoke(SUPPORT, "acquire")
    tape.fail(op, "contact_owned", owner=DIGEST)
    assert "it can only be sales-01" in _said(tape)


def test_a_lease_that_was_replaced_explains_nothing() -> None:
    """spec: L3."""
    tape = Tape()
    tape.granted(SALES, 41)
    waiting = tape.invoke(DIGEST, "suppress")
    tape.granted(SUPPORT, 42)
    tape.released(SUPPORT, 42)
    tape.refused(DIGEST, "acquire", "contact_owned")
    tape.ok(waiting, answer="Noted", at_ms=tape.now_ms)
    assert "no lease of it can have been live" in _said(tape)


# -- suppressed -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["ok", "unknown", "under way"])
def test_a_suppression_that_may_be_in_force_explains_suppressed(how: str) -> None:
    """spec: C1, S10."""
    tape = Tape()
    op = tape.invoke(SUPPORT, "suppress")
    if how == "ok":
        tape.ok(op, answer="Noted", at_ms=tape.now_ms)
    elif how == "unknown":
        tape.info(op)
    tape.refused(SALES, "send", "suppressed")
    assert not tape.findings()


def test_suppressed_without_a_suppression_is_a_finding() -> None:
    """spec: C1."""
    tape = Tape()
    tape.refused(SALES, "send", "suppressed")
    tape.noted(SUPPORT, "suppress")
    assert "no suppression of it can have been in force" in _said(tape)


def test_suppressed_after_the_lift_is_a_finding() -> None:
    """spec: C1: a person cleared it."""
    tape = Tape()
    tape.noted(SUPPORT, "suppress")
    tape.noted(DIGEST, "unsuppress")
    tape.refused(SALES, "send", "suppressed")
    assert tape.findings(Explained)


@pytest.mark.parametrize(("older_ms", "lifted"), [(1, False), (0, True)])
def test_a_lift_told_late_leaves_what_is_newer(older_ms: int, lifted: bool) -> None:
    """spec: C7: it happened before the suppression."""
    tape = Tape()
    noted_ms = tape.now_ms
    tape.noted(SUPPORT, "suppress", at_ms=noted_ms)
    lift = tape.invoke(DIGEST, "unsuppress", event_at_ms=noted_ms - older_ms)
    tape.ok(lift, answer="Noted", at_ms=tape.now_ms)
    tape.refused(SALES, "send", "suppressed")
    assert bool(tape.findings(Explained)) is lifted


@pytest.mark.parametrize("how", ["refused", "unknown", "before"])
def test_a_lift_that_may_not_have_come_leaves_the_suppression(how: str) -> None:
    """spec: C1, S10."""
    tape = Tape()
    if how == "before":
        tape.noted(DIGEST, "unsuppress")
    tape.noted(SUPPORT, "suppress")
    if how == "refused":
        tape.refused(DIGEST, "unsuppress", "not_authorised")
    elif how == "unknown":
        tape.info(tape.invoke(DIGEST, "unsuppress"))
    tape.refused(SALES, "send", "suppressed")
    assert not tape.findings()


# -- cooldown_active ------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["sent", "unknown", "under way", "withdrawn", "left open"])
def test_a_send_that_may_have_been_let_through_explains_cooldown_active(how: str) -> None:
    """spec: C2, S9, S10."""
    tape = Tape(cooldown_s=10.0)
    first = tape.invoke(SALES, "send")
    if how == "sent":
        tape.delivery()
        tape.accept(first)
    elif how == "unknown":
        tape.info(first)
    elif how == "left open":
        tape.fail(first, "store_busy")
    tape.refused(SUPPORT, "send", "cooldown_active", intent="i2")
    if how == "withdrawn":
        tape.fail(first, "invalid_message")
    assert not tape.findings(Explained)


def test_cooldown_active_without_a_cooldown_is_a_finding() -> None:
    """spec: C2."""
    tape = Tape()
    tape.refused(SALES, "send", "cooldown_active")
    assert "there is no cooldown" in _said(tape)


@pytest.mark.parametrize("how", ["nothing", "refused", "long ago", "later", "both lost"])
def test_cooldown_active_with_nothing_sent_inside_it_is_a_finding(how: str) -> None:
    """spec: C2, S9."""
    tape = Tape(cooldown_s=10.0)
    if how == "refused":
        tape.refused(SALES, "send", "invalid_message")
    elif how == "long ago":
        tape.sent(SALES)
        tape.at(10_100)
    other = tape.invoke(SALES, "send", intent="i3") if how == "both lost" else ""
    op = tape.refused(SUPPORT, "send", "cooldown_active", intent="i2")
    if other:
        tape.fail(other, "key_reused")
    if how == "later":
        tape.sent(SALES)
    assert op in {each.ops[-1] for each in tape.findings(Explained)}


def test_after_a_jump_any_cooldown_may_be_active() -> None:
    """spec: L5."""
    tape = Tape(cooldown_s=10.0)
    tape.fault("store_clock")
    tape.refused(SALES, "send", "cooldown_active")
    assert not tape.findings()


# -- the caller's own lease -----------------------------------------------------------------------


@pytest.mark.parametrize("f", ["renew", "release", "send"])
@pytest.mark.parametrize("code", ["lease_expired", "not_holder"])
def test_a_certain_holder_who_is_refused_is_a_finding(f: str, code: str) -> None:
    """spec: L6, L7, S3: a skewed clock may have judged."""
    tape = Tape()
    first = tape.granted(SALES, 41)
    op = tape.refused(SALES, f, code, token=41)
    (finding,) = tape.findings(Explained)
    assert finding.ops == (first, op)
    assert "sales-01 held the lease for at least" in finding.message


def test_a_renewal_answered_before_makes_the_holder_certain_for_longer() -> None:
    """spec: L6."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.at(800).renewed(SALES, 41)
    tape.at(1500).refused(SALES, "send", "lease_expired")
    assert tape.findings(Explained)


@pytest.mark.parametrize(
    "how", ["never", "foreign", "expired", "released", "may be released", "replaced", "early"]
)
def test_a_caller_who_may_not_hold_the_lease_may_be_refused(how: str) -> None:
    """spec: L6, L7, S3, S10."""
    tape = Tape()
    op = ""
    if how == "early":
        op = tape.invoke(SALES, "send")
    if how != "never":
        tape.granted(SUPPORT if how == "foreign" else SALES, 41)
    if how == "expired":
        tape.at(999)
    elif how == "released":
        tape.released(SALES, 41)
    elif how == "may be released":
        tape.info(tape.invoke(SALES, "release", token=41))
    elif how == "replaced":
        tape.granted(SUPPORT, 42)
    tape.fail(op or tape.invoke(SALES, "send"), "not_holder")
    assert not tape.findings(Explained)


def test_after_a_jump_any_lease_may_be_over() -> None:
    """spec: L5."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.fault("store_clock")
    tape.refused(SALES, "send", "lease_expired")
    assert not tape.findings()


# -- stale_fencing_token --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["granted", "unknown", "under way", "forgotten", "no token"])
def test_a_higher_token_that_may_have_been_granted_explains_stale(how: str) -> None:
    """spec: S3, S10."""
    tape = Tape()
    tape.granted(SALES, 41)
    if how == "granted":
        tape.at(1100).granted(SUPPORT, 42)
    elif how == "unknown":
        tape.info(tape.invoke(SUPPORT, "acquire"))
    elif how == "under way":
        tape.invoke(SUPPORT, "acquire")
    elif how == "forgotten":
        for newer in (42, 43):
            tape.at((newer - 41) * 1100).granted(SUPPORT, newer)
    token: int | None = None if how == "no token" else 41
    tape.refused(SALES, "send", "stale_fencing_token", token=token)
    assert not tape.findings(Explained)


def test_stale_for_the_newest_token_is_a_finding() -> None:
    """spec: S3."""
    tape = Tape()
    tape.granted(SALES, 41)
    tape.refused(SALES, "send", "stale_fencing_token")
    assert "no higher token can have been granted" in _said(tape)


# -- keys and transport ---------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["under way", "unknown", "overlapped", "left open"])
def test_another_send_under_the_key_explains_in_progress(how: str) -> None:
    """spec: K4, S10."""
    tape = Tape()
    other = tape.invoke(SALES, "send")
    if how == "unknown":
        tape.info(other)
    elif how == "left open":
        tape.fail(other, "store_busy")
    op = tape.invoke(SUPPORT, "send")
    if how == "overlapped":
        tape.accept(other)
    tape.fail(op, "send_in_progress")
    assert not tape.findings(Explained)


def test_a_store_that_was_busy_explains_in_progress() -> None:
    """spec: S8, R: it was let through, and the next step could not be written."""
    tape = Tape()
    op = tape.invoke(SALES, "send")
    tape.at(300).fail(op, "send_in_progress")
    assert not tape.findings(Explained)


@pytest.mark.parametrize("how", ["nothing", "refused", "later", "no key"])
def test_in_progress_with_nothing_under_way_is_a_finding(how: str) -> None:
    """spec: K4."""
    tape = Tape()
    if how == "refused":
        tape.refused(SALES, "send", "suppressed", key="k")
    op = tape.refused(SUPPORT, "send", "send_in_progress", key="" if how == "no key" else "k")
    if how == "later":
        tape.sent(SALES, key="k")
    assert op in {each.ops[-1] for each in tape.findings(Explained)}


@pytest.mark.parametrize("change", [{"body": "Other"}, {"to": "Jane@example.com"}])
def test_another_payload_explains_key_reused(change: dict[str, Any]) -> None:
    """spec: K4: a spelling may count, a token not."""
    tape = Tape()
    tape.sent(SALES, key="k")
    tape.refused(SALES, "send", "key_reused", key="k", **change)
    assert not tape.findings(Explained)


@pytest.mark.parametrize("how", ["nothing", "the same", "another token"])
def test_key_reused_for_the_same_payload_is_a_finding(how: str) -> None:
    """spec: K4."""
    tape = Tape()
    if how != "nothing":
        tape.info(tape.invoke(SALES, "send"))
    op = tape.refused(SALES, "send", "key_reused", token=42 if how == "another token" else 41)
    assert op in {each.ops[-1] for each in tape.findings(Explained)}


def test_key_missing_needs_a_send_without_key() -> None:
    """spec: K4."""
    tape = Tape()
    tape.refused(SALES, "send", "key_missing", key=None)
    assert not tape.findings()
    tape.refused(SALES, "send", "key_missing")
    assert "it carried a key" in _said(tape)


def _unknown(tape: Tape, ms: int = 0) -> None:
    op = tape.invoke(SALES, "send")
    if ms:
        tape.at(ms)
    tape.info(op, "send_status_unknown")


@pytest.mark.parametrize("how", ["fault", "no reply", "slow", "earlier"])
def test_a_transport_that_may_not_have_answered_explains_unknown(how: str) -> None:
    """spec: S8, K10."""
    tape = Tape()
    if how == "fault":
        tape.fault("transport")
    elif how == "no reply":
        tape.delivery("other", replied=False)
    elif how == "earlier":
        tape.info(tape.invoke(SUPPORT, "send"))
    _unknown(tape, 2000 if how == "slow" else 0)
    assert not tape.findings(Explained)


@pytest.mark.parametrize("refuses", [False, True])
def test_unknown_although_the_transport_answered_is_a_finding(refuses: bool) -> None:
    """spec: S8, S9: a refusal is an answer too."""
    tape = Tape()
    tape.fault("lost_reply")
    if refuses:
        tape.fault("transport", behaviour="refuse")
        tape.fault("transport", phase="end")
    tape.delivery()
    _unknown(tape)
    assert "the transport answered and no earlier outcome is unknown" in _said(tape)


def test_a_worker_that_slept_for_long_was_rightly_taken_for_gone() -> None:
    """spec: S8, K10: it wakes up past its deadline and says that nothing has left."""
    for woke_at_ms, found in ((3_000, False), (200, True)):
        tape = Tape()
        slept = tape.invoke(SALES, "send")
        _unknown(tape.at(100))
        tape.at(woke_at_ms).fail(slept, "send_in_progress")
        assert bool(tape.findings(Explained)) is found
