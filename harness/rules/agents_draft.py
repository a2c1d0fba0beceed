"""What one call that sends says, and which calls are tries of one logical send (spec: A1).

Two calls of one agent are tries of one logical send if they go to the same contact and carry

- the same intent, where both carry one;
- else the same key with the same text or subject, or the same text or subject after a try of unknown
  outcome, or the same text after a restart. Two equal texts under two keys that were both answered may
  be two sends, so they are taken for two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..contract import INTENT_HEADER, MessageKind
from ..history import Operation, OpType
from .people import normal_key

_INTENT_TAG = re.compile(r"\[intent:([^\]]*)\]")


class Draft:
    """What one call of a sending method says.

    Attributes:
        op: The call.
        key: Its key as written; `folded` is what the mailbox compares (spec: K3).
        intent: Id of the logical send, or "".
        text, subject: Fingerprints of the text without its intent tag, and the subject line.
        token, kind, to: As in the message.
    """

    __slots__ = ("folded", "intent", "key", "kind", "op", "subject", "text", "to", "token")

    def __init__(self, op: Operation) -> None:
        message = op.args["message"]
        self.op = op
        self.key: str = message.get("key") or ""
        self.folded = normal_key(self.key)
        self.intent = _intent_of(message)
        self.subject: str = message.get("subject") or ""
        body = _INTENT_TAG.sub("", message.get("body") or "")
        about = (message.get("endpoint"), message.get("refers_to"))
        self.text = hash((self.subject, body, *about))
        self.token: int | None = message.get("token")
        self.kind: str = message.get("kind") or MessageKind.COMMERCIAL
        self.to: str = message.get("to") or ""

    def is_same_send(self, earlier: Draft) -> bool:
        """Whether `earlier` is a try of the same logical send."""
        if earlier.op.contact != self.op.contact:
            return False
        if self.intent and earlier.intent:
            return self.intent == earlier.intent
        alike = self.text == earlier.text
        named = bool(self.subject) and self.subject == earlier.subject
        if self.folded and self.folded == earlier.folded:
            return alike or named
        if process_of(self.op) != process_of(earlier.op):
            return alike
        return (alike or named) and earlier.op.type in {OpType.INFO, OpType.INVOKE}


def _intent_of(message: Mapping[str, Any]) -> str:
    """Id of the logical send, from wherever the receiving mailbox would read it too."""
    told: str = message.get("intent") or (message.get("headers") or {}).get(INTENT_HEADER, "")
    tag = None if told else _INTENT_TAG.search(message.get("body") or "")
    return tag[1] if tag else told


def draft_of(op: Operation) -> Draft | None:
    """The draft of a call that sends (`send` and whatever else takes a message), or None."""
    return Draft(op) if "message" in op.args else None


def process_of(op: Operation) -> tuple[str, str]:
    """Seat and incarnation of the process that made a call, from ``seat#incarnation.number``."""
    seat, _, number = op.process.rpartition("#")
    incarnation, dot, _ = number.partition(".")
    return (seat, incarnation if dot else "")
