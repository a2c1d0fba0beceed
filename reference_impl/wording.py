"""Recognises that somebody wants no more mail, in clear English words (spec: O4, C6).

Only what the person wrote counts: what they quote, and a signature, do not. Words that merely
mention an opt-out ("how do our users unsubscribe?") are none; a whole message "stop" is one.
"""

from __future__ import annotations

import re

_QUOTE_BEGINS = re.compile(
    r"^(>|On .*wrote:\s*$|-- ?$|_{5,}|-{2,} ?(Original|Forwarded) |From: |Sent from my )",
    re.IGNORECASE,
)
_FIRST_LINES = 3
_SUBJECT_READ = 200
_LINE_READ = 500
_BODY_READ = 2_000_000
"""Nobody writes more by hand; what is larger is a quote or an attack."""
_NEGATION_READ = 60
_POLITE = r"(?:(?:please|kindly|hi|hello|just|now|thanks|thank you)[,.! ]*)*"
_WHOLE = re.compile(
    rf"{_POLITE}(?:stop(?: it| this| all)?|unsubscribe(?: me)?|opt[ -]?out|opt me out|cancel|"
    rf"remove(?: me)?|take me off|leave me alone|no more(?: e-?mails?| mails?)?)[ ,]*{_POLITE}"
)
_PHRASE = re.compile(
    r"\b(?:"
    r"(?:please|kindly) unsubscribe|unsubscribe (?:me|us)|"
    r"opt (?:me|us) out|(?:i|we)(?: would like|'d like| want| wish) to (?:opt[ -]?out|unsubscribe)|"
    r"(?:remove|take) (?:me|us|my (?:e-?mail|address|name)[a-z ]{0,20}) (?:from|off)|"
    r"stop (?:e-?mailing|mailing|contacting|writing(?: to)?|messaging|spamming) (?:me|us)|"
    r"stop sending (?:me|us)|"
    r"(?:do not|don't|never) (?:e-?mail|mail|contact|write(?: to)?|message) (?:me|us)|"
    r"(?:do not|don't) send (?:me|us) (?:any ?more|any further|more|further|these)|"
    r"no (?:more|further) (?:e-?mails|mails|messages)"
    r")\b"
)
_NEGATED = re.compile(r"\b(?:do not|don't|did not|didn't|never|not)(?: want (?:you )?to)? $")


def asks_to_stop(subject: str, body: str) -> bool:
    """Whether the message clearly asks for no more mail.

    Args:
        subject: Subject line.
        body: Plain text, quotes included.
    """
    lines = [_plain(line) for line in _own_lines(body)]
    first = [line for line in lines if line][:_FIRST_LINES]
    whole = [_plain(subject[:_SUBJECT_READ]), *first]
    return any(_WHOLE.fullmatch(line) for line in whole) or _says_so(" ".join(lines))


def _own_lines(body: str) -> list[str]:
    """What the person wrote, up to a quote or a signature."""
    lines = []
    for line in body[:_BODY_READ].splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        if _QUOTE_BEGINS.match(stripped[:_LINE_READ]):
            break
        lines.append(stripped)
    return lines


def _says_so(text: str) -> bool:
    """A phrase that asks, unless it is said not to be wanted."""
    begins = (found.start() for found in _PHRASE.finditer(text))
    return any(not _NEGATED.search(text[max(0, at - _NEGATION_READ) : at]) for at in begins)


def _plain(line: str) -> str:
    """Lower case, one apostrophe, single spaces, no closing marks."""
    return " ".join(line.lower().replace("\u2019", "'").split()).strip(" .!\"'*")
