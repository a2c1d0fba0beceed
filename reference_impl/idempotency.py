"""The idempotency key: one logical send, however often it is asked for (spec: K1-K6, K10)."""

from __future__ import annotations

import hashlib
import string

import msgspec

from leaserace.harness.contract import Message, Refused, SendState, Sent

from .outcomes import (
    Refusal,
    key_invalid,
    key_missing,
    key_reused,
    send_in_progress,
    send_unknown,
)
from .policy import Policy, ms
from .records import SendRow
from .stores.protocol import Transaction

KEY_LENGTH_MAX = 255
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
STATUS_SENT = 201
"""Status of the original answer; a replay repeats it (spec: K2)."""


def compared(name: str) -> str:
    """A key or a name in its compared form: what is told apart by more than case stays apart (spec: K3).

    Only ASCII is folded and stripped: beyond it "ß" would be "ss", and a ligature two letters.
    """
    text = name.strip(string.whitespace)
    return text.lower() if text.isascii() else text.translate(_LOWER)


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A send after step one: the contact is known, the key is in its compared form (spec: S1, K3).

    Args:
        message: As the agent gave it.
        contact: Recipient key.
        recipient: Envelope address.
        key: Idempotency key, normalised.
        fingerprint: Of the payload.
    """

    message: Message
    contact: str
    recipient: str
    key: str
    fingerprint: str


class Keys:
    """Looks keys up and says what their send came to; a method for each safeguard.

    Args:
        agent: Who asks; a key belongs to the mailbox, so it plays no part here (spec: K6).
        policy: The window.
    """

    __slots__ = ("_agent", "_policy")

    def __init__(self, agent: str, policy: Policy) -> None:
        self._agent = agent
        self._policy = policy

    def normalise(self, key: str | None) -> str:
        """The key as it is compared: outer white space stripped, case folded (spec: K3).

        Raises:
            Refusal: It is missing or its format is not allowed (spec: K3, K4).
        """
        text = "" if key is None else key.strip(string.whitespace)
        if key is None or not text:
            raise Refusal(key_missing())
        if len(text) > KEY_LENGTH_MAX:
            raise Refusal(key_invalid(text, f"longer than {KEY_LENGTH_MAX} characters"))
        # Before its case is folded: some letters that are not ASCII fold to ASCII ones.
        if not text.isascii() or not text.isprintable() or " " in text:
            raise Refusal(key_invalid(text, "only visible ASCII characters are allowed"))
        return self._compared(key)

    def _compared(self, key: str) -> str:
        """Two keys that differ in case or outer white space only are one (spec: K3)."""
        return compared(key)

    def fingerprint(self, contact: str, message: Message) -> str:
        """What must not change between tries: recipient, text, kind, headers, endpoint (spec: K4, X7).

        Neither the token nor the agent: a retry may come under a new lease (spec: K6).
        """
        headers = sorted((name.lower(), value) for name, value in message.headers.items())
        text = (message.subject, message.body, message.kind)
        payload = (contact, *text, headers, message.endpoint, message.refers_to)
        return hashlib.sha256(msgspec.json.encode(payload)).hexdigest()

    def find(self, tx: Transaction, key: str) -> SendRow | None:
        """The key's send, unless its window has closed (spec: K2, K5)."""
        row = tx.get(SendRow, key)
        return row if row is not None and self._in_window(row, tx.now_ms) else None

    def _in_window(self, row: SendRow, now_ms: int) -> bool:
        """The window of a delivered send is half open: its end is outside (spec: K5).

        Anything else has no end: what may have been handed over is never run again (spec: K10).
        """
        if row.state is not SendState.DELIVERED:
            return True
        return now_ms < row.settled_at_ms + ms(self._policy.key_window_s)

    def answer(self, row: SendRow, draft: Draft) -> Sent | Refused | None:
        """What a further try is told, or None if it may run: nothing was handed over (spec: K2)."""
        if not self._same_payload(row, draft):
            return key_reused(row)
        match row.state:
            case SendState.DELIVERED:
                return self._replay(row)
            case SendState.UNKNOWN:
                return self._still_unknown(row)
            case SendState.WITHDRAWN:
                return None
            case _:
                return send_in_progress(row)

    def _same_payload(self, row: SendRow, draft: Draft) -> bool:
        """One key, one payload (spec: K4)."""
        return row.fingerprint == draft.fingerprint

    def _replay(self, row: SendRow) -> Sent:
        """The original answer in full, marked as a replay (spec: K2)."""
        return Sent(message_id=row.message_id, status=STATUS_SENT, replay=True)

    def _still_unknown(self, row: SendRow) -> Refused | None:
        """Never run again by itself (spec: K10)."""
        return send_unknown(row)
