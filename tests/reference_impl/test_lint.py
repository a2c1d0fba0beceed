"""The lint: what is wrong with a message, and how to put it right."""

from __future__ import annotations

import email
import email.policy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.contract import (
    Code,
    Endpoint,
    Found,
    Message,
    MessageKind,
    Refused,
    SendState,
    Sent,
)
from leaserace.harness.points import listen
from leaserace.reference_impl.identity import Identity
from leaserace.reference_impl.lint import FIXES, HEADER_LENGTH_MAX, Lint, LintCode
from tests.reference_impl.desk import JANE, SHORT, Desk
from tests.reference_impl.watch import Watch

GOOD = Message(to=JANE, subject="Hello", body="How are you?\n", key="run:1:send")
OWN = {
    "List-Unsubscribe": "<mailto:out@acme.com>, <https://acme.com/out?u=1>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
}
LINT = Lint(policy=SHORT, identity=Identity(SHORT.addresses))
FORWARD = {"endpoint": Endpoint.FORWARD, "refers_to": "<a@b>"}
FAULTS: list[tuple[dict[str, Any], str, LintCode]] = [
    ({"to": "nobody"}, "to", LintCode.BAD_ADDRESS),
    ({"to": ""}, "to", LintCode.BAD_ADDRESS),
    ({"to": "Doe, Jane <jane@acme.com>"}, "to", LintCode.BAD_ADDRESS),
    ({"to": "a@acme.com, b@acme.com"}, "to", LintCode.SEVERAL_RECIPIENTS),
    ({"to": "a@acme.com;b@acme.com"}, "to", LintCode.SEVERAL_RECIPIENTS),
    ({"to": "a@acme.com\nBcc: b@acme.com"}, "to", LintCode.HEADER_INJECTION),
    ({"subject": ""}, "subject", LintCode.MISSING_SUBJECT),
    ({"subject": " \t"}, "subject", LintCode.MISSING_SUBJECT),
    ({"subject": "Hi\r\nBcc: all@acme.com"}, "subject", LintCode.HEADER_INJECTION),
    ({"subject": "Hi\u2028Bcc: all@acme.com"}, "subject", LintCode.HEADER_INJECTION),
    ({"subject": "Hi\x85there"}, "subject", LintCode.HEADER_INJECTION),
    ({"subject": "Hi\x00"}, "subject", LintCode.HEADER_INJECTION),
    ({"subject": "x" * (HEADER_LENGTH_MAX + 1)}, "subject", LintCode.HEADER_TOO_LONG),
    ({"subject": "Hi \ud83d"}, "subject", LintCode.NOT_TEXT),
    ({"body": "Hi \ud83d"}, "body", LintCode.NOT_TEXT),
    ({"intent": "a\nb"}, "intent", LintCode.HEADER_INJECTION),
    ({"intent": "\ud83d"}, "intent", LintCode.NOT_TEXT),
    ({"headers": {"X-Team": "a\rb"}}, "headers.X-Team", LintCode.HEADER_INJECTION),
    ({"headers": {"X-Team": "\ud83d"}}, "headers.X-Team", LintCode.NOT_TEXT),
    ({"headers": {"X Team": "a"}}, "headers.X Team", LintCode.BAD_HEADER_NAME),
    ({"headers": {"": "a"}}, "headers.", LintCode.BAD_HEADER_NAME),
    ({"headers": {"X-A\nBcc": "a"}}, "headers.X-A\nBcc", LintCode.BAD_HEADER_NAME),
    ({"headers": {"to": "b@acme.com"}}, "headers.to", LintCode.RESERVED_HEADER),
    ({"headers": {"Content-Type": "text/html"}}, "headers.Content-Type", LintCode.RESERVED_HEADER),
    ({"headers": {"Bcc": "b@acme.com"}}, "headers.Bcc", LintCode.SEVERAL_RECIPIENTS),
    ({"headers": {"X-A": "1", "x-a": "2"}}, "headers.x-a", LintCode.DUPLICATE_HEADER),
    ({"headers": {"Reply-To": "?:;q.:"}}, "headers.Reply-To", LintCode.BAD_HEADER),
    ({"refers_to": "<a@b>"}, "refers_to", LintCode.BAD_REFERENCE),
    ({"endpoint": Endpoint.REPLY}, "refers_to", LintCode.BAD_REFERENCE),
    ({"endpoint": Endpoint.REPLY, "refers_to": "a@b"}, "refers_to", LintCode.BAD_REFERENCE),
    ({**FORWARD, "refers_to": "<a@b>\r\nBcc: c@d"}, "refers_to", LintCode.BAD_REFERENCE),
    ({**FORWARD, "refers_to": "<é@b>"}, "refers_to", LintCode.BAD_REFERENCE),
    ({**FORWARD, "refers_to": f"<a@{'b' * 999}>"}, "refers_to", LintCode.BAD_REFERENCE),
    (
        {**FORWARD, "headers": {"references": "<c@d>"}},
        "headers.references",
        LintCode.RESERVED_HEADER,
    ),
    ({"body": "x" * 25_000_001}, "body", LintCode.TOO_LARGE),
    ({"body": "é" * 15_000_000}, "body", LintCode.TOO_LARGE),
    ({"headers": {"X-A": "x" * 30_000_000}}, "body", LintCode.TOO_LARGE),
]


def code_of(answer: object) -> Code | None:
    return answer.code if isinstance(answer, Refused) else None


@pytest.mark.parametrize(("fields", "field", "code"), FAULTS)
def test_each_fault_has_its_code_its_field_and_a_fix(
    fields: dict[str, Any], field: str, code: LintCode
) -> None:
    """spec: O6, I4"""
    (fault,) = LINT.faults(replace(GOOD, **fields))
    assert (fault.code, fault.field) == (code, field)
    assert fault.problem
    assert fault.fix == FIXES[code]


def test_every_code_has_a_fix_and_is_named_as_ever() -> None:
    """spec: O6"""
    assert set(FIXES) == set(LintCode)
    assert {code.value for code in LintCode} == {code.name.lower() for code in LintCode}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"to": "Jane <JANE.doe@acme.com.>\n"},
        {"subject": "Für Sie\tund alle"},
        {"subject": "x" * HEADER_LENGTH_MAX},
        {"body": ""},
        {"headers": {"X-Team": "sales", "Reply-To": "Sales <sales@acme.com>"}},
        {"headers": OWN},
        {"headers": {"References": "<a@b>"}},
        {**FORWARD, "headers": {"X-Team": "sales"}},
        {"body": "x" * 20_000_000},
    ],
)
def test_nothing_is_found_in_a_good_message(fields: dict[str, Any]) -> None:
    """spec: O6"""
    assert LINT.faults(replace(GOOD, **fields)) == ()


@pytest.mark.parametrize(("size", "fits"), [(100, True), (101, False)])
def test_the_size_limit_is_exact_in_bytes(size: int, fits: bool) -> None:
    """spec: O6"""
    lint = Lint(
        policy=replace(SHORT, largest_message_bytes=100), identity=Identity(SHORT.addresses)
    )
    message = replace(GOOD, subject="ab", body="é" * 40 + "x" * (size - 82))
    assert (lint.faults(message) == ()) is fits


def test_an_answer_carries_every_fault_and_its_fix(desk: Desk) -> None:
    """spec: O6, R"""
    message = desk.message(desk.lease(), to="nobody", subject="", headers={"Bcc": "b@acme.com"})
    refused = desk.mailbox().send(message)
    assert isinstance(refused, Refused)
    assert refused.code is Code.INVALID_ADDRESS
    assert refused.faults == ("bad_address", "missing_subject", "several_recipients")
    assert FIXES[LintCode.MISSING_SUBJECT] in refused.detail


@pytest.mark.parametrize(("fields", "field", "code"), FAULTS)
def test_what_has_a_fault_is_not_sent_and_not_stored(
    desk: Desk, fields: dict[str, Any], field: str, code: LintCode
) -> None:
    """spec: O6, R3"""
    lease = desk.lease()
    refused = desk.mailbox().send(desk.message(lease, **fields))
    assert isinstance(refused, Refused)
    assert refused.code is (Code.INVALID_ADDRESS if field == "to" else Code.INVALID_MESSAGE)
    assert refused.faults == (code,)
    assert not desk.transport.taken
    assert desk.mailbox().lookup("run:1:send") == Found(state=SendState.ABSENT)
    (record,) = desk.log("send")
    assert (record.decision, record.key) == (refused.code, "" if field == "to" else JANE)


def test_the_lint_comes_before_the_key_is_looked_at(desk: Desk) -> None:
    """Even a completed key, and one of a wrong format, are not looked at. spec: O6, K3"""
    _, message, _ = desk.sent()
    watch = Watch()
    listen(watch)
    for key in (message.key, "a b", None):
        refused = desk.mailbox().send(replace(message, key=key, subject=""))
        assert code_of(refused) is Code.INVALID_MESSAGE
    assert watch.passed == []


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_what_passes_can_be_written_as_a_header(text: str) -> None:
    """Whatever the text: found by the lint, or written, one header. spec: O6"""
    desk = Desk.in_memory()
    for fields in ({"subject": text}, {"headers": {"Reply-To": text}}, {"headers": {"X-A": text}}):
        desk.clock.advance_ms(60_000)
        answer = desk.mailbox().send(desk.message(desk.lease(), **fields))
        if isinstance(answer, Sent):
            mail = email.message_from_bytes(desk.transport.taken[-1].data)
            assert set(mail.keys()) <= {
                *("From", "To", "Subject", "Message-ID", "Date", "X-Leaserace-Intent"),
                *("List-Unsubscribe", "List-Unsubscribe-Post", "Reply-To", "X-A"),
                *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
            }
        else:
            assert code_of(answer) is Code.INVALID_MESSAGE


# -- the way out ---------------------------------------------------------------------------------


def headers_of(desk: Desk, **fields: Any) -> dict[str, str]:
    desk.sent(**fields)
    mail = email.message_from_bytes(desk.transport.taken[-1].data, policy=email.policy.SMTP)
    return {name: str(value).strip() for name, value in mail.items()}


def test_commercial_mail_carries_the_policys_opt_out(desk: Desk) -> None:
    """spec: C6"""
    headers = headers_of(desk)
    token = headers["Message-ID"].strip("<>").partition("@")[0]
    assert headers["List-Unsubscribe"] == (
        f"<https://mailbox.example.com/unsubscribe?m={token}>, "
        f"<mailto:unsubscribe@mailbox.example.com?subject=unsubscribe%20{token}>"
    )
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_an_opt_out_of_the_messages_own_stands_alone(desk: Desk) -> None:
    """spec: C6"""
    headers = headers_of(desk, headers=OWN)
    assert headers["List-Unsubscribe"] == OWN["List-Unsubscribe"]


def test_a_transactional_message_needs_and_gets_none(desk: Desk) -> None:
    """spec: C6"""
    desk.policy = replace(desk.policy, opt_out_url="", opt_out_address="")
    headers = headers_of(desk, kind=MessageKind.TRANSACTIONAL)
    assert not {name for name in headers if name.startswith("List-")}


@pytest.mark.parametrize(
    ("headers", "policy"),
    [
        ({}, {"opt_out_url": ""}),
        ({}, {"opt_out_url": "", "opt_out_address": ""}),
        ({"List-Unsubscribe": OWN["List-Unsubscribe"]}, {}),
        ({"List-Unsubscribe-Post": OWN["List-Unsubscribe-Post"]}, {}),
        ({**OWN, "List-Unsubscribe": "<mailto:out@acme.com>"}, {}),
        ({**OWN, "List-Unsubscribe-Post": "yes"}, {}),
    ],
)
def test_commercial_mail_without_a_one_click_opt_out_is_refused(
    desk: Desk, headers: dict[str, str], policy: dict[str, str]
) -> None:
    """spec: O6, C6"""
    desk.policy = replace(desk.policy, **policy)  # type: ignore[arg-type]
    refused = desk.mailbox().send(desk.message(desk.lease(), headers=headers))
    assert isinstance(refused, Refused)
    assert refused.faults == ("no_opt_out",)


@pytest.mark.parametrize(("address", "ways"), [("", 0), ("out@acme.com", 1)])
def test_a_policy_may_do_without(desk: Desk, address: str, ways: int) -> None:
    """Then it carries what the policy has. spec: O6, C6"""
    desk.policy = replace(
        desk.policy, commercial_needs_opt_out=False, opt_out_url="", opt_out_address=address
    )
    headers = headers_of(desk)
    assert sum(name.startswith("List-") for name in headers) == ways
