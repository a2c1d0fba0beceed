"""A receiving mailbox that can be asked for a message by its Message-ID."""

from __future__ import annotations

import smtplib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leaserace.harness.contract import Outgoing
from leaserace.harness.processes.door import Door
from leaserace.harness.processes.remote import Mail
from leaserace.reference_impl.transports.smtp import SmtpTransport

pytestmark = pytest.mark.process

MAIL = Outgoing(
    sender="agents@x.example",
    recipient="jane@example.com",
    message_id="<1@x.example>",
    intent="i",
    data=b"Message-ID: <1@x.example>\r\nSubject: s\r\n\r\nHello\r\n",
)
Start = Callable[[bool], tuple[Mail, SmtpTransport]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    door = Door("tests.support.process_targets:Toy", tmp_path / "door", import_s=20.0)

    def start_(searchable: bool) -> tuple[Mail, SmtpTransport]:
        mail = Mail(
            door.child(),
            tmp_path / "sink.log",
            host="127.0.0.1",
            port=0,
            within_s=10.0,
            searchable=searchable,
        )
        host, port = mail.address()
        mail.race(tmp_path / "one.jsonl")
        return mail, SmtpTransport(host, port, 2.0, search=True)

    try:
        door.open()
        yield start_
    finally:
        door.close()


def test_it_says_which_messages_are_there_and_forgets_them_with_the_race(
    start: Start, tmp_path: Path
) -> None:
    """spec: S8, K10"""
    mail, transport = start(True)
    assert transport.find(MAIL.message_id) is False
    transport.hand_over(MAIL)
    assert transport.find(MAIL.message_id) is True
    assert transport.find("<2@x.example>") is False
    mail.race(tmp_path / "two.jsonl")
    assert transport.find(MAIL.message_id) is False


def test_plain_smtp_cannot_be_asked(start: Start) -> None:
    """Then an unknown send stays unknown (spec: K10)."""
    _, transport = start(False)
    transport.hand_over(MAIL)
    assert transport.find(MAIL.message_id) is None
    with smtplib.SMTP("127.0.0.1", transport.port, timeout=5) as client:
        assert client.docmd("XFIND", MAIL.message_id)[0] == 500


def test_nobody_asks_unless_told_to() -> None:
    assert SmtpTransport("127.0.0.1", 1, 0.1).find(MAIL.message_id) is None


def test_a_server_that_is_not_there_tells_nothing() -> None:
    with pytest.raises(OSError, match="refused"):
        SmtpTransport("127.0.0.1", 1, 0.5, search=True).find(MAIL.message_id)
