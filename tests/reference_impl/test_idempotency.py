"""The key: one logical send, however often it is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.contract import Code, Found, MessageKind, Refused, SendState, Sent
from leaserace.reference_impl.idempotency import KEY_LENGTH_MAX, Keys
from leaserace.reference_impl.outcomes import Refusal
from tests.reference_impl.desk import JANE, SHORT, Desk

KEYS = Keys("sales-01", SHORT)
VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=255)


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


def test_a_retry_gets_the_original_answer_in_full(desk: Desk) -> None:
    """spec: K2, K1"""
    _, message, sent = desk.sent()
    assert desk.mailbox().send(message) == replace(sent, replay=True)
    assert desk.mailbox().send(message) == replace(sent, replay=True)
    assert len(desk.transport.taken) == 1
    assert [record.decision for record in desk.log("send")] == [
        "authorized",
        "replayed",
        "replayed",
    ]


def test_a_key_belongs_to_the_mailbox_not_to_an_agent(desk: Desk) -> None:
    """spec: K6"""
    _, message, sent = desk.sent("sales-01")
    assert desk.mailbox("support-01").send(message) == replace(sent, replay=True)


@pytest.mark.parametrize("drift", [str.upper, lambda key: f"  {key}\n", str.title])
def test_case_and_outer_white_space_do_not_make_another_key(desk: Desk, drift: object) -> None:
    """spec: K3, K9"""
    assert callable(drift)
    _, message, sent = desk.sent()
    again = desk.mailbox().send(replace(message, key=drift(message.key)))
    assert again == replace(sent, replay=True)
    assert desk.mailbox().lookup(drift(message.key)) == Found(
        state=SendState.DELIVERED, message_id=sent.message_id
    )


@pytest.mark.parametrize("key", [None, "", "  \t"])
def test_a_missing_key_is_400(key: str | None) -> None:
    """spec: K4"""
    with pytest.raises(Refusal) as caught:
        KEYS.normalise(key)
    assert caught.value.refused.code is Code.KEY_MISSING
    assert caught.value.refused.code.meaning.http_status == 400


@pytest.mark.parametrize("key", ["a b", "a\tb", "clé", "a\x00b", "k" * (KEY_LENGTH_MAX + 1)])
def test_a_key_of_another_format_is_refused_before_it_is_used(key: str) -> None:
    """spec: K3"""
    with pytest.raises(Refusal) as caught:
        KEYS.normalise(key)
    assert caught.value.refused.code is Code.KEY_INVALID


@given(VISIBLE)
def test_every_visible_key_has_one_normal_form(key: str) -> None:
    """spec: K3"""
    normal = KEYS.normalise(key)
    assert KEYS.normalise(normal) == normal == KEYS.normalise(f" {key.swapcase()} ")


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "Other"},
        {"body": "Other"},
        {"kind": MessageKind.TRANSACTIONAL},
        {"headers": {"X-Team": "sales"}},
        {"to": "bob@acme.com"},
    ],
)
def test_another_payload_under_the_key_is_422_and_sends_nothing(
    desk: Desk, change: dict[str, object]
) -> None:
    """spec: K4, X7, X14"""
    _, message, _ = desk.sent()
    answer = desk.mailbox().send(replace(message, **change))  # type: ignore[arg-type]
    assert code_of(answer) is Code.KEY_REUSED
    assert Code.KEY_REUSED.meaning.http_status == 422
    assert len(desk.transport.taken) == 1
    assert desk.log("send")[-1].state["same_payload"] is False


def test_a_new_lease_another_spelling_and_another_agent_are_the_same_payload(desk: Desk) -> None:
    """spec: K4, K6, I1"""
    lease, message, sent = desk.sent()
    desk.mailbox().release(JANE, lease.token)
    newer = desk.lease("support-01")
    again = replace(message, token=newer.token, to="JANE.DOE@acme.com")
    assert desk.mailbox("support-01").send(again) == replace(sent, replay=True)


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=3))
def test_no_two_payloads_run_together_in_a_fingerprint(pairs: list[tuple[str, str]]) -> None:
    """spec: K4"""
    from leaserace.harness.contract import Message

    message = Message(to=JANE, subject="a", body="bc", headers=dict(pairs))
    moved = replace(message, subject="ab", body="c")
    assert KEYS.fingerprint(JANE, message) == KEYS.fingerprint(JANE, replace(message, token=7))
    assert KEYS.fingerprint(JANE, message) != KEYS.fingerprint(JANE, moved)


@pytest.mark.parametrize(("early_ms", "replayed"), [(1, True), (0, False)])
def test_the_window_is_tested_at_both_edges(desk: Desk, early_ms: int, replayed: bool) -> None:
    """The last millisecond replays, the end is outside. spec: K5, K2, X15"""
    lease, message, sent = desk.sent()
    desk.mailbox().release(JANE, lease.token)
    desk.clock.advance_ms(3_600_000 - early_ms)
    newer = desk.lease()
    again = desk.mailbox().send(replace(message, token=newer.token))
    assert isinstance(again, Sent)
    assert again.replay is replayed
    assert (again.message_id == sent.message_id) is replayed
    assert len(desk.transport.taken) == (1 if replayed else 2)


def test_a_reply_is_run_once_under_its_key(desk: Desk) -> None:
    """spec: K8, K2, X7"""
    message = desk.message(desk.lease(), refers_to="<question@acme.com>")
    first, again = desk.mailbox().reply(message), desk.mailbox("support-01").reply(message)
    assert isinstance(first, Sent)
    assert again == replace(first, replay=True)
    assert code_of(desk.mailbox().forward(message)) is Code.KEY_REUSED
    elsewhere = replace(message, refers_to="<other@acme.com>")
    assert code_of(desk.mailbox().reply(elsewhere)) is Code.KEY_REUSED
    assert len(desk.transport.taken) == 1


def test_a_reply_obeys_every_check_of_a_send(desk: Desk) -> None:
    """spec: K8, S3, S4"""
    message = desk.message(desk.lease(), refers_to="<question@acme.com>")
    desk.mailbox().suppress(JANE, "opt-out")
    assert code_of(desk.mailbox().reply(message)) is Code.SUPPRESSED
    desk.mailbox().unsuppress(JANE, "grace")
    late = replace(message, token=9)
    assert isinstance(desk.mailbox().forward(late), Refused)
    assert not desk.transport.taken


def test_a_key_that_no_send_used_is_absent(desk: Desk) -> None:
    """A refused send uses no key. spec: K2"""
    desk.mailbox().send(desk.message(token=1))
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.ABSENT)


def test_a_refused_send_may_be_corrected_under_its_key(desk: Desk) -> None:
    """spec: K2, K4"""
    message = desk.message(token=1)
    assert code_of(desk.mailbox().send(message)) is Code.NOT_HOLDER
    lease = desk.lease()
    other = replace(message, token=lease.token, body="Corrected.\n")
    assert isinstance(desk.mailbox().send(other), Sent)
