"""Makes idempotency keys: the caller's own code does, never the model (spec: K1, K7).

There are two recipes::

    run_id : step : recipient : hash(subject + body)     one step of one run
    thread : recipient : campaign action                 one action of a campaign, whatever the run

A retry gives the same parts and so the same key; any other part makes another key. Two different
lists of parts never make one key, also after the mailbox has folded its case: what could be taken
for a delimiter, or for another letter, is escaped.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from .identity import InvalidAddress, contact_key
from .policy import Policy

DELIMITER = ":"
PART_LENGTH_MAX = 1000
"""Characters of a run id, step, thread or action."""
ESCAPED_LENGTH_MAX = 60
"""Longer parts of a key are cut and end in a digest: a key has at most 255 characters (spec: K3)."""
HEAD_LENGTH = 19
DIGEST_LENGTH = 40
_ESCAPE = re.compile(rb"[^a-z0-9@._+=-]")
"""Bytes that are escaped: delimiters, and capitals too, since keys differ by more than case (K3)."""


class InvalidPart(ValueError):  # noqa: N818 - it is what the part is
    """A key can't be made from this part.

    Attributes:
        field: Name of the argument that is wrong; the message begins with it.
    """

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


def step_key(
    *, run_id: str, step: str, recipient: str, subject: str, body: str, policy: Policy
) -> str:
    """The key of what one step of one run sends to one recipient (spec: K7).

    A restart keeps its run id, or it is another run and sends again (spec: O2). A step that writes to
    several recipients has a key for each.

    Args:
        run_id: Of the run; the same after a restart.
        step: Name of the step inside the run.
        recipient: Address in any spelling; all spellings of a contact make one key (spec: I1).
        subject: Subject line.
        body: Text; other text is another message.
        policy: Whose address rules hold.

    Raises:
        InvalidPart: It names the argument that can't be used.
    """
    return DELIMITER.join(
        (
            name_part("run_id", run_id),
            name_part("step", step),
            _escaped(_contact(recipient, policy)),
            _content_hash(_text("subject", subject), _text("body", body)),
        )
    )


def thread_key(*, thread: str, recipient: str, campaign_action: str, policy: Policy) -> str:
    """The key of one action of a campaign on one thread, whichever run gets there (spec: K7).

    It carries no text: a model that rewords the body on a retry meets `key_reused` and nothing
    leaves (spec: K4, X14).

    Args:
        thread: Id of the conversation, or of the contact's place in a campaign.
        recipient: Address in any spelling.
        campaign_action: Which message of which campaign, such as ``q3-renewal/reminder-1``.
        policy: Whose address rules hold.

    Raises:
        InvalidPart: It names the argument that can't be used.
    """
    return DELIMITER.join(
        (
            name_part("thread", thread),
            _escaped(_contact(recipient, policy)),
            name_part("campaign_action", campaign_action),
        )
    )


def name_part(field: str, value: str) -> str:
    """A name as a part of a key: no two names are one part, and none holds the delimiter (spec: K7).

    Args:
        field: What the name is called where it can't be used.
        value: The name.

    Raises:
        InvalidPart: The name can't be used.
    """
    return _escaped(_named(field, value))


def _named(field: str, value: str) -> str:
    """A name somebody chose: something must stand in it, and nothing that can't be seen in a log."""
    text = _text(field, value)
    if not text.strip():
        raise InvalidPart(field, "nothing stands in it: give a name")
    if len(text) > PART_LENGTH_MAX:
        raise InvalidPart(
            field, f"{len(text)} characters: give a name of at most {PART_LENGTH_MAX}"
        )
    if text != text.strip():
        raise InvalidPart(field, "white space before or after the name: strip it")
    if any(unicodedata.category(char) == "Cc" for char in text):
        raise InvalidPart(field, "a control character: leave it out")
    return text


def _text(field: str, value: object) -> str:
    """A text in its one composed form: what looks the same and is the same is one (NFC)."""
    if not isinstance(value, str):
        raise InvalidPart(field, f"{type(value).__name__}, not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidPart(field, "half a character (a lone surrogate): leave it out") from None
    return unicodedata.normalize("NFC", value)


def _contact(recipient: str, policy: Policy) -> str:
    """The recipient as the contact it is (spec: I1, I4)."""
    try:
        return contact_key(_text("recipient", recipient), policy).key
    except InvalidAddress as error:
        raise InvalidPart("recipient", str(error)) from error


def _escaped(text: str) -> str:
    """The text in characters that no delimiter, case folding or length limit can blur (spec: K3)."""
    escaped = _ESCAPE.sub(lambda found: b"%%%02x" % found[0][0], text.encode()).decode()
    if len(escaped) <= ESCAPED_LENGTH_MAX:
        return escaped
    # "~" is always escaped, so no short part looks like one that was cut.
    return f"{escaped[:HEAD_LENGTH]}~{_digest(text)[:DIGEST_LENGTH]}"


def _content_hash(subject: str, body: str) -> str:
    """One hash of both, which knows where the subject ends."""
    return _digest(f"{len(subject)}:{subject}{body}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
