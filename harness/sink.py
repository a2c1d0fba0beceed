"""The receiving mailbox: a real SMTP server that writes down what arrives. It is the ground truth.

It runs in a process of its own. What the target says it sent is a claim; what is counted here is not.
"""

from __future__ import annotations

import asyncio
import email
import email.policy
import os
import re
from collections.abc import Callable, Mapping
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .clocks import monotonic_ns
from .contract import INTENT_HEADER
from .faults import Behaviour
from .history import DeliveryEvent, Writer
from .processes import wire

if TYPE_CHECKING:
    from aiosmtpd.smtp import SMTP, Envelope, Session

_INTENT = re.compile(r"\[intent:([^\]\s]+)\]")
_NAME = "sink.leaserace.invalid"


def read_message(data: bytes) -> tuple[str, str]:
    """Find a message's intent and its Message-ID.

    Args:
        data: The message as it arrived.

    Returns:
        Intent id ("" if it carries none) and Message-ID ("" if it has none).
    """
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    message_id = _header(message, "Message-ID")
    return _header(message, INTENT_HEADER) or _intent_in_body(data), message_id


def _header(message: Message, name: str) -> str:
    value = message[name]
    return "" if value is None else str(value).strip()


def _intent_in_body(data: bytes) -> str:
    """The intent that stands in a text part, whatever its transfer encoding."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    for part in message.walk():
        if part.get_content_maintype() != "text":
            continue
        payload = part.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else str(payload)
        if found := _INTENT.search(text):
            return found.group(1)
    return ""


class Deliveries:
    """What arrived in the race under way."""

    def __init__(self) -> None:
        self._writer: Writer | None = None
        self._arrived: list[tuple[str, str]] = []
        self._message_ids: set[str] = set()
        self.under_way = 0
        """Messages being taken at this moment."""

    def race(self, path: Path) -> None:
        """Count afresh, and write to another file from now on."""
        if self._writer is not None:
            self._writer.close()
        self._writer = Writer(path)
        self._arrived.clear()
        self._message_ids.clear()

    def add(self, event: DeliveryEvent) -> None:
        """Write one down before anybody is told that it was taken."""
        if self._writer is not None:
            self._writer(event)
        self._arrived.append((event.intent, event.recipient.lower()))
        self._message_ids.add(event.message_id)

    def has(self, message_id: str) -> bool:
        """Whether a message of this Message-ID arrived."""
        return message_id in self._message_ids

    def counted(self, ask: wire.Count) -> dict[str, int]:
        """How many arrived, how many that are awaited did not, how many are being taken."""
        intents, recipients = set(ask.intents), {each.lower() for each in ask.recipients}
        arrived = sum(
            intent in intents or recipient in recipients for intent, recipient in self._arrived
        )
        missing = len(set(ask.awaited) - {intent for intent, _ in self._arrived})
        return {"arrived": arrived, "missing": missing, "under_way": self.under_way}


class Handler:
    """What the server does with a message, by the behaviour in force."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries
        self._behaviour = Behaviour.ACCEPT
        self._slow_s = 0.0

    def behave(self, behaviour: Behaviour, slow_s: float) -> None:
        """Change what it does from now on."""
        self._behaviour = behaviour
        self._slow_s = slow_s

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's hook
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        """Take a recipient, or refuse it for good."""
        if self._behaviour is Behaviour.REFUSE:
            return "550 5.7.1 this mailbox refuses for the test"
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's hook
        self,
        server: SMTP,
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        """Write the message down, then reply as the behaviour says."""
        behaviour = self._behaviour
        self._deliveries.under_way += 1
        try:
            self._write_down(envelope, replied=behaviour is not Behaviour.SILENT)
            if behaviour is Behaviour.SLOW:
                await asyncio.sleep(self._slow_s)
        finally:
            self._deliveries.under_way -= 1
        if behaviour is Behaviour.SILENT and isinstance(server.transport, asyncio.Transport):
            server.transport.abort()
        return "250 2.0.0 OK"

    def _write_down(self, envelope: Envelope, *, replied: bool) -> None:
        content = envelope.content
        data = content.encode() if isinstance(content, str) else bytes(content or b"")
        intent, message_id = read_message(data)
        for recipient in envelope.rcpt_tos:
            self._deliveries.add(
                DeliveryEvent(
                    t=monotonic_ns(),
                    intent=intent,
                    recipient=recipient,
                    message_id=message_id,
                    sender=envelope.mail_from or "",
                    replied=replied,
                )
            )


class Sink:
    """The server and its control pipe, on one event loop and in one thread.

    Args:
        connection: Pipe to the coordinator.
        host: Address to listen at.
        port: Port to listen at; 0 for any that is free.
        searchable: Answer who asks for a message by its Message-ID; plain SMTP can't.
    """

    def __init__(
        self, connection: wire.Connection, host: str, port: int, *, searchable: bool = False
    ) -> None:
        self._connection = connection
        self._where = (host, port)
        self._searchable = searchable
        self._deliveries = Deliveries()
        self._handler = Handler(self._deliveries)

    async def serve(self) -> None:
        """Serve until told to end, or until the coordinator is gone."""
        loop = asyncio.get_running_loop()
        host, port = self._where
        try:
            server = await loop.create_server(self._protocol(), host, port)
        except OSError as error:
            why = f"the receiving mailbox can't listen at {host}:{port}: {os.strerror(error.errno or 0)}"
            wire.send(self._connection, wire.Failed(why=why + "; choose another port", usage=True))
            return
        self._ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._connection.fileno(), self._obey)
        port = server.sockets[0].getsockname()[1]
        wire.send(self._connection, wire.Ready(data={"host": host, "port": port}))
        try:
            await self._ended
        finally:
            server.close()

    def _protocol(self) -> Callable[[], SMTP]:
        """What makes the protocol of each connection."""
        if self._searchable:
            from .sink_search import searchable

            return searchable(self._handler, self._deliveries.has, _NAME)
        from aiosmtpd.smtp import SMTP

        return lambda: SMTP(self._handler, hostname=_NAME, enable_SMTPUTF8=True, ident=_NAME)

    def _obey(self) -> None:
        """Do what the coordinator says; its end is the sink's end."""
        try:
            command = wire.next_command(self._connection)
            reply = self._answer(command)
            if reply is not None:
                wire.send(self._connection, reply)
        except (EOFError, OSError):
            command = wire.End()
        if isinstance(command, wire.End) and not self._ended.done():
            asyncio.get_running_loop().remove_reader(self._connection.fileno())
            self._ended.set_result(None)

    def _answer(self, command: wire.Command) -> wire.Reply | None:
        match command:
            case wire.Race(path=path):
                self._deliveries.race(Path(path))
                return wire.Told()
            case wire.Behave(behaviour=behaviour, slow_s=slow_s):
                self._handler.behave(Behaviour(behaviour), slow_s)
                return wire.Told()
            case wire.Count():
                return wire.Told(value=self._deliveries.counted(command))
            case wire.End():
                return wire.Ended()
            case _:
                return None


def main(connection: wire.Connection, orders: Mapping[str, Any]) -> None:
    """Run a sink in this process until told to end."""
    searchable = bool(orders.get("searchable"))
    asyncio.run(Sink(connection, orders["host"], orders["port"], searchable=searchable).serve())
