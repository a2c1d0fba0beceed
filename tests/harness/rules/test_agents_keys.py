"""One key for each logical send, and what a key that is none tells of how it was made."""

from __future__ import annotations

from typing import Any

import pytest

from leaserace.harness.contract import Capability
from leaserace.harness.rules.agents import Keys
from tests.support.agent_tape import AgentTape
from tests.support.ops import BOB, SALES, SUPPORT, UNLOGGED


def two(first: dict[str, Any], second: dict[str, Any], *, crash: bool = False) -> AgentTape:
    """A send whose reply is lost, and a second one."""
    tape = AgentTape()
    tape.unknown(**first)
    if crash:
        tape.crash()
    contact = second.pop("contact", "jane")
    tape.sent(SALES, contact, **second)
    return tape


def test_a_retry_keeps_its_key_and_another_send_has_another() -> None:
    """spec: A1, K7"""
    tape = two({"key": "a"}, {"key": "a"})
    tape.sent(SALES, intent="i2", key="b")
    tape.sent(SALES, BOB, intent="i2", key="c")
    judgement = tape.judge(Keys)
    assert judgement.findings == ()
    assert judgement.exercised == {"agent.keys": 4}


def test_a_retry_under_another_key_is_a_finding() -> None:
    """spec: A1"""
    tape = two({"key": "red"}, {"key": "blue"})
    assert tape.slips(Keys) == ["sales-01 tried one send to jane again under key blue, not red"]
    assert tape.habits() == {"blind-retry"}, "no habit makes such keys"


def test_a_key_may_be_made_late_and_not_be_left_out_again() -> None:
    """spec: K1"""
    assert two({"key": None}, {"key": "a"}).slips(Keys) == []
    assert two({"key": "a"}, {"key": None}).slips(Keys) == [
        "sales-01 tried one send to jane again under key none, not a"
    ]


def test_what_another_agent_does_with_its_keys_is_its_own_affair() -> None:
    """spec: A1"""
    tape = two({"key": "a"}, {"key": "a"})
    tape.sent(SUPPORT, key="a", intent="i7")
    assert tape.slips(Keys) == []


def test_where_the_mailbox_knows_no_keys_they_are_not_judged() -> None:
    """spec: K2"""
    tape = AgentTape(capabilities=UNLOGGED - {Capability.IDEMPOTENCY})
    assert "agent.keys" in tape.judge().not_judged


UUIDS = ("0b8a6f0e-6f0f-4c5e-9d6e-2f0a5f1c7a11", "F3C9E4D25B7A4D0E8A1B6C2D3E4F5A6B")

HABITS: dict[str, tuple[tuple[str, str], ...]] = {
    "uuid-per-call": (
        (UUIDS[0], UUIDS[1]),
        (f"run:{UUIDS[0]}:jane", f"run:{UUIDS[1]}:jane"),
    ),
    "time-in-key": (
        ("run:jane:1800000000000", "run:jane:1800000060001"),
        ("run:1800000000.25", "run:1800000001.5"),
        ("run 2026-11-30T16:00:01Z", "run 2026-11-30T16:00:02Z"),
        ("run-20261130T160001", "run-20261130T160102"),
        ("daily:2026-11-30", "daily:2026-12-01"),
        ("run@16:00:01.25", "run@16:02:03"),
    ),
    "model-writes-key": (
        ("Run-1:Follow-Up", " run_1:follow up"),
        ("run-1", "RUN-1"),
    ),
    "": (
        ("run-a", "run-b"),
        ("run:1", "run:2"),
        ("run-12345678", "run-87654321"),
        (f"run:{UUIDS[0]}", f"other:{UUIDS[1]}"),
        ("run:1800000000000", "other:1800000000001"),
    ),
}


@pytest.mark.parametrize(
    ("habit", "keys"), [(habit, keys) for habit, pairs in HABITS.items() for keys in pairs]
)
def test_two_keys_of_one_send_tell_how_they_were_made(habit: str, keys: tuple[str, str]) -> None:
    """spec: A3, K9"""
    tape = two({"key": keys[0]}, {"key": keys[1]})
    assert len(tape.slips(Keys)) == 1
    assert tape.habits() == {habit, "blind-retry"} - {""}


def test_other_words_under_another_key_are_a_reworded_body() -> None:
    """spec: K9, X14"""
    tape = two({"key": "a-1", "body": "Hi"}, {"key": "a-2", "body": "Hello"})
    assert len(tape.slips(Keys)) == 1
    assert "rewords-body" in tape.habits()


def test_a_draft_that_was_refused_for_certain_may_be_written_anew_under_another_key() -> None:
    """The draft is discarded after a stale token; the next one is other content. spec: K7, R"""
    for code, findings in (("stale_fencing_token", 0), ("send_in_progress", 1)):
        tape = AgentTape()
        tape.granted(SALES, 41)
        tape.refused(SALES, "send", code, key="a-1", body="Hi")
        tape.granted(SALES, 42)
        tape.sent(SALES, token=42, key="a-2", body="Hello")
        assert len(tape.slips(Keys)) == findings
    tape = AgentTape()
    tape.refused(SALES, "send", "lease_expired", key="a-1")
    tape.sent(SALES, key="a-2")
    assert len(tape.slips(Keys)) == 1, "a retry keeps its key"


def test_other_words_under_the_same_key_are_a_reworded_body() -> None:
    """spec: K4, K9"""
    tape = two({"key": "a", "body": "Hi"}, {"key": "a", "body": "Hello"})
    assert tape.slips(Keys) == [
        "sales-01 tried one send to jane again with other words under key a"
    ]
    assert "rewords-body" in tape.habits()


def test_the_intents_tag_in_a_body_is_no_word_of_it() -> None:
    """spec: K7"""
    first = {"key": "a", "body": "Hello [intent:i1]"}
    assert two(first, {"key": "a", "body": "Hello [intent:run-2.i1]"}).slips(Keys) == []


@pytest.mark.parametrize(
    "told", [{"headers": {"X-Leaserace-Intent": "i1"}}, {"body": "Anew [intent:i1]"}]
)
def test_an_intent_is_found_where_the_receiving_mailbox_finds_it(told: dict[str, Any]) -> None:
    """spec: A1"""
    second = {"intent": "", "key": "b", "subject": "Other", "body": "Other"} | told
    assert len(two({"key": "a"}, second).slips(Keys)) == 1


def test_one_key_for_two_messages_or_two_people_is_a_finding() -> None:
    """spec: A1, K7, K9"""
    for second in ({"key": " A ", "intent": "i2"}, {"key": "a", "contact": BOB}):
        tape = two({"key": "a"}, second)
        (said,) = tape.slips(Keys)
        assert said.endswith("and for another one before")
        assert "one-key-for-many" in tape.habits()


def test_another_key_after_a_restart_is_a_new_run_id() -> None:
    """spec: O2"""
    tape = two({"key": "run-1:step"}, {"key": "run-2:step"}, crash=True)
    assert tape.habits() == {"new-run-id"}
    assert two({"key": "run-1:step"}, {"key": "run-1:step"}, crash=True).habits() == set()


def test_another_key_from_a_second_process_of_the_agent_is_no_restart() -> None:
    """spec: A1"""
    tape = AgentTape()
    tape.sent(SALES, key="run-1:step")
    tape.seat = "sales-01.r1"
    tape.sent(SALES, key="run-b:step")
    assert len(tape.slips(Keys)) == 1
    assert tape.habits() == set()


# -- without intents ------------------------------------------------------------------------------------


def anonymous(first: dict[str, Any], second: dict[str, Any], **options: bool) -> AgentTape:
    """Two sends that carry no intent."""
    base: dict[str, Any] = {"intent": "", "subject": "Offer", "body": "About it"}
    return two(base | first, base | second, **options)


def test_without_intents_the_same_text_after_an_unknown_outcome_is_a_retry() -> None:
    """spec: A1"""
    assert len(anonymous({"key": "a"}, {"key": "b"}).slips(Keys)) == 1
    other = {"key": "b", "subject": "Another", "body": "Another thing"}
    assert anonymous({"key": "a"}, other).slips(Keys) == []
    assert anonymous({"key": "a"}, {"key": "b", "contact": BOB}).slips(Keys) == []


def test_without_intents_the_same_subject_after_an_unknown_outcome_is_a_reworded_retry() -> None:
    """spec: X14"""
    assert "rewords-body" in anonymous({"key": "a"}, {"key": "b", "body": "Anew"}).habits()
    assert "rewords-body" in anonymous({"key": "a"}, {"key": "a", "body": "Anew"}).habits()
    untitled = {"key": "b", "subject": "", "body": "Anew"}
    assert anonymous({"key": "a", "subject": ""}, untitled).slips(Keys) == []


def test_without_intents_one_key_for_two_texts_is_one_key_for_many() -> None:
    """spec: K9"""
    other = {"key": "a", "subject": "Another", "body": "Another thing"}
    assert "one-key-for-many" in anonymous({"key": "a"}, other).habits()


def test_without_intents_the_same_text_after_an_answer_is_another_send() -> None:
    """spec: A1"""
    tape = AgentTape()
    for key in ("monday", "tuesday"):
        tape.sent(SALES, intent="", subject="Digest", body="Nothing new", key=key)
    assert tape.slips(Keys) == []


def test_without_intents_the_same_text_after_a_restart_is_a_retry() -> None:
    """spec: O2"""
    assert anonymous({"key": "run-1"}, {"key": "run-2"}, crash=True).habits() == {"new-run-id"}
    other = {"key": "run-2", "body": "Another thing"}
    assert anonymous({"key": "run-1"}, other, crash=True).habits() == set()
