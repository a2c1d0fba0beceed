"""A message on its way out: what may stand in it, and its bytes (spec: S8)."""

from __future__ import annotations

import re
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import formatdate

from leaserace.harness.contract import INTENT_HEADER, Message, Outgoing

from .idempotency import Draft
from .records import SendRow

_LINE_BREAK = re.compile(r"[\r\n\x00]")
_HEADER_NAME = re.compile(r"[!-9;-~]+")
OURS = frozenset(
    name.lower() for name in ("From", "To", "Subject", "Message-ID", "Date", INTENT_HEADER)
)
"""Headers the mailbox sets itself; others may be given."""


def problem_of(message: Message) -> str | None:
    """What keeps the message from being sent as it is, or None.

    A line break in a header would let its text write further headers, recipients among them.
    """
    if not _is_text(message.subject, message.body, *message.headers.values()):
        return "subject, body or a header holds half a character (a lone surrogate)"
    if _LINE_BREAK.search(message.subject):
        return "the subject contains a line break or NUL"
    if _LINE_BREAK.search(message.intent):
        return "the intent contains a line break or NUL"
    for name, value in message.headers.items():
        if not _HEADER_NAME.fullmatch(name):
            return f"header name {name!r} contains what a name can't"
        if name.lower() in OURS:
            return f"header {name!r} is set by the mailbox: leave it out"
        if _LINE_BREAK.search(value):
            return f"header {name!r} contains a line break or NUL"
    return None


def _is_text(*parts: str) -> bool:
    try:
        "".join(parts).encode()
    except UnicodeEncodeError:
        return False
    return True


class Letter(Outgoing):
    """An `Outgoing` whose bytes are made only when the transport asks for them.

    Args:
        sender: Envelope sender.
        draft: The message and its recipient.
        row: Its record, with the Message-ID.
    """

    __slots__ = ("_draft", "_row")

    _draft: Draft
    _row: SendRow

    def __init__(self, *, sender: str, draft: Draft, row: SendRow) -> None:
        put = object.__setattr__
        put(self, "sender", sender)
        put(self, "recipient", draft.recipient)
        put(self, "message_id", row.message_id)
        put(self, "intent", draft.message.intent)
        put(self, "_draft", draft)
        put(self, "_row", row)

    @property
    def data(self) -> bytes:
        """The message as it goes over the wire, CRLF and all."""
        message = self._draft.message
        mail = EmailMessage(policy=SMTP if self.recipient.isascii() else SMTPUTF8)
        mail["From"] = self.sender
        mail["To"] = self.recipient
        mail["Subject"] = message.subject
        mail["Message-ID"] = self.message_id
        # The store's clock, not the agent's (spec: L5).
        mail["Date"] = formatdate(self._row.authorized_at_ms / 1000)
        if self.intent:
            mail[INTENT_HEADER] = self.intent
        for name, value in message.headers.items():
            mail[name] = value
        mail.set_content(message.body)
        return mail.as_bytes()
