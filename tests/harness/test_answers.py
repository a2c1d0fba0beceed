"""Answers at the border: to JSON and back, and the check that a mailbox keeps the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.answers import (
    ALLOWED,
    ContractBroken,
    check,
    check_clock,
    event_from_json,
    event_to_json,
    from_json,
    message_from_json,
    message_to_json,
    to_json,
)
from leaserace.harness.contract import (
    Answer,
    Cleaned,
    Code,
    Endpoint,
    Found,
    FullMailbox,
    Lease,
    Mailbox,
    Message,
    MessageKind,
    NoReply,
    Noted,
    Received,
    Refused,
    Released,
    SendState,
    Sent,
    Taken,
)

TEXT = st.text(max_size=6)
COUNT = st.integers(0, 2**50)
MAYBE_TEXT, MAYBE_COUNT = st.none() | TEXT, st.none() | COUNT
ANSWERS = st.one_of(
    st.builds(
        Lease,
        key=TEXT,
        owner=TEXT,
        token=COUNT,
        acquired_at_ms=COUNT,
        expires_at_ms=COUNT,
        granted_at_ms=MAYBE_COUNT,
        cooldown_until_ms=MAYBE_COUNT,
        contact_load=MAYBE_COUNT,
    ),
    st.builds(Released, key=TEXT, token=COUNT),
    st.builds(Sent, message_id=TEXT, status=COUNT, replay=st.booleans()),
    st.builds(Found, state=st.sampled_from(SendState), message_id=MAYBE_TEXT),
    st.builds(Noted, at_ms=COUNT),
    st.builds(Cleaned, rows=COUNT),
    st.builds(Taken, key=TEXT, first=st.booleans(), opted_out=st.booleans(), at_ms=COUNT),
    st.builds(
        Refused,
        code=st.sampled_from(Code),
        detail=TEXT,
        owner=MAYBE_TEXT,
        until_ms=MAYBE_COUNT,
        retry_after_s=st.none() | st.floats(0, 9),
        reasons=st.lists(st.sampled_from(Code), max_size=3).map(tuple),
    ),
    st.builds(NoReply, why=TEXT),
)
MESSAGES = st.builds(
    Message,
    to=TEXT,
    subject=TEXT,
    body=TEXT,
    token=MAYBE_COUNT,
    key=MAYBE_TEXT,
    intent=TEXT,
    kind=st.sampled_from(MessageKind),
    headers=st.dictionaries(TEXT, TEXT, max_size=2),
    endpoint=st.sampled_from(Endpoint),
    refers_to=MAYBE_TEXT,
)
EVENTS = st.builds(
    Received,
    event_id=TEXT,
    sender=TEXT,
    to=st.text(),
    subject=st.text(),
    body=st.text(),
    received_at_ms=MAYBE_COUNT,
)
TAKEN = Taken(key="k", first=True, opted_out=False, at_ms=1)
LEASE = Lease(key="k", owner="a", token=1, acquired_at_ms=1, expires_at_ms=2)
SENT = Sent(message_id="<m>")
FOUND = Found(state=SendState.DELIVERED)
REFUSED = Refused(code=Code.SUPPRESSED)


class OwnNumber(int):
    """A number of a class that can't be written as JSON."""


class OwnText(str):
    """A text of such a class."""

    __slots__ = ()


@given(ANSWERS)
def test_an_answer_survives_its_form_in_the_history(answer: Answer) -> None:
    value = to_json(answer)
    assert value["answer"] == type(answer).__name__
    assert None not in value.values()
    assert from_json(value) == answer


@given(MESSAGES)
def test_a_message_survives_its_form_in_the_history(message: Message) -> None:
    assert message_from_json(message_to_json(message)) == message


@given(EVENTS)
def test_what_a_contact_wrote_survives_its_form_in_the_history(event: Received) -> None:
    """spec: O4"""
    assert event_from_json(event_to_json(event)) == event


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "no such answer: None"),
        ({"answer": "Granted"}, "no such answer: 'Granted'"),
        ({"answer": "Released", "key": "k"}, "missing required field `token`"),
        ({"answer": "Sent", "message_id": 5}, "Expected `str`"),
    ],
)
def test_what_is_no_answer_is_refused_by_name(value: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_json(value)


def test_every_method_of_a_mailbox_has_its_answers() -> None:
    both = vars(Mailbox) | vars(FullMailbox)
    methods = {name for name in both if not name.startswith("_")}
    assert methods - {"close"} == set(ALLOWED)


@pytest.mark.parametrize(
    ("f", "answer"),
    [
        ("acquire", LEASE),
        ("renew", LEASE),
        ("release", Released(key="k", token=1)),
        ("send", SENT),
        ("lookup", FOUND),
        ("suppress", Noted(at_ms=0)),
        ("receive", TAKEN),
        ("clean_up", Cleaned(rows=0)),
        *((f, Refused(code=Code.STORE_BUSY)) for f in ALLOWED),
    ],
)
def test_an_answer_the_contract_allows_is_given_back(f: str, answer: Answer) -> None:
    assert check(f, answer) is answer


def _broken(answer: Any, **fields: Any) -> Any:
    return replace(answer, **fields)


@pytest.mark.parametrize(
    ("f", "answer", "said"),
    [
        ("acquire", None, "acquire returned None; allowed: Lease or Refused"),
        ("acquire", SENT, "allowed: Lease or Refused"),
        ("send", {"message_id": "<m>"}, "allowed: Sent or Refused"),
        ("send", NoReply(why="x"), "a mailbox itself never returns it"),
        ("acquire", _broken(LEASE, key=""), "Lease with key='', not a text"),
        ("acquire", _broken(LEASE, owner=None), "owner=None, not a text"),
        ("acquire", _broken(LEASE, token=0), "token=0, not a whole number of at least 1"),
        ("acquire", _broken(LEASE, token=True), "token=True, not a whole number"),
        ("acquire", _broken(LEASE, token="7"), "token='7', not a whole number"),
        ("renew", _broken(LEASE, acquired_at_ms=-1), "acquired_at_ms=-1"),
        ("renew", _broken(LEASE, expires_at_ms=1.5), "expires_at_ms=1.5"),
        ("release", Released(key="k", token=0), "token=0"),
        ("send", _broken(SENT, message_id=""), "message_id=''"),
        ("send", _broken(SENT, status=0), "status=0, not a whole number of at least 100"),
        ("send", _broken(SENT, replay="yes"), "replay='yes', not a bool"),
        ("lookup", _broken(FOUND, state="gone"), "unknown state='gone'"),
        ("suppress", Noted(at_ms=-1), "at_ms=-1"),
        ("clean_up", 3, "clean_up returned 3; allowed: Cleaned or Refused"),
        ("clean_up", Cleaned(rows=-1), "rows=-1"),
        ("receive", _broken(TAKEN, key=""), "key='', not a text"),
        ("receive", _broken(TAKEN, first=1), "first=1, not a bool"),
        ("receive", _broken(TAKEN, opted_out=None), "opted_out=None, not a bool"),
        ("receive", _broken(TAKEN, at_ms=None), "at_ms=None, not a whole number"),
        ("suppress", _broken(Refused(code=Code.SUPPRESSED), code="no"), "unknown code='no'"),
        ("acquire", _broken(LEASE, expires_at_ms=None), "expires_at_ms=None, not a whole number"),
        (
            "acquire",
            _broken(LEASE, expires_at_ms=2**63),
            "expires_at_ms=9223372036854775808, larger",
        ),
        ("acquire", _broken(LEASE, contact_load="3"), "contact_load='3', not a whole number"),
        ("acquire", _broken(LEASE, granted_at_ms=1.0), "granted_at_ms=1.0, not a whole number"),
        ("acquire", _broken(LEASE, token=OwnNumber(7)), "token=7, not a whole number"),
        ("acquire", _broken(LEASE, key=OwnText("k")), "key='k', not a text"),
        ("acquire", _broken(LEASE, key="\ud800"), r"key='\ud800', not a text"),
        ("lookup", _broken(FOUND, message_id=5), "message_id=5, not a text"),
        ("lookup", _broken(FOUND, state=[]), "unknown state=[]"),
        ("send", _broken(REFUSED, code=None), "unknown code=None"),
        ("send", _broken(REFUSED, code=["x"]), "unknown code=['x']"),
        ("send", _broken(REFUSED, detail=None), "detail=None, not a text"),
        ("send", _broken(REFUSED, owner=5), "owner=5, not a text"),
        ("send", _broken(REFUSED, until_ms="soon"), "until_ms='soon', not a whole number"),
        ("send", _broken(REFUSED, retry_after_s="1"), "retry_after_s='1', no number of seconds"),
        ("send", _broken(REFUSED, retry_after_s=float("nan")), "retry_after_s=nan, no number"),
        ("send", _broken(REFUSED, reasons=None), "reasons=None, not a tuple"),
        ("send", _broken(REFUSED, reasons=("odd",)), "'odd' in reasons, which is unknown"),
        ("send", _broken(REFUSED, faults=(5,)), "5 in faults, which is unknown"),
    ],
)
def test_an_answer_the_contract_does_not_allow_names_method_field_and_value(
    f: str, answer: Any, said: str
) -> None:
    wanted = "allowed: Sent or Refused" if said.startswith("a mailbox") else said
    with pytest.raises(ContractBroken, match=f"^{f} returned ") as caught:
        check(f, answer)
    assert wanted in str(caught.value)


@pytest.mark.parametrize("value", [None, 0, 1_800_000_000_000], ids=repr)
def test_a_clock_tells_a_time_or_none(value: int | None) -> None:
    """spec: L5."""
    assert check_clock("ours:Mailbox", value) == value


@pytest.mark.parametrize(
    "value", ["1", 1.5, float("nan"), float("inf"), True, -1, 2**63, b"1", []], ids=repr
)
def test_a_clock_that_tells_no_time_is_named_with_its_value(value: object) -> None:
    """spec: L5, R."""
    with pytest.raises(ContractBroken) as caught:
        check_clock("ours:Mailbox", value)
    assert str(caught.value).startswith(f"target ours:Mailbox: now_ms()={value!r}, ")


def test_a_code_or_state_given_as_plain_text_is_that_code_or_state() -> None:
    refused = check("send", _broken(REFUSED, code="suppressed", reasons=["suppressed"]))
    found = check("lookup", _broken(FOUND, state="delivered"))

    assert isinstance(refused, Refused)
    assert refused.code is Code.SUPPRESSED
    assert refused.reasons == (Code.SUPPRESSED,)
    assert isinstance(found, Found)
    assert found.state is SendState.DELIVERED
