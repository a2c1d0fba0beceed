"""The receiving mailbox: what it counts is the ground truth."""

from __future__ import annotations

import base64
import quopri
import smtplib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import pytest

from leaserace.harness.contract import INTENT_HEADER, UsageError
from leaserace.harness.faults import Behaviour
from leaserace.harness.history import DeliveryEvent, read_file
from leaserace.harness.processes.door import Door
from leaserace.harness.processes.remote import Mail
from leaserace.harness.sink import read_message

PLAIN = f"Message-ID: <1@x>\r\n{INTENT_HEADER}: intent-1\r\nSubject: s\r\n\r\nHello\r\n"


def encoded(encoding: str, body: bytes) -> bytes:
    head = f"Message-ID: <1@x>\r\nContent-Transfer-Encoding: {encoding}\r\n"
    return head.encode() + b"Content-Type: text/plain; charset=utf-8\r\n\r\n" + body


@pytest.mark.parametrize(
    "data",
    [
        PLAIN.encode(),
        b"Message-ID: <1@x>\r\n\r\nHello\r\n[intent:intent-1]\r\n",
        encoded("base64", base64.encodebytes("Grüße [intent:intent-1]".encode())),
        encoded("quoted-printable", quopri.encodestring(b"=" * 70 + b"[intent:intent-1]")),
        PLAIN.replace(INTENT_HEADER, INTENT_HEADER.lower()).encode(),
    ],
)
def test_the_intent_is_found_in_the_header_or_in_any_encoding_of_the_body(data: bytes) -> None:
    """spec: K7"""
    assert read_message(data) == ("intent-1", "<1@x>")


def test_the_intent_is_found_in_one_part_of_many() -> None:
    message = EmailMessage()
    message["Message-ID"] = "<1@x>"
    message.set_content("Hello\n[intent:intent-1]\n")
    message.add_alternative("<p>Hello</p>", subtype="html")
    message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream")
    assert read_message(message.as_bytes()) == ("intent-1", "<1@x>")


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"Subject: s\r\n\r\n[intent:]\r\n"])
def test_a_message_without_an_intent_is_taken_all_the_same(data: bytes) -> None:
    assert read_message(data) == ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    mail: Mail
    address: tuple[str, int]
    folder: Path

    def post(self, *recipients: str, data: str = PLAIN) -> None:
        with smtplib.SMTP(*self.address, local_hostname="test.example", timeout=5) as client:
            client.sendmail("sales-01@x.example", recipients, data.encode())

    def events(self, name: str) -> list[DeliveryEvent]:
        events, notices = read_file(self.folder / name)
        assert notices == []
        return [event for event in events if isinstance(event, DeliveryEvent)]


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    door = Door("tests.support.process_targets:Toy", tmp_path_factory.mktemp("door"), import_s=20.0)
    try:
        door.open()
        yield door
    finally:
        door.close()


@pytest.fixture
def sink(door: Door, tmp_path: Path) -> Iterator[Started]:
    mail = Mail(door.child(), tmp_path / "sink.log", host="127.0.0.1", port=0, within_s=10.0)
    started = Started(mail=mail, address=mail.address(), folder=tmp_path)
    mail.race(tmp_path / "one.jsonl")
    yield started
    mail.end()
    mail.process.end(2.0)


@pytest.mark.process
def test_what_arrives_is_written_down_before_it_is_acknowledged(sink: Started) -> None:
    """spec: S8"""
    before_ns = time.monotonic_ns()
    sink.post("jane@example.com")
    (event,) = sink.events("one.jsonl")
    assert before_ns < event.t < time.monotonic_ns()
    assert event == DeliveryEvent(
        t=event.t,
        intent="intent-1",
        recipient="jane@example.com",
        message_id="<1@x>",
        sender="sales-01@x.example",
    )


@pytest.mark.process
def test_each_recipient_is_one_delivery(sink: Started) -> None:
    """spec: X18"""
    sink.post("jane@example.com", "joe@example.com")
    assert [event.recipient for event in sink.events("one.jsonl")] == [
        "jane@example.com",
        "joe@example.com",
    ]
    assert sink.mail.count(intents=["intent-1"])["arrived"] == 2


@pytest.mark.process
def test_mail_is_counted_by_intent_or_by_recipient_and_never_twice(sink: Started) -> None:
    sink.post("jane@example.com")
    sink.post("jane@example.com")
    sink.post("Joe@Example.com", data="Subject: s\r\n\r\nno intent\r\n")
    assert sink.mail.count(intents=["intent-1"])["arrived"] == 2
    assert sink.mail.count(recipients=["joe@example.COM"])["arrived"] == 1
    both = sink.mail.count(intents=["intent-1"], recipients=["JANE@example.com"])
    assert both["arrived"] == 2
    assert sink.mail.count(awaited=["intent-1", "intent-2"]) == {
        "arrived": 0,
        "missing": 1,
        "under_way": 0,
    }


@pytest.mark.process
def test_each_race_counts_afresh_in_a_file_of_its_own(sink: Started) -> None:
    sink.post("jane@example.com")
    sink.mail.race(sink.folder / "two.jsonl")
    assert sink.mail.count(intents=["intent-1"])["arrived"] == 0
    sink.post("joe@example.com")
    assert [event.recipient for event in sink.events("one.jsonl")] == ["jane@example.com"]
    assert [event.recipient for event in sink.events("two.jsonl")] == ["joe@example.com"]


@pytest.mark.process
def test_silence_takes_the_message_and_drops_the_connection(sink: Started) -> None:
    """spec: S8, K10"""
    sink.mail.behave(Behaviour.SILENT, 0.0)
    with pytest.raises(smtplib.SMTPServerDisconnected):
        sink.post("jane@example.com")
    (event,) = sink.events("one.jsonl")
    assert not event.replied
    sink.mail.behave(Behaviour.ACCEPT, 0.0)
    sink.post("jane@example.com")
    assert [event.replied for event in sink.events("one.jsonl")] == [False, True]


@pytest.mark.process
def test_a_refusal_takes_nothing(sink: Started) -> None:
    """spec: S8"""
    sink.mail.behave(Behaviour.REFUSE, 0.0)
    with pytest.raises(smtplib.SMTPRecipientsRefused) as caught:
        sink.post("jane@example.com")
    assert caught.value.recipients["jane@example.com"][0] == 550
    assert sink.events("one.jsonl") == []


@pytest.mark.process
def test_a_slow_reply_comes_after_the_message_was_written_down(sink: Started) -> None:
    """spec: S8"""
    sink.mail.behave(Behaviour.SLOW, 0.1)
    begun_ns = time.monotonic_ns()
    sink.post("jane@example.com")
    (event,) = sink.events("one.jsonl")
    assert time.monotonic_ns() - event.t >= 100_000_000
    assert event.t > begun_ns


@pytest.mark.process
def test_a_new_race_begins_with_a_sink_that_accepts(sink: Started) -> None:
    sink.mail.behave(Behaviour.REFUSE, 0.0)
    sink.mail.race(sink.folder / "two.jsonl")
    sink.post("jane@example.com")
    assert len(sink.events("two.jsonl")) == 1


@pytest.mark.process
def test_a_client_that_hangs_up_half_way_delivers_nothing(sink: Started) -> None:
    client = smtplib.SMTP(*sink.address, local_hostname="test.example", timeout=5)
    client.ehlo()
    client.mail("sales-01@x.example")
    client.rcpt("jane@example.com")
    client.putcmd("data")
    client.getreply()
    client.send(b"Subject: s\r\n\r\nhalf a mess")
    client.close()
    sink.post("joe@example.com")
    assert [event.recipient for event in sink.events("one.jsonl")] == ["joe@example.com"]


@pytest.mark.process
def test_a_busy_port_is_a_clear_error(door: Door, sink: Started, tmp_path: Path) -> None:
    host, port = sink.address
    second = Mail(door.child(), tmp_path / "second.log", host=host, port=port, within_s=10.0)
    with pytest.raises(UsageError, match=f"can't listen at {host}:{port}: Address already in use"):
        second.address()
    second.process.end(2.0)
