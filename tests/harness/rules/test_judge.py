"""The judge: who hears what, what it counts, what a rule that crashes makes of the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from leaserace.harness.contract import Capability, Settings
from leaserace.harness.history import History, InvalidHistory, Operation, OpType
from leaserace.harness.rules import ALL, BY_NAME
from leaserace.harness.rules.base import (
    FINDINGS_A_RULE_MAX,
    Judge,
    RaceInfo,
    Rule,
    freeze,
    judge,
)
from leaserace.harness.rules.leases import OneLive
from leaserace.harness.rules.ledger import SENDS_KEPT, View
from leaserace.harness.verdict import Finding, Verdict
from tests.support.ops import BOB, SALES, SUPPORT, Tape


class Noisy(Rule):
    """Finds something in every completion."""

    name = "test.noisy"
    spec = ("T",)

    def completed(self, view: View) -> Iterable[Finding]:
        yield self.finding("again", view.op)


class Crashing(Rule):
    """Can't stand a fault."""

    name = "test.crashing"
    spec = ("T",)

    def struck(self, event: object) -> Iterable[Finding]:
        raise ValueError("no faults please")


class Remembering(Rule):
    """Keeps a state of its own."""

    name = "test.remembering"
    spec = ("T",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[Operation] = []
        self.by_agent: dict[str, set[str]] = {}

    def invoked(self, view: View) -> Iterable[Finding]:
        self.exercised += 1
        self.seen.append(view.op)
        self.by_agent.setdefault(view.op.agent, set()).add(view.op.f)
        return ()


def test_every_rule_has_a_name_a_spec_and_a_docstring_with_both_histories() -> None:
    assert len(BY_NAME) == len(ALL)
    for rule in ALL:
        assert rule.spec
        assert rule.__doc__ is not None
        assert "Spec: " in rule.__doc__
        assert "Legal::" in rule.__doc__
        assert "Illegal::" in rule.__doc__


def test_a_rule_whose_capabilities_are_missing_is_left_out_and_named() -> None:
    tape = Tape(capabilities={Capability.LEASE})
    judgement = tape.judge()
    assert "sends.once" in judgement.not_judged
    assert "sends.once" not in judgement.exercised
    assert "leases.one_live" in judgement.exercised


def test_a_rule_that_hears_nothing_finds_nothing() -> None:
    tape = Tape()
    tape.granted(SALES, 41)
    judge_ = _judge_of(tape)
    rule: Any = Rule(tape.race, judge_.ledger)
    heard = [rule.invoked, rule.completed, rule.settled, rule.struck, rule.marked, rule.decided]
    assert [hook(None) for hook in (*heard, rule.finish)] == [()] * 7
    assert rule.delivered(None, None) == ()
    assert rule.state() == ()


def test_nothing_found_is_valid_and_a_finding_is_invalid() -> None:
    tape = Tape()
    tape.granted(SALES, 41)
    assert tape.judge().verdict is Verdict.VALID
    assert tape.judge(Noisy).verdict is Verdict.INVALID


def test_a_rule_that_crashes_makes_the_race_unknown_and_the_others_go_on() -> None:
    tape = Tape()
    tape.fault("pause", SALES)
    tape.fault("pause", SALES)
    tape.granted(SALES, 41)
    judge_ = Judge(tape.race, (Crashing, OneLive))
    for event in tape.events:
        judge_.feed(event)
    judge_.finish()
    judgement = judge_.judgement()
    assert judgement.verdict is Verdict.UNKNOWN
    assert judgement.unknown == ("rule test.crashing crashed: ValueError: no faults please",)
    assert set(judgement.exercised) == {"leases.one_live"}


def test_findings_of_one_rule_are_kept_up_to_a_bound_and_counted_beyond() -> None:
    tape = Tape()
    for number in range(FINDINGS_A_RULE_MAX + 5):
        tape.noted(SALES, "suppress", f"c{number}")
    judgement = tape.judge(Noisy)
    assert len(judgement.findings) == FINDINGS_A_RULE_MAX
    assert judgement.left_out == {"test.noisy": 5}


def test_windows_that_were_entered_are_counted() -> None:
    tape = Tape()
    tape.mark("window", window="claims overlapped")
    tape.mark("window", window="claims overlapped")
    assert tape.judge().windows == {"claims overlapped": 2}


def test_a_completion_without_an_invoke_is_no_history() -> None:
    tape = Tape()
    op = tape.invoke(SALES, "acquire")
    tape.events.clear()
    tape.ok(op)
    with pytest.raises(InvalidHistory, match="without an invoke"):
        tape.judge()


def test_a_whole_history_is_judged_in_one_call() -> None:
    tape = Tape()
    tape.granted(SALES, 41)
    tape.granted(SUPPORT, 42)
    judgement = judge(History(tape.events), tape.race, ALL)
    assert [each.rule for each in judgement.findings] == ["leases.one_live"]


def test_what_a_race_is_survives_its_mark() -> None:
    info = RaceInfo(
        settings=Settings(lease_s=0.3),
        capabilities=frozenset({Capability.LEASE}),
        agents=(SALES, SUPPORT),
        isolated=False,
        clock="virtual",
    )
    assert RaceInfo.from_mark(info.to_mark() | {"epoch_ms": 1}) == info
    assert RaceInfo.from_mark({}) == RaceInfo()


# -- the state that visited-state pruning rests on -------------------------------------------------


def _judge_of(tape: Tape, *rules: type[Rule]) -> Judge:
    judge_ = Judge(tape.race, rules or ALL)
    for event in tape.events:
        judge_.feed(event)
    return judge_


def test_the_state_can_be_hashed_and_changes_with_what_is_known() -> None:
    tape = Tape(cooldown_s=10.0, capabilities=Capability)
    states = {hash(_judge_of(tape).state())}
    tape.granted(SALES, 41)
    states.add(hash(_judge_of(tape).state()))
    tape.renewed(SALES, 41)
    tape.info(tape.invoke(SALES, "release", token=41))
    tape.info(tape.invoke(SALES, "acquire"))
    states.add(hash(_judge_of(tape).state()))
    tape.noted(SUPPORT, "suppress")
    tape.noted(SUPPORT, "unsuppress")
    tape.noted(SUPPORT, "override")
    states.add(hash(_judge_of(tape).state()))
    tape.sent(SALES)
    states.add(hash(_judge_of(tape).state()))
    tape.invoke(SUPPORT, "acquire")
    states.add(hash(_judge_of(tape).state()))
    assert len(states) == 6


def _independent(first: str, second: str) -> Tape:
    """Two contacts, one call each, in either order."""
    tape = Tape(clock="virtual")
    for agent, contact in ((first, "c1"), (second, "c2")):
        tape.ms = 0
        op = tape.invoke(agent, "acquire", contact)
        tape.ms = 0
        tape.lease(op, 1, at_ms=tape.now_ms)
    return tape


def test_two_orders_of_calls_that_do_not_touch_each_other_are_one_state() -> None:
    one, two = _independent(SALES, SUPPORT), _independent(SALES, SUPPORT)
    two.events = [*two.events[2:], *two.events[:2]]
    ledgers = [_judge_of(tape).ledger.state() for tape in (one, two)]
    assert ledgers[0] == ledgers[1]


def test_the_order_of_two_calls_on_one_contact_is_part_of_the_state() -> None:
    states = []
    for early in (True, False):
        tape = Tape(clock="virtual")
        tape.ms = 0
        op = tape.invoke(SALES, "send")
        if not early:
            tape.accept(op)
        tape.ms = 0
        tape.noted(SUPPORT, "suppress", at_ms=1)
        tape.ms = 0
        if early:
            tape.accept(op)
        states.append(_judge_of(tape).state())
    assert states[0] != states[1]


def test_a_rules_own_state_counts_and_how_often_it_was_exercised_does_not() -> None:
    tape = Tape()
    tape.granted(SALES, 41)
    once = _judge_of(tape, Remembering)
    (rule,) = once.rules
    before = once.state()
    rule.exercised += 1
    assert once.state() == before
    tape.granted(SUPPORT, 1, BOB)
    assert _judge_of(tape, Remembering).state() != before


def test_freezing_keeps_what_was_said_of_an_operation() -> None:
    tape = Tape()
    tape.granted(SALES, 41)
    (op,) = History(tape.events).operations()
    assert freeze(op) == (op.op, OpType.OK, None, op.invoked_ns, op.completed_ns)
    assert freeze([{"a": {1, 2}}, (None,)]) == ((("a", frozenset({1, 2})),), (None,))


# -- crashes and settling --------------------------------------------------------------------------


def test_an_operation_of_a_crashed_agent_teaches_something_if_it_completes_after_all() -> None:
    """spec: S10."""
    tape = Tape()
    op = tape.invoke(SALES, "acquire")
    tape.fault("crash", SALES)
    tape.lease(op, 41)
    tape.fault("crash", SALES, "end")
    tape.fault("crash", SUPPORT)
    assert not tape.findings()
    tape.granted(SUPPORT, 41)
    assert {"tokens.rise", "leases.one_live"} & tape.broken() == {"tokens.rise"}


def test_what_stays_open_is_judged_at_the_end() -> None:
    """spec: S10."""
    tape = Tape()
    tape.invoke(SALES, "suppress")
    tape.refused(SUPPORT, "acquire", "contact_owned")
    assert tape.broken() == {"refusals.explained"}


def test_memory_stays_flat_over_many_leases_of_one_contact() -> None:
    tape = Tape(cooldown_s=0.05)
    for number in range(200):
        tape.at(number * 100 + 1)
        tape.granted(SALES, number + 1)
        tape.renewed(SALES, number + 1)
        tape.sent(SALES, intent=f"i{number}", token=number + 1)
        tape.noted(SUPPORT, "suppress")
        tape.noted(SUPPORT, "unsuppress")
        tape.released(SALES, number + 1)
    judge_ = _judge_of(tape)
    assert not judge_.findings
    person = judge_.ledger.person("jane")
    assert len(person.claims) == 1
    assert not person.claims[0].renewals
    assert len(person.sends) <= SENDS_KEPT
    assert len(person.bans) <= 2
    assert len(person.lifts) <= 2


def test_a_call_that_stands_open_keeps_what_it_may_refer_to() -> None:
    """spec: S10: a refusal is explained by what was over when it was answered."""
    tape = Tape(cooldown_s=0.05)
    slow = tape.invoke(SUPPORT, "send", intent="slow", token=42)
    tape.granted(SALES, 41)
    tape.noted(SALES, "suppress")
    tape.released(SALES, 41)
    tape.noted(SALES, "unsuppress")
    tape.noted(SALES, "suppress")
    tape.at(500).fail(slow, "suppressed")
    assert not tape.findings()


def test_a_call_is_judged_as_soon_as_all_that_overlapped_it_has_ended() -> None:
    """spec: S10: a later call that is still open can't have mattered to it."""
    tape = Tape()
    slow = tape.invoke(SALES, "suppress")
    tape.refused(SUPPORT, "acquire", "contact_owned")
    tape.invoke(SUPPORT, "lookup", key="k")
    judge_ = _judge_of(tape)
    assert not judge_.findings
    tape.events.clear()
    tape.fail(slow, "store_busy")
    judge_.feed(tape.events[-1])
    assert [each.rule for each in judge_.findings] == ["refusals.explained"]


def test_in_the_log_only_what_lacks_its_counterpart_is_part_of_the_state() -> None:
    states = []
    for refusals, records in ((0, 0), (1, 1), (1, 0)):
        tape = Tape(capabilities=Capability, clock="virtual")
        tape.audit("acquire", "granted", SALES, token=1)
        for _ in range(refusals):
            tape.refused(SALES, "acquire", "store_busy", "c1")
            tape.refused(SALES, "acquire", "approval_required")
        for _ in range(records):
            tape.audit("acquire", "approval_required", SALES)
        (rule,) = _judge_of(tape, BY_NAME["audit.refusal_has_state"]).rules
        states.append(rule.state())
    assert states[0] == states[1] != states[2]
