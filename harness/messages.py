"""What an agent gives a mailbox to send; part of the contract, from where it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

INTENT_HEADER = "X-Leaserace-Intent"
"""Header in which a message carries its intent id; the sink also finds ``[intent:<id>]`` in a body."""


class MessageKind(StrEnum):
    """What a message is, for the rules that treat kinds differently (spec: C2, C6)."""

    COMMERCIAL = "commercial"
    TRANSACTIONAL = "transactional"


class Endpoint(StrEnum):
    """By which method of a mailbox a message is sent; all obey the same rules (spec: K8)."""

    SEND = "send"
    REPLY = "reply"
    FORWARD = "forward"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One logical send, reply or forward; a retry passes the same value again.

    Args:
        to: Recipient, as the agent spells it.
        subject: Subject line.
        body: Plain text.
        token: Fencing token of the lease it is sent under, or None where there are no leases.
        key: Idempotency key, or None.
        intent: Id of the logical send; the sink counts by it. It also stands in the body.
        kind: Commercial or transactional.
        headers: Further headers.
        endpoint: The method it is sent by; a history calls all of them a send.
        refers_to: Message-ID of what a reply answers, or of what a forward passes on.
    """

    to: str
    subject: str
    body: str
    token: int | None = None
    key: str | None = None
    intent: str = ""
    kind: MessageKind = MessageKind.COMMERCIAL
    headers: Mapping[str, str] = field(default_factory=dict)
    endpoint: Endpoint = Endpoint.SEND
    refers_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A message a contact wrote, as a webhook or a mailbox reader tells of it (spec: O4).

    Args:
        event_id: Its Message-ID; the same however often it is told of.
        sender: Who wrote.
        to: Which of our addresses it was written to.
        subject: Subject line.
        body: Plain text.
        received_at_ms: When it arrived, where that was before now (spec: C7).
    """

    event_id: str
    sender: str
    to: str = ""
    subject: str = ""
    body: str = ""
    received_at_ms: int | None = None
