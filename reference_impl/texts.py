"""What a text may hold that is written to the log and shown in answers (spec: C1, C4, R3)."""

from __future__ import annotations

import re

from .outcomes import Refusal, event_unusable

REASON_LENGTH_MAX = 998
"""What a line of a message may hold (RFC 5322); each refusal of a suppressed contact shows its reasons."""
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Line breaks in every form, and what else can't stand in a header; a tab can."""


def is_text(text: str) -> bool:
    """Whether it is made of whole characters, so that it can be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_reason(reason: str, contact: str = "") -> None:
    """A reason is one line of whole characters, before anything is written.

    Raises:
        Refusal: It is too long, or holds what no line can.
    """
    if len(reason) > REASON_LENGTH_MAX:
        why = f"it has {len(reason)} characters, and may have {REASON_LENGTH_MAX}"
    elif CONTROL.search(reason):
        why = "it contains a line break or another control character"
    elif not is_text(reason):
        why = "it holds half a character (a lone surrogate)"
    else:
        return
    raise Refusal(event_unusable("the reason", why), contact)
