"""Looks at a message before its key is looked at, and says what to change (spec: O6).

Every fault has a stable code, the field it is in and a fix; an answer carries the codes of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8, EmailPolicy
from enum import StrEnum
from typing import Any

from leaserace.harness.contract import Endpoint, Message, MessageKind

from .identity import Identity, InvalidAddress
from .letters import OURS, THREAD, has_opt_out, offers_own_opt_out
from .policy import Policy
from .texts import CONTROL, is_text

HEADER_LENGTH_MAX = 998
"""What a line of a message may hold (RFC 5322)."""
FAULTS_MAX = 100
"""Faults told of one message; what has more is not looked at further."""
ENCODED_WORD = "=?"
"""Begins an encoded word (RFC 2047), which the email package decodes when a header is set."""
NAME_LENGTH_MAX = 76
"""Characters of a header's name: it stands on one line with its colon."""
_HEADER_NAME = re.compile(r"[!-9;-~]+")
_MESSAGE_ID = re.compile(r"<[!-;=?A-~]+@[!-;=?A-~]+>")
_RECIPIENT_HEADERS = frozenset({"cc", "bcc", "resent-to", "resent-cc", "resent-bcc"})


class LintCode(StrEnum):
    """What is wrong with a message; `FIXES` says what to do. Codes are never renamed (spec: O6)."""

    BAD_ADDRESS = "bad_address"
    SEVERAL_RECIPIENTS = "several_recipients"
    HEADER_INJECTION = "header_injection"
    MISSING_SUBJECT = "missing_subject"
    NOT_TEXT = "not_text"
    BAD_HEADER_NAME = "bad_header_name"
    RESERVED_HEADER = "reserved_header"
    DUPLICATE_HEADER = "duplicate_header"
    HEADER_TOO_LONG = "header_too_long"
    BAD_HEADER = "bad_header"
    TOO_LARGE = "too_large"
    NO_OPT_OUT = "no_opt_out"
    BAD_REFERENCE = "bad_reference"


FIXES: Mapping[LintCode, str] = {
    LintCode.BAD_ADDRESS: "correct the part of the address that is named",
    LintCode.SEVERAL_RECIPIENTS: "send to each recipient by itself, under a lease and key each",
    LintCode.HEADER_INJECTION: "take line breaks and control characters out",
    LintCode.MISSING_SUBJECT: "give a subject",
    LintCode.NOT_TEXT: "give whole characters",
    LintCode.BAD_HEADER_NAME: f"use at most {NAME_LENGTH_MAX} visible ASCII characters, no colon",
    LintCode.RESERVED_HEADER: "leave it out",
    LintCode.DUPLICATE_HEADER: "give each header once",
    LintCode.HEADER_TOO_LONG: f"use at most {HEADER_LENGTH_MAX} characters",
    LintCode.BAD_HEADER: "write it as RFC 5322 has it",
    LintCode.TOO_LARGE: "shorten it, or link to what is large",
    LintCode.NO_OPT_OUT: "set opt_out_url in the policy, or give List-Unsubscribe with an https "
    "address and List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    LintCode.BAD_REFERENCE: "give a reply or a forward, and nothing else, the Message-ID it is about",
}
"""The fix for each fault (spec: O6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that keeps a message from being sent.

    Args:
        code: Stable and machine-readable.
        field: ``to``, ``subject``, ``body``, ``intent``, ``refers_to`` or ``headers.<name>``, of which
            the first characters.
        problem: What is wrong, for a person.
    """

    code: LintCode
    field: str
    problem: str

    @property
    def fix(self) -> str:
        """What to do about it."""
        return FIXES[self.code]


class Lint:
    """Checks messages; a method for each kind of fault.

    Args:
        policy: The largest message, and whether commercial mail needs an opt-out.
        identity: What is an address.
    """

    def __init__(self, *, policy: Policy, identity: Identity) -> None:
        self._policy = policy
        self._identity = identity

    def faults(self, message: Message) -> tuple[Fault, ...]:
        """Everything that is wrong with the message, the recipient first; empty if nothing is."""
        found = [*self._address(message.to), *self._size(message)]
        if any(fault.code is LintCode.TOO_LARGE for fault in found):
            return tuple(found)  # the rest would be looked at for a long time
        found += self._texts(message)
        if message.headers:
            found += self._headers(message.headers)
        if message.endpoint is not Endpoint.SEND or message.refers_to is not None:
            found += self._thread(message)
        found += self._opt_out(message)
        return tuple(found[:FAULTS_MAX])

    def _address(self, to: str) -> Iterator[Fault]:
        """One address, and nothing that writes a header (spec: I4)."""
        if CONTROL.search(to.strip()):
            yield _injected("to", "the address")
            return
        try:
            self._identity.key(to)
        except InvalidAddress as error:
            several = sum("@" in part for part in re.split("[,;]", to)) > 1
            code = LintCode.SEVERAL_RECIPIENTS if several else LintCode.BAD_ADDRESS
            yield Fault(code=code, field="to", problem=str(error))

    def _size(self, message: Message) -> Iterator[Fault]:
        """Nobody takes a message without end; most servers stop at some ten million bytes."""
        most = self._policy.largest_message_bytes
        headers = sum(len(name) + len(value) for name, value in message.headers.items())
        size = len(message.subject) + headers + _bytes(message.body, most)
        if size > most:
            yield Fault(
                code=LintCode.TOO_LARGE,
                field="body",
                problem=f"the message has {size} bytes or more, and may have {most}",
            )

    def _texts(self, message: Message) -> Iterator[Fault]:
        """Subject, body and intent."""
        if not message.subject.strip():
            yield Fault(
                code=LintCode.MISSING_SUBJECT, field="subject", problem="the subject is missing"
            )
        for field in ("subject", "body", "intent"):
            text: str = getattr(message, field)
            if text.isascii() if field == "body" else _is_plain(text):
                continue  # nearly every message, and quickly
            if not is_text(text):
                yield Fault(
                    code=LintCode.NOT_TEXT,
                    field=field,
                    problem=f"the {field} holds half a character (a lone surrogate)",
                )
            if field != "body":
                yield from self._named_text(field, text)

    def _named_text(self, field: str, text: str) -> Iterator[Fault]:
        """A text that becomes a header of the mailbox's own."""
        faults = list(self._header_text(field, f"the {field}", text))
        if not faults and ENCODED_WORD in text and not _can_be_written("Subject", text):
            problem = f"the {field} can't be read: {text!r:.80}"
            faults.append(Fault(code=LintCode.BAD_HEADER, field=field, problem=problem))
        yield from faults

    def _headers(self, headers: Mapping[str, str]) -> Iterator[Fault]:
        """What is given stands once, is not the mailbox's own and can be written."""
        names: set[str] = set()
        for name, value in headers.items():
            faults = list(self._header(name, value))
            if name.lower() in names:
                faults.append(
                    _fault(LintCode.DUPLICATE_HEADER, name, f"{_header_named(name)} is given twice")
                )
            names.add(name.lower())
            if not faults and not _can_be_written(name, value):
                problem = f"{_header_named(name)} can't be read: {value!r:.80}"
                faults.append(_fault(LintCode.BAD_HEADER, name, problem))
            yield from faults

    def _header(self, name: str, value: str) -> Iterator[Fault]:
        what = _header_named(name)
        if len(name) > NAME_LENGTH_MAX or not _HEADER_NAME.fullmatch(name):
            why = "contains what a name can't" if len(name) <= NAME_LENGTH_MAX else "is too long"
            problem = f"header name {name!r:.80} {why}"
            yield _fault(LintCode.BAD_HEADER_NAME, name, problem)
            return
        if name.lower() in OURS or name.lower().startswith("content-"):
            yield _fault(LintCode.RESERVED_HEADER, name, f"{what} is set by the mailbox")
        if name.lower() in _RECIPIENT_HEADERS:
            yield _fault(LintCode.SEVERAL_RECIPIENTS, name, f"{what} names further recipients")
        if not is_text(value):
            problem = f"{what} holds half a character (a lone surrogate)"
            yield _fault(LintCode.NOT_TEXT, name, problem)
        yield from self._header_text(f"headers.{name}", what, value)

    def _header_text(self, field: str, what: str, text: str) -> Iterator[Fault]:
        """A line break would let the text write further headers, recipients among them."""
        if CONTROL.search(text) or _hides_control(text):
            yield _injected(field, what)
        if len(text) > HEADER_LENGTH_MAX:
            yield Fault(
                code=LintCode.HEADER_TOO_LONG,
                field=field,
                problem=f"{what} has {len(text)} characters",
            )

    def _thread(self, message: Message) -> Iterator[Fault]:
        """A reply or a forward names one message, and the mailbox writes the headers (spec: K8)."""
        about = message.refers_to or ""
        if message.endpoint is Endpoint.SEND:
            problem = f"a new message refers to {about!r:.80}"
            yield Fault(code=LintCode.BAD_REFERENCE, field="refers_to", problem=problem)
            return
        unfit = len(about) > HEADER_LENGTH_MAX or ENCODED_WORD in about
        if unfit or not _MESSAGE_ID.fullmatch(about):
            problem = f"the {message.endpoint} refers to {about!r:.80}, which is no Message-ID"
            yield Fault(code=LintCode.BAD_REFERENCE, field="refers_to", problem=problem)
        for name in message.headers:
            if name.lower() in THREAD:
                yield _fault(
                    LintCode.RESERVED_HEADER,
                    name,
                    f"header {name!r} is set by the mailbox: leave it out",
                )

    def _opt_out(self, message: Message) -> Iterable[Fault]:
        """A commercial message carries a one-click opt-out: the policy's or its own (spec: C6)."""
        if message.kind is not MessageKind.COMMERCIAL or not self._policy.commercial_needs_opt_out:
            return ()
        if has_opt_out(message) if offers_own_opt_out(message) else self._policy.opt_out_url:
            return ()
        problem = "a commercial message without a one-click opt-out"
        return (Fault(code=LintCode.NO_OPT_OUT, field="headers", problem=problem),)


def _fault(code: LintCode, name: str, problem: str) -> Fault:
    return Fault(code=code, field=f"headers.{name[:NAME_LENGTH_MAX]}", problem=problem)


def _header_named(name: str) -> str:
    return f"header {name!r:.80}"


def _injected(field: str, what: str) -> Fault:
    return Fault(
        code=LintCode.HEADER_INJECTION,
        field=field,
        problem=f"{what} contains a line break or another control character",
    )


def _is_plain(text: str) -> bool:
    """Whether nothing can be wrong with it as a header."""
    return len(text) <= HEADER_LENGTH_MAX and text.isprintable() and ENCODED_WORD not in text


def _hides_control(text: str) -> bool:
    """Whether it holds an encoded word that decodes to a line break or the like (RFC 2047).

    Older email packages write the break as it is: what stands behind it would be a header of its own
    (CVE-2024-6923).
    """
    if ENCODED_WORD not in text or len(text) > HEADER_LENGTH_MAX:
        return False
    mail = EmailMessage(policy=SMTPUTF8)
    mail["X-Text"] = text
    return bool(CONTROL.search(str(mail["X-Text"])))


def _bytes(text: str, most: int) -> int:
    """Its length in UTF-8; what is too long in characters already is not encoded."""
    ready = text.isascii() or len(text) > most
    return len(text) if ready else len(text.encode(errors="replace"))


def _can_be_written(name: str, value: str) -> bool:
    """Whether the email package can write it as one header, to servers of either kind."""
    return all(_is_one_header(name, value, policy) for policy in (SMTP, SMTPUTF8))


def _is_one_header(name: str, value: str, policy: EmailPolicy[Any]) -> bool:
    """What it can't write it raises on in many ways, or folds to a line that begins a header."""
    mail = EmailMessage(policy=policy)
    try:
        mail[name] = value
        lines = mail.as_bytes().splitlines()
    except Exception:  # noqa: BLE001 - an IndexError of its parser among them
        return False
    return all(line[:1] in {b" ", b"\t"} for line in lines[1:-1])
