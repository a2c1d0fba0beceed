"""A message on its way out: its opt-out and its bytes (spec: S8, C6)."""

from __future__ import annotations

import re
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import formatdate

from leaserace.harness.contract import INTENT_HEADER, Endpoint, Message, MessageKind, Outgoing

from .idempotency import Draft
from .policy import Policy
from .records import SendRow

OURS = frozenset(
    name.lower()
    for name in ("From", "To", "Subject", "Message-ID", "Date", "MIME-Version", INTENT_HEADER)
)
"""Headers the mailbox sets itself; others may be given."""
THREAD = frozenset({"in-reply-to", "references"})
"""Headers the mailbox sets itself on a reply and on a forward."""
OPT_OUT_HEADER = "List-Unsubscribe"
ONE_CLICK_HEADER = "List-Unsubscribe-Post"
ONE_CLICK = "List-Unsubscribe=One-Click"
"""What the one-click form posts, and what announces it (RFC 8058)."""
_HTTPS = re.compile(r"<https://[^\s<>]+>", re.IGNORECASE)


def thread_headers(message: Message) -> dict[str, str]:
    """What joins a reply or a forward to the message it is about (RFC 5322; spec: K8)."""
    if message.refers_to is None:
        return {}
    headers = {"References": message.refers_to}
    if message.endpoint is Endpoint.REPLY:
        headers["In-Reply-To"] = message.refers_to
    return headers


def offers_own_opt_out(message: Message) -> bool:
    """Whether the message says itself how to opt out; the mailbox then adds nothing (spec: C6)."""
    if not message.headers:
        return False
    names = {name.lower() for name in message.headers}
    return bool(names & {OPT_OUT_HEADER.lower(), ONE_CLICK_HEADER.lower()})


def has_opt_out(message: Message) -> bool:
    """Whether the message itself carries an opt-out that takes one click (spec: C6)."""
    headers = {name.lower(): value.strip() for name, value in message.headers.items()}
    one_click = headers.get(ONE_CLICK_HEADER.lower()) == ONE_CLICK
    return one_click and bool(_HTTPS.search(headers.get(OPT_OUT_HEADER.lower(), "")))


def opt_out_token(message_id: str) -> str:
    """What an opt-out names the message by: it needs no further data of the recipient (spec: C6)."""
    return message_id.strip("<>").partition("@")[0]


def opt_out_headers(policy: Policy, message_id: str) -> dict[str, str]:
    """The policy's ways out of further mail, for one message (spec: C6).

    Args:
        policy: Its address and its page, each optional.
        message_id: Of the message.
    """
    token = opt_out_token(message_id)
    ways, headers = [], {}
    if policy.opt_out_url:
        ways.append(f"<{policy.opt_out_url}?m={token}>")
        headers[ONE_CLICK_HEADER] = ONE_CLICK
    if policy.opt_out_address:
        ways.append(f"<mailto:{policy.opt_out_address}?subject=unsubscribe%20{token}>")
    if ways:
        headers[OPT_OUT_HEADER] = ", ".join(ways)
    return headers


class Letter(Outgoing):
    """An `Outgoing` whose bytes are made only when the transport asks for them.

    Args:
        policy: The envelope sender, and how a recipient opts out.
        draft: The message and its recipient.
        row: Its record, with the Message-ID.
    """

    __slots__ = ("_draft", "_policy", "_row")

    _draft: Draft
    _policy: Policy
    _row: SendRow

    def __init__(self, *, policy: Policy, draft: Draft, row: SendRow) -> None:
        put = object.__setattr__
        put(self, "sender", policy.sender)
        put(self, "recipient", draft.recipient)
        put(self, "message_id", row.message_id)
        put(self, "intent", draft.message.intent)
        put(self, "_draft", draft)
        put(self, "_policy", policy)
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
        further = {**message.headers, **thread_headers(message), **self._opt_out()}
        for name, value in further.items():
            mail[name] = value
        mail.set_content(message.body)
        return mail.as_bytes()

    def _opt_out(self) -> dict[str, str]:
        """On commercial mail, unless it brings its own (spec: C6)."""
        message = self._draft.message
        if message.kind is not MessageKind.COMMERCIAL or offers_own_opt_out(message):
            return {}
        return opt_out_headers(self._policy, self.message_id)
