"""The SMTP transport against a real server: what was refused, and what is not known."""

from __future__ import annotations

import asyncio
import email
import email.policy
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP

from leaserace.harness.clocks import SystemClock
from leaserace.harness.contract import (
    INTENT_HEADER,
    AgentContext,
    Environment,
    Lease,
    Message,
    NoAnswer,
    Outgoing,
    Refused,
    Rejected,
    Sent,
    Settings,
)
from leaserace.harness.sink_search import searchable
from leaserace.reference_impl.target import ReferenceTarget
from leaserace.reference_impl.transports.smtp import SmtpTransport
from tests.reference_impl.desk import JANE, Desk

TIMEOUT_S = 0.3
MAIL = Outgoing(
    sender="agents@mailbox.example.com",
    recipient=JANE,
    message_id="<1@mailbox.example.com>",
    intent="intent-1",
    data=b"Subject: Hi\r\n\r\nHello\r\n",
)


class Inbox:
    """An aiosmtpd handler that keeps envelopes; each step can answer otherwise, or not at all."""

    def __init__(self, **answers: str | Callable[[Any], str]) -> None:
        self.envelopes: list[Any] = []
        self._answers = answers

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        answer = self._answers.get("rcpt")
        if isinstance(answer, str):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.envelopes.append(envelope)
        answer = self._answers.get("data", "250 OK")
        if callable(answer):
            answer = answer(server)
        if answer == "silence":
            await asyncio.sleep(TIMEOUT_S * 2)
        return answer


def hang_up(server: Any) -> str:
    server.transport.abort()
    return "250 never seen"


class Asked(Controller):
    """A server that can be asked for a message."""

    def factory(self) -> SMTP:
        """What serves one connection."""
        return searchable(self.handler, lambda each: each == MAIL.message_id, "mail.example.com")()


@contextmanager
def serving(
    inbox: Inbox, *, kind: type[Controller] = Controller, search: bool = False, **options: Any
) -> Iterator[SmtpTransport]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    controller = kind(inbox, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield SmtpTransport("127.0.0.1", port, TIMEOUT_S, search=search)
    finally:
        controller.stop()


@pytest.mark.parametrize(
    ("kind", "search", "here", "elsewhere"),
    [(Asked, True, True, False), (Asked, False, None, None), (Controller, True, None, None)],
)
def test_a_server_that_offers_it_is_asked_for_a_message(
    kind: type[Controller], search: bool, here: bool | None, elsewhere: bool | None
) -> None:
    """spec: S9, K10: silence and a server that can't be asked settle nothing."""
    with serving(Inbox(), kind=kind, search=search) as transport:
        assert transport.find(MAIL.message_id) is here
        assert transport.find("<another@mailbox.example.com>") is elsewhere


def test_a_message_that_is_taken_is_taken_once() -> None:
    """spec: S8"""
    inbox = Inbox()
    with serving(inbox) as transport:
        transport.hand_over(MAIL)
    (envelope,) = inbox.envelopes
    assert (envelope.mail_from, envelope.rcpt_tos) == (MAIL.sender, [JANE])
    assert envelope.content == MAIL.data


def test_a_send_carries_its_ids_and_the_stores_date(desk: Desk) -> None:
    """spec: S8, L5"""
    inbox = Inbox()
    desk.clock.set_ms(1_700_000_000_000)
    with serving(inbox) as transport:
        desk.transport = transport  # type: ignore[assignment]
        lease = desk.lease()
        message = desk.message(
            lease, subject="Für Sie", body="Grüße, Jane\n", headers={"X-Team": "sales"}
        )
        sent = desk.mailbox().send(message)
    assert isinstance(sent, Sent)
    mail = email.message_from_bytes(inbox.envelopes[0].content, policy=email.policy.SMTP)
    assert mail["Message-ID"] == sent.message_id
    assert mail[INTENT_HEADER] == message.intent
    assert mail["Subject"] == "Für Sie"
    assert mail["X-Team"] == "sales"
    assert mail["To"] == JANE
    assert mail["Date"] == "Tue, 14 Nov 2023 22:13:20 -0000"
    assert mail.get_content().strip() == "Grüße, Jane"


def test_a_reply_and_a_forward_carry_the_thread(desk: Desk) -> None:
    """spec: K8"""
    inbox = Inbox()
    with serving(inbox) as transport:
        desk.transport = transport  # type: ignore[assignment]
        lease = desk.lease()
        for send in (desk.mailbox().reply, desk.mailbox().forward):
            assert isinstance(send(desk.message(lease, refers_to="<question@acme.com>")), Sent)
    reply, forward = (
        email.message_from_bytes(each.content, policy=email.policy.SMTP) for each in inbox.envelopes
    )
    assert (reply["In-Reply-To"], reply["References"]) == ("<question@acme.com>",) * 2
    assert (forward["In-Reply-To"], forward["References"]) == (None, "<question@acme.com>")


def test_the_target_sends_by_smtp_where_it_is_given_no_other_door(tmp_path: Path) -> None:
    inbox = Inbox()
    with serving(inbox) as transport:
        env = Environment(workdir=tmp_path, smtp=("127.0.0.1", transport.port), settings=Settings())
        runner = ReferenceTarget()
        runner.start(env)
        mailbox = runner.connect(
            AgentContext(id="sales-01", incarnation=0, env=env, clock=SystemClock())
        )
        lease = mailbox.acquire(JANE)
        assert isinstance(lease, Lease)
        message = Message(to=JANE, subject="Hi", body="Hello\n", token=lease.token, key="run:1")
        assert isinstance(mailbox.send(message), Sent)
        mailbox.close()
        runner.stop()
    assert len(inbox.envelopes) == 1


def test_a_message_without_an_intent_has_no_header_for_it(desk: Desk) -> None:
    inbox = Inbox()
    with serving(inbox) as transport:
        desk.transport = transport  # type: ignore[assignment]
        assert isinstance(desk.mailbox().send(desk.message(desk.lease(), intent="")), Sent)
    assert INTENT_HEADER.encode() not in inbox.envelopes[0].content


@pytest.mark.parametrize("takes_unicode", [True, False])
def test_a_unicode_address_needs_a_server_that_takes_it(desk: Desk, takes_unicode: bool) -> None:
    """spec: I3"""
    inbox = Inbox()
    with serving(inbox, enable_SMTPUTF8=takes_unicode) as transport:
        desk.transport = transport  # type: ignore[assignment]
        lease = desk.lease(address="josé@acme.com")
        answer = desk.mailbox().send(desk.message(lease, to="José@acme.com"))
    assert isinstance(answer, Sent) is takes_unicode
    if takes_unicode:
        assert inbox.envelopes[0].rcpt_tos == ["José@acme.com"]
    else:
        assert isinstance(answer, Refused)
        assert "ASCII" in answer.detail


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ({"rcpt": "550 no such person"}, "RCPT: 550"),
        ({"rcpt": "451 try later"}, "RCPT: 451"),
        ({"data": "554 refused"}, "DATA: 554"),
        ({"data": "452 full"}, "DATA: 452"),
    ],
)
def test_a_clear_no_means_that_nothing_was_taken(answers: dict[str, str], text: str) -> None:
    """spec: S8, S9"""
    with serving(Inbox(**answers)) as transport, pytest.raises(Rejected, match=text):
        transport.hand_over(MAIL)


def test_data_refused_before_the_message_is_a_clear_no(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server answers DATA itself with an error. spec: S8"""
    from aiosmtpd.smtp import SMTP

    async def refuse(self: Any, arg: str) -> None:
        await self.push("451 not now")

    monkeypatch.setattr(SMTP, "smtp_DATA", refuse)
    with serving(Inbox()) as transport, pytest.raises(Rejected, match="DATA: 451"):
        transport.hand_over(MAIL)


@pytest.mark.parametrize("data", ["silence", hang_up])
def test_no_answer_after_the_message_means_that_it_may_have_been_taken(data: Any) -> None:
    """spec: S8, K10"""
    inbox = Inbox(data=data)
    with serving(inbox) as transport, pytest.raises(NoAnswer, match="after DATA"):
        transport.hand_over(MAIL)
    assert len(inbox.envelopes) == 1


def test_a_server_that_is_not_there_took_nothing() -> None:
    """spec: S8"""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(Rejected, match="before DATA: ConnectionRefusedError"):
        SmtpTransport("127.0.0.1", port, TIMEOUT_S).hand_over(MAIL)


def test_a_server_that_never_greets_took_nothing() -> None:
    """spec: S8"""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        transport = SmtpTransport("127.0.0.1", mute.getsockname()[1], TIMEOUT_S)
        with pytest.raises(Rejected, match=r"before DATA: .*timed out"):
            transport.hand_over(MAIL)
