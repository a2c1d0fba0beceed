"""The two key recipes."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.contract import Code, Refused, Sent
from leaserace.reference_impl.idempotency import KEY_LENGTH_MAX, Keys
from leaserace.reference_impl.recipes import InvalidPart, step_key, thread_key
from tests.reference_impl.desk import JANE, SHORT, Desk

KEYS = Keys("sales-01", SHORT)
NAMES = (
    st.text(st.sampled_from("aAbß:%~é1 "), min_size=1, max_size=5)
    | st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=90)
).filter(lambda text: text == text.strip() and text != "")
PEOPLE = st.sampled_from([JANE, "jane.doe+x@acme.com", "ann@acme.com", "jürgen@acme.com"])
TEXTS = st.text(st.sampled_from("ab:1é\n")) | st.text(st.characters(exclude_categories=["Cs"]))


STEP: dict[str, Any] = {
    "run_id": "run-7",
    "step": "follow-up",
    "recipient": JANE,
    "subject": "Hello",
    "body": "How are you?\n",
}
THREAD: dict[str, Any] = {"thread": "t-1", "recipient": JANE, "campaign_action": "q3/reminder-1"}
STEPS = st.fixed_dictionaries(
    {"run_id": NAMES, "step": NAMES, "recipient": PEOPLE, "subject": TEXTS, "body": TEXTS}
)
THREADS = st.fixed_dictionaries({"thread": NAMES, "recipient": PEOPLE, "campaign_action": NAMES})


def nfc(parts: Any) -> dict[str, str]:
    return {name: unicodedata.normalize("NFC", part) for name, part in parts.items()}


def test_a_key_reads_like_its_recipe() -> None:
    """spec: K7"""
    key = step_key(**STEP, policy=SHORT)
    assert key.startswith(f"run-7:follow-up:{JANE}:")
    assert thread_key(**THREAD, policy=SHORT) == f"t-1:{JANE}:q3%2freminder-1"


def test_a_retry_makes_the_same_key() -> None:
    """spec: K7, K1"""
    assert step_key(**STEP, policy=SHORT) == step_key(**STEP, policy=SHORT)
    assert thread_key(**THREAD, policy=SHORT) == thread_key(**THREAD, policy=SHORT)


@given(STEPS, STEPS)
def test_two_different_steps_never_make_one_key(one: Any, other: Any) -> None:
    """Whatever stands in the parts, delimiters included. spec: K7, K3"""
    keys = [KEYS.normalise(step_key(**parts, policy=SHORT)) for parts in (one, other)]
    assert (keys[0] == keys[1]) is (nfc(one) == nfc(other))


@given(THREADS, THREADS)
def test_two_different_actions_never_make_one_key(one: Any, other: Any) -> None:
    """spec: K7, K3"""
    keys = [KEYS.normalise(thread_key(**parts, policy=SHORT)) for parts in (one, other)]
    assert (keys[0] == keys[1]) is (nfc(one) == nfc(other))


@given(STEPS, THREADS)
def test_the_two_recipes_never_make_one_key(step: Any, thread: Any) -> None:
    """spec: K7"""
    assert step_key(**step, policy=SHORT) != thread_key(**thread, policy=SHORT)


@given(STEPS, THREADS)
def test_the_mailbox_accepts_every_key_as_it_is(step: Any, thread: Any) -> None:
    """spec: K3, K7"""
    for key in (step_key(**step, policy=SHORT), thread_key(**thread, policy=SHORT)):
        assert KEYS.normalise(key) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"run_id": "a:b", "step": "c"}, {"run_id": "a", "step": "b:c"}),
        ({"run_id": "a%3ab"}, {"run_id": "a:b"}),
        ({"run_id": "Run"}, {"run_id": "run"}),
        ({"run_id": "ß"}, {"run_id": "ss"}),
        ({"run_id": "\u0430"}, {"run_id": "a"}),
        ({"subject": "ab", "body": "c"}, {"subject": "a", "body": "bc"}),
        ({"run_id": "x" * 1000}, {"run_id": "x" * 999}),
        ({"recipient": JANE}, {"recipient": "ann@acme.com"}),
    ],
)
def test_what_nearly_looks_the_same_makes_another_key(one: Any, other: Any) -> None:
    """spec: K7, K3"""
    first = step_key(**{**STEP, **one}, policy=SHORT)
    assert first != step_key(**{**STEP, **other}, policy=SHORT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"recipient": "Jane.Doe@ACME.com."}, {"recipient": "Jane <jane.doe@acme.com>"}),
        ({"step": "caf\u00e9"}, {"step": "cafe\u0301"}),
        ({"body": "caf\u00e9"}, {"body": "cafe\u0301"}),
    ],
)
def test_what_is_the_same_makes_one_key(one: Any, other: Any) -> None:
    """Spellings of a contact, and forms of a character. spec: K7, I1, I3"""
    first = step_key(**{**STEP, **one}, policy=SHORT)
    assert first == step_key(**{**STEP, **other}, policy=SHORT)


def test_the_longest_parts_make_a_key_within_the_limit() -> None:
    """spec: K3"""
    local, domain = "j" * 64, ".".join(["d" * 60] * 3) + ".com"
    long = {**STEP, "run_id": "R" * 1000, "step": "S" * 1000, "recipient": f"{local}@{domain}"}
    key = step_key(**long, policy=SHORT)
    assert len(key) <= KEY_LENGTH_MAX
    assert KEYS.normalise(key) == key


@pytest.mark.parametrize("field", ["run_id", "step", "thread", "campaign_action"])
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("", "nothing"),
        ("   ", "nothing"),
        (" a", "white space"),
        ("a\n", "white space"),
        ("a\x00b", "control"),
        ("a\ud83d", "surrogate"),
        ("x" * 1001, "1001"),
        ("x" * 1_000_000, "1000000"),
        (7, "int"),
        (None, "NoneType"),
    ],
)
def test_a_part_that_can_not_be_used_is_named(field: str, value: Any, why: str) -> None:
    """spec: K7, K3"""
    recipe: Any = step_key if field in STEP else thread_key
    parts = STEP if field in STEP else THREAD
    with pytest.raises(InvalidPart, match=why) as caught:
        recipe(**{**parts, field: value}, policy=SHORT)
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")


@pytest.mark.parametrize(
    ("field", "value"),
    [("recipient", "nobody"), ("recipient", None), ("subject", None), ("body", "\udc00")],
)
def test_recipient_and_text_are_named_too(field: str, value: Any) -> None:
    """spec: K7, I4"""
    with pytest.raises(InvalidPart) as caught:
        step_key(**{**STEP, field: value}, policy=SHORT)
    assert caught.value.field == field


def test_one_step_with_two_recipients_repeats_only_what_is_missing(desk: Desk) -> None:
    """Each has a key of its own, so a retry of the step writes to the second alone. spec: K7, X18"""
    box = desk.mailbox()

    def write(to: str) -> Sent | Refused:
        lease = box.acquire(to)
        key = step_key(**{**STEP, "recipient": to}, policy=SHORT)
        message = replace(desk.message(), to=to, subject="Hello", body="Hi\n", intent=to, key=key)
        answer = box.send(replace(message, token=getattr(lease, "token", None)))
        box.release(to, getattr(lease, "token", 0))
        return answer

    assert isinstance(write(JANE), Sent)
    desk.transport.behaviour = "refuse"
    assert isinstance(write("ann@acme.com"), Refused)
    desk.transport.behaviour = "accept"
    again = [write(JANE), write("ann@acme.com")]
    assert [getattr(each, "replay", None) for each in again] == [True, False]
    assert [each.recipient for each in desk.transport.taken] == [JANE, "ann@acme.com"]


def test_a_reworded_retry_under_the_action_key_sends_nothing(desk: Desk) -> None:
    """spec: K4, K7, X14"""
    key = thread_key(**THREAD, policy=SHORT)
    _, message, _ = desk.sent(key=key)
    answer = desk.mailbox().send(replace(message, body="In other words.\n"))
    assert isinstance(answer, Refused)
    assert answer.code is Code.KEY_REUSED
    assert len(desk.transport.taken) == 1
