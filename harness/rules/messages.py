"""What a mailbox that looks at messages lets through (spec: O6, C6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..contract import Capability, Code, MessageKind
from ..history import Operation, OpType
from ..verdict import Finding
from .base import Rule
from .ledger import View

_FURTHER = frozenset({"cc", "bcc", "resent-to", "resent-cc", "resent-bcc"})
_OPT_OUT, _ONE_CLICK = "list-unsubscribe", "list-unsubscribe-post"
_NOT_ITS_OWN = ("token", "key")
"""What two tries of one message may differ in."""


class Fit(Rule):
    """A mailbox that refuses unfit messages refuses each of them, before it looks at anything else.

    Spec: O6, C6. Judged for a mailbox that named the faults of some message (`Refused.faults`). It
    acknowledges no message with a line break in its subject or a header, none that names further
    recipients, and no commercial one that offers an opt-out without its one-click form. What it found
    unfit once it finds unfit under every key, whatever the key, the lease or the list would say.

    Legal::

        sales-01 send key k, subject of one line   -> sent
        sales-01 send key k, subject of two lines  -> invalid_message, header_injection

    Illegal::

        sales-01 send key k, subject of one line   -> sent
        sales-01 send key k, subject of two lines  -> key_reused
        sales-01 send key l, subject of two lines  -> invalid_message, header_injection
    """

    name = "messages.fit"
    spec = ("O6", "C6")
    needs = frozenset({Capability.SEND})
    hears = frozenset({"send"})
    outcomes = frozenset({OpType.OK, OpType.FAIL})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._lints: Operation | None = None
        self._taken: list[tuple[Operation, str]] = []

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        faults = op.answer.get("faults")
        if faults:
            self.exercised += 1
            self._lints = self._lints or op
        elif op.type is OpType.OK:
            unfit = _unfit(op.args["message"])
            if unfit:
                self._taken.append((op, unfit))
        yield from self._compared(view)
        if self._lints is not None and self._taken:
            taken, self._taken = self._taken, []
            for each, unfit in taken:
                yield self.finding(
                    f"a message of {each.agent} to {each.contact} was acknowledged although {unfit}; "
                    f"this mailbox refuses others as unfit",
                    each,
                    self._lints,
                )

    def _compared(self, view: View) -> Iterable[Finding]:
        """The same message, found unfit once and answered otherwise another time."""
        intent = self.ledger.intents.get(view.intent)
        if intent is None or len(intent.tries) == 1:
            return
        op = view.op
        for other in intent.tries:
            if other.op is op or bool(other.op.answer.get("faults")) == bool(
                op.answer.get("faults")
            ):
                continue
            sound = op if other.op.answer.get("faults") else other.op
            if _is_looked_at(sound) and _content(op) == _content(other.op):
                yield self.finding(
                    f"one message of {op.agent} to {op.contact} was found unfit, and was answered "
                    f"{sound.code or 'sent'} under another key",
                    other.op,
                    op,
                )
                return

    def state(self) -> object:
        """Whether it refuses unfit messages, and how many it took before that was known."""
        return (self._lints is None, len(self._taken))


def _is_looked_at(op: Operation) -> bool:
    """Whether the target made anything of the message: a busy store looked at nothing."""
    return op.type in {OpType.OK, OpType.FAIL} and op.code != Code.STORE_BUSY


def _content(op: Operation) -> Mapping[str, Any]:
    message = op.args["message"]
    return {name: item for name, item in message.items() if name not in _NOT_ITS_OWN}


def _unfit(message: Mapping[str, Any]) -> str:
    """Why no mailbox that looks at messages lets this one through, or ""."""
    if not _is_line(message.get("subject") or ""):
        return "its subject holds a line break"
    headers = message.get("headers")
    if not headers:
        return ""
    names = {name.lower(): value for name, value in headers.items()}
    if not all(_is_line(value) for value in names.values()):
        return "a header of it holds a line break"
    if _FURTHER & names.keys():
        return "a header of it names further recipients"
    commercial = message.get("kind") != MessageKind.TRANSACTIONAL
    if commercial and _OPT_OUT in names and _ONE_CLICK not in names:
        return "its opt-out has no one-click form"
    return ""


def _is_line(text: str) -> bool:
    return text.isprintable() or not ("\n" in text or "\r" in text)
