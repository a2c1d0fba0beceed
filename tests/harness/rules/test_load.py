"""The rule over contact load: every agent's messages count, and nothing else does."""

from __future__ import annotations

from leaserace.harness.contract import Capability
from leaserace.harness.rules.load import Counted
from leaserace.harness.rules.refusals import Explained
from tests.support.ops import SALES, SUPPORT, UNLOGGED, Tape

LOADED = UNLOGGED | {Capability.CONTACT_LOAD}


def test_messages_of_all_agents_and_channels_count() -> None:
    """spec: C5"""
    tape = Tape(capabilities=LOADED)
    tape.granted(SALES, 41, contact_load=0)
    tape.sent(SALES, intent="i1", key="k1")
    tape.noted(SUPPORT, "note_contact")
    tape.replay(tape.invoke(SALES, "send", intent="i1", key="k1"))
    tape.renewed(SALES, 41, contact_load=2)
    judgement = tape.judge(Counted)
    assert not judgement.findings
    assert judgement.exercised["leases.load_counted"] == 2


def test_a_count_that_leaves_somebody_out_is_a_finding() -> None:
    """spec: C5"""
    tape = Tape(capabilities=LOADED)
    first = tape.sent(SALES, intent="i1")
    second = tape.noted(SALES, "note_contact")
    claim = tape.granted(SUPPORT, 41, contact_load=1)
    (finding,) = tape.findings(Counted)
    assert finding.ops == (first, second, claim)


def test_a_count_of_messages_nobody_can_have_sent_is_a_finding() -> None:
    """spec: C5"""
    tape = Tape(capabilities=LOADED)
    tape.refused(SALES, "send", "suppressed", intent="i1")
    tape.replay(tape.invoke(SALES, "send", intent="i1"))
    claim = tape.granted(SUPPORT, 41, contact_load=1)
    tape.sent(SALES, intent="i2")
    (finding,) = tape.findings(Counted)
    assert finding.ops == (claim,)


def test_a_message_that_was_asked_for_afterwards_can_not_have_counted() -> None:
    """spec: C5: also where something else was under way all the time."""
    tape = Tape(capabilities=LOADED)
    under_way = tape.invoke(SUPPORT, "release", token=40)
    claim = tape.granted(SUPPORT, 41, contact_load=1)
    tape.sent(SALES, intent="i1")
    tape.fail(under_way, "not_holder")
    (finding,) = tape.findings(Counted)
    assert finding.ops == (claim,)


def test_what_may_have_been_authorised_may_count() -> None:
    """spec: C5, S9"""
    tape = Tape(capabilities=LOADED)
    tape.refused(SALES, "send", "store_busy", intent="i1")
    tape.info(tape.invoke(SALES, "send", intent="i2"))
    under_way = tape.invoke(SALES, "send", intent="i3")
    tape.granted(SUPPORT, 41, contact_load=3)
    tape.granted(SUPPORT, 42, "joe", contact_load=0)
    tape.fail(under_way, "suppressed")
    assert not tape.findings(Counted)


def test_a_message_of_long_ago_may_count_no_more() -> None:
    """spec: C5"""
    tape = Tape(capabilities=LOADED)
    tape.sent(SALES)
    tape.at(3_600_100).granted(SUPPORT, 41, contact_load=0)
    assert not tape.findings(Counted)


def test_a_message_of_long_before_the_answer_may_count_no_more() -> None:
    """spec: C5: whoever asked stood still meanwhile."""
    tape = Tape(capabilities=LOADED)
    tape.sent(SALES, intent="i1")
    op = tape.invoke(SUPPORT, "acquire")
    tape.at(2 * 3_600_000).lease(op, 41, contact_load=0)
    assert not tape.findings(Counted)


def test_messages_without_an_intent_may_be_any_number() -> None:
    """spec: C5"""
    tape = Tape(capabilities=LOADED)
    tape.sent(SALES, intent="")
    tape.granted(SUPPORT, 41, contact_load=5)
    assert not tape.findings(Counted)


def test_a_renewal_tells_a_load_and_a_grant_may() -> None:
    """spec: C5"""
    tape = Tape(capabilities=LOADED)
    tape.granted(SALES, 41)
    renewal = tape.renewed(SALES, 41)
    (finding,) = tape.findings(Counted)
    assert finding.ops == (renewal,)


def test_a_contact_by_another_channel_explains_a_cooldown() -> None:
    """spec: C2, C5, R"""
    tape = Tape(cooldown_s=60.0)
    tape.noted(SUPPORT, "note_contact")
    tape.refused(SALES, "send", "cooldown_active")
    assert not tape.findings(Explained)


def test_a_try_that_is_replayed_in_the_end_may_have_been_authorised_before() -> None:
    """spec: C5, S9: a worker that was overtaken had its message on the timeline already."""
    tape = Tape(capabilities=LOADED)
    overtaken = tape.invoke(SUPPORT, "send", intent="i1", key="k1")
    tape.granted(SALES, 42, contact_load=1)
    tape.sent(SALES, intent="i1", key="k1")
    tape.replay(overtaken)
    assert not tape.findings(Counted)


def test_tries_of_one_message_count_once() -> None:
    """spec: C5"""
    tape = Tape(capabilities=LOADED)
    overtaken = tape.invoke(SUPPORT, "send", intent="i1", key="k1")
    other = tape.invoke(SALES, "send", intent="i1", key="k1")
    claim = tape.granted("digest-01", 42, contact_load=2)
    tape.replay(overtaken)
    tape.ok(other, message_id="<i1@example.org>", status=201, replay=False)
    (finding,) = tape.findings(Counted)
    assert finding.ops == (claim,)
