"""Rules over sends and what arrived."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.base import Rule
from leaserace.harness.rules.keys import PayloadBound
from leaserace.harness.rules.sends import Arrived, MessageIdArrives, Once, StepsInOrder
from tests.support.ops import BOB, SALES, SUPPORT, UNLOGGED, Tape


@pytest.mark.parametrize("rule", [Once, Arrived, StepsInOrder])
def test_an_empty_history_has_no_finding_and_exercises_nothing(rule: type[Rule]) -> None:
    judgement = Tape(capabilities=Capability).judge(rule)
    assert not judgement.findings
    assert judgement.exercised == {rule.name: 0}


def test_a_retry_that_is_replayed_arrives_once() -> None:
    """spec: K2, T race 3."""
    tape = Tape()
    tape.granted(SALES, 41)
    op = tape.invoke(SALES, "send")
    tape.delivery()
    tape.info(op, "reply_lost")
    tape.replay(tape.invoke(SALES, "send"))
    judgement = tape.judge()
    assert not judgement.findings
    assert judgement.duplicates == 0
    assert judgement.exercised["sends.once"] == 1


def test_a_second_arrival_is_a_finding_and_a_duplicate() -> None:
    """spec: K2, S8."""
    tape = Tape()
    first = tape.sent(SALES)
    second = tape.sent(SALES)
    judgement = tape.judge(Once)
    (finding,) = judgement.findings
    assert finding.ops == (first, second)
    assert judgement.duplicates == 1


def test_a_fresh_key_on_each_try_is_the_callers_doing() -> None:
    """spec: K9: counted, and no fault of the target."""
    tape = Tape()
    tape.sent(SALES, key="a")
    tape.sent(SALES, key="b")
    tape.sent(SALES, key=None)
    judgement = tape.judge(Once)
    assert not judgement.findings
    assert judgement.duplicates == 2


def test_a_key_that_drifts_in_case_and_blanks_is_one_key() -> None:
    """spec: K3."""
    tape = Tape()
    tape.sent(SALES, key="run:1:Send")
    tape.sent(SALES, key=" RUN:1:send ")
    assert tape.findings(Once)


def test_one_text_to_two_contacts_is_two_sends() -> None:
    """spec: K9: what arrives at one of them says nothing of the other."""
    tape = Tape(cooldown_s=5.0)
    tape.granted(SALES, 41)
    tape.granted(SUPPORT, 41, BOB)
    tape.sent(SALES)
    tape.sent(SUPPORT, BOB, to="bob@example.com", key="another")
    tape.replay(tape.invoke(SUPPORT, "send", BOB, to="bob@example.com", key="another"))
    judgement = tape.judge()
    assert not judgement.findings
    assert (judgement.duplicates, judgement.double_contacts) == (0, 0)


def test_one_text_to_three_contacts_is_three_sends_and_the_second_to_one_a_duplicate() -> None:
    """spec: K9, S8"""
    carol = "carol"
    tape = Tape()
    tape.sent(SALES)
    tape.sent(SALES, BOB, to="bob@example.com", key="b")
    tape.sent(SALES, carol, to="carol@example.com", key="c")
    tape.sent(SALES, carol, to="carol@example.com", key="c")
    judgement = tape.judge(Once)
    assert [finding.contact for finding in judgement.findings] == [carol]
    assert judgement.duplicates == 1


def test_one_text_under_one_key_to_two_contacts_is_no_duplicate_but_bound() -> None:
    """spec: K4, K9: it arrives at an address that nobody wrote to as it is told."""
    tape = Tape()
    tape.sent(SALES)
    tape.sent(SUPPORT, BOB, to="Bob <bob@example.com>", arrives=False)
    tape.delivery(contact="bob")
    assert {finding.rule for finding in tape.findings(Once, PayloadBound)} >= {"keys.payload_bound"}


def test_a_target_without_keys_can_not_join_two_tries() -> None:
    """spec: K2: what is not declared is not judged."""
    tape = Tape(capabilities=UNLOGGED - {Capability.IDEMPOTENCY})
    tape.sent(SALES)
    tape.sent(SALES)
    assert not tape.findings(Once)
    tape.delivery()
    assert tape.findings(Once)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_try_after_the_window_is_a_new_request(is_open: bool) -> None:
    """spec: K5, X15."""
    tape = Tape(key_window_s=10.0)
    tape.sent(SALES)
    op = tape.at(10_100).invoke(SALES, "send")
    tape.delivery()
    if not is_open:
        tape.accept(op, "<m2>")
    judgement = tape.judge(Once)
    assert not judgement.findings
    assert judgement.duplicates == 1


@pytest.mark.parametrize(("ms", "found"), [(10_100, False), (9_000, True)])
def test_a_try_that_stood_still_past_the_window_is_a_new_request(ms: int, found: bool) -> None:
    """spec: K5, S10: although it was invoked before the one that opened the window."""
    tape = Tape(key_window_s=10.0)
    slow = tape.invoke(SUPPORT, "send")
    tape.sent(SALES)
    tape.at(ms).delivery()
    tape.accept(slow, "<m2>")
    assert bool(tape.findings(Once)) is found


def test_mail_that_no_agent_sent_is_nobodys_duplicate() -> None:
    tape = Tape()
    tape.delivery("spam")
    tape.delivery("spam")
    tape.delivery("")
    assert not tape.findings(Once, Arrived)


def test_an_acknowledged_send_that_never_arrives_is_a_finding() -> None:
    """spec: S8, decision 1: a target that sends nothing must fail."""
    tape = Tape()
    op = tape.sent(SALES, arrives=False)
    (finding,) = tape.findings(Arrived)
    assert finding.ops == (op,)


def test_an_unknown_or_refused_send_need_not_arrive() -> None:
    """spec: S10."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "send"))
    tape.refused(SUPPORT, "send", "suppressed", intent="i2")
    judgement = tape.judge(Arrived)
    assert not judgement.findings
    assert judgement.exercised["sends.arrived"] == 0


def test_a_replay_is_backed_by_the_message_of_the_call_it_replays() -> None:
    """spec: K2: found by its intent or by its message id."""
    tape = Tape()
    tape.sent(SALES)
    tape.replay(tape.invoke(SALES, "send"))
    tape.replay(tape.invoke(SALES, "send", intent="i2", key="key-i1"), "<i1>")
    assert not tape.findings(Arrived)


def test_a_replay_of_what_never_arrived_is_a_finding() -> None:
    """spec: K2."""
    tape = Tape()
    tape.replay(tape.invoke(SALES, "send"))
    assert tape.findings(Arrived)


def test_a_send_that_was_refused_and_arrives_is_a_finding() -> None:
    """spec: R: a definite refusal means that it never happens."""
    tape = Tape()
    op = tape.refused(SALES, "send", "cooldown_active")
    tape.delivery()
    (finding,) = tape.findings(Arrived)
    assert finding.ops == (op,)
    assert "was refused" in finding.message


def test_a_refused_retry_beside_an_unknown_try_explains_the_arrival() -> None:
    """spec: S10."""
    tape = Tape()
    tape.info(tape.invoke(SALES, "send"))
    tape.refused(SALES, "send", "send_in_progress")
    tape.delivery()
    assert not tape.findings(Arrived)


# -- sends.steps_in_order -------------------------------------------------------------------------


def _steps(*decisions: str, **more: Any) -> Tape:
    tape = Tape(capabilities=Capability, key_window_s=10.0)
    for decision in decisions:
        tape.audit("send", decision, idempotency_key="k", at_ms=1000, **more)
    return tape


@pytest.mark.parametrize(
    "steps",
    [
        "authorized dispatching delivered",
        "authorized dispatching unknown delivered",
        "authorized withdrawn authorized dispatching delivered",
        "authorized authorized dispatching withdrawn authorized",
        "authorized dispatching unknown withdrawn",
    ],
)
def test_a_send_goes_from_step_to_step(steps: str) -> None:
    """spec: S8."""
    judgement = _steps(*steps.split()).judge(StepsInOrder)
    assert not judgement.findings
    assert judgement.exercised["sends.steps_in_order"] == len(steps.split())


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("dispatching", "is dispatching after it was nothing"),
        ("authorized withdrawn dispatching", "is dispatching after it was withdrawn"),
        ("authorized dispatching dispatching", "is dispatching after it was dispatching"),
        ("authorized dispatching unknown authorized", "is authorized after it was unknown"),
        ("authorized dispatching delivered authorized", "is authorized after it was delivered"),
        ("authorized delivered", "is delivered after it was authorized"),
    ],
)
def test_a_step_out_of_order_is_a_finding(steps: str, said: str) -> None:
    """spec: S8, K2, K10: no interval excuses the order of commits."""
    (finding,) = _steps(*steps.split()).findings(StepsInOrder)
    assert said in finding.message


def test_after_the_window_a_key_stands_for_a_new_send() -> None:
    """spec: K5."""
    for at_ms, found in ((10_999, True), (11_000, False)):
        tape = _steps("authorized", "dispatching", "delivered")
        tape.audit("send", "authorized", idempotency_key="k", at_ms=at_ms)
        assert bool(tape.findings(StepsInOrder)) is found


def test_records_of_no_send_or_without_a_key_have_no_steps() -> None:
    """spec: S8."""
    tape = _steps("granted", "suppressed")
    tape.audit("dispatch", "dispatching")
    judgement = tape.judge(StepsInOrder)
    assert not judgement.findings
    assert judgement.exercised["sends.steps_in_order"] == 0


# -- sends.message_id_arrives ---------------------------------------------------------------------


def test_the_id_that_was_told_is_the_one_that_arrived() -> None:
    """spec: S8."""
    tape = Tape(capabilities=Capability)
    op = tape.invoke(SALES, "send")
    tape.delivery("i1")
    tape.accept(op, message_id="<i1>")
    judgement = tape.judge(MessageIdArrives)
    assert not judgement.findings
    assert judgement.exercised["sends.message_id_arrives"] == 1


def test_a_replay_that_names_another_id_is_a_finding() -> None:
    """spec: K2, S8: also where the original answer was lost, so that no call can be compared."""
    tape = Tape(capabilities=Capability)
    op = tape.invoke(SALES, "send")
    tape.delivery("i1")
    tape.info(op, "reply_lost")
    tape.replay(tape.invoke(SALES, "send"), message_id="<other>")
    (finding,) = tape.findings(MessageIdArrives)
    assert "is <other>, but what arrived is <i1>" in finding.message


def test_an_unknown_outcome_names_no_id_and_what_came_from_nowhere_is_not_judged() -> None:
    """spec: S8."""
    tape = Tape(capabilities=Capability)
    tape.delivery("from nowhere")
    op = tape.invoke(SALES, "send")
    tape.delivery("i1")
    tape.info(op, "reply_lost")
    assert not tape.findings(MessageIdArrives)


def _named(*steps: tuple[str, str | None], apart_ms: int = 0) -> Tape:
    """Steps of one send with the Message-ID each names."""
    tape = Tape(capabilities=Capability, key_window_s=10.0)
    for number, (decision, message_id) in enumerate(steps):
        tape.audit(
            "step",
            decision,
            idempotency_key="k",
            message_id=message_id,
            at_ms=1000 + number * apart_ms,
        )
    return tape


def test_every_step_of_a_send_names_one_message_id() -> None:
    """spec: S8: brackets do not matter, and not every step has to name it."""
    tape = _named(("authorized", "<a>"), ("withdrawn", None), ("authorized", "a"))
    assert not tape.findings(StepsInOrder)


def test_a_second_try_under_another_message_id_is_a_finding() -> None:
    """spec: S8."""
    tape = _named(("authorized", "<a>"), ("withdrawn", "<a>"), ("authorized", "<b>"))
    (finding,) = tape.findings(StepsInOrder)
    assert "is authorized as <b> and was <a> before" in finding.message


@pytest.mark.parametrize("end", ["delivered", "withdrawn"])
def test_after_the_window_the_key_has_a_message_id_of_its_own(end: str) -> None:
    """spec: S8, K5."""
    steps = (("authorized", "<a>"), ("dispatching", "<a>"), (end, "<a>"))
    tape = _named(*steps, ("authorized", "<b>"), apart_ms=10_000)
    assert not tape.findings(StepsInOrder)
