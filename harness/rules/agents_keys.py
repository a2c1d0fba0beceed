"""Keys of an agent under test: one for each logical send, the same at every try (spec: A1, K1, K7, K9).

Judged over all processes of an agent: a key that a restart changes is another key all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..contract import Code
from ..history import OpType
from .agents_draft import Draft, process_of
from .agents_slip import Act, Slip

TIME_IN_KEY = "time-in-key"
UUID_PER_CALL = "uuid-per-call"
MODEL_WRITES_KEY = "model-writes-key"
REWORDS_BODY = "rewords-body"
ONE_KEY_FOR_MANY = "one-key-for-many"
NEW_RUN_ID = "new-run-id"

_CORRECTED = frozenset(
    {
        Code.KEY_REUSED,
        Code.KEY_INVALID,
        Code.KEY_MISSING,
        Code.INVALID_MESSAGE,
        Code.INVALID_ADDRESS,
        Code.SEND_CANCELLED,
    }
)
"""Refusals after which the next try is to carry another key."""

_UUID = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}-?[0-9a-f]{4}-?[1-8][0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}"
    r"(?![0-9a-f])",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<!\d)("
    r"\d{9,19}(\.\d+)?"
    r"|\d{4}-?\d{2}-?\d{2}[T _]\d{2}:?\d{2}(:?\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?"
    r"|\d{4}-\d{2}-\d{2}"
    r"|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
    r")(?!\d)"
)
"""Seconds, milliseconds or finer since an epoch, a date, a time of day, or both."""


def before(act: Act) -> Iterable[Slip]:
    """What is wrong with the key of a send that begins: the newest earlier send that shows it."""
    draft = act.draft
    if draft is None:
        return
    for earlier in reversed(act.seen.drafts.get(act.op.agent, ())):
        slip = _compared(draft, earlier)
        if slip is not None:
            yield slip
            return


def _compared(draft: Draft, earlier: Draft) -> Slip | None:
    ops, contact = (earlier.op, draft.op), draft.op.contact
    if not draft.is_same_send(earlier):
        if not draft.folded or draft.folded != earlier.folded:
            return None
        what = f"used key {draft.key} for a send to {contact} and for another one before"
        return Slip(what=what, ops=ops, habit=ONE_KEY_FOR_MANY)
    if draft.key != earlier.key:
        if not earlier.key or _is_new_draft(draft, earlier):
            return None
        what = f"tried one send to {contact} again under key {draft.key or 'none'}, "
        return Slip(what=f"{what}not {earlier.key}", ops=ops, habit=habit_of(draft, earlier))
    if draft.key and draft.text != earlier.text:
        what = f"tried one send to {contact} again with other words under key {draft.key}"
        return Slip(what=what, ops=ops, habit=REWORDS_BODY)
    return None


def _is_new_draft(draft: Draft, earlier: Draft) -> bool:
    """Whether another key is right: the earlier one was refused, or nothing left and the text is new."""
    op = earlier.op
    if op.type is not OpType.FAIL or op.code == Code.SEND_IN_PROGRESS:
        return False
    return op.code in _CORRECTED or draft.text != earlier.text


def habit_of(draft: Draft, earlier: Draft) -> str:
    """What two keys of one logical send tell of how they were made, or ""."""
    one, two = earlier.key, draft.key
    if _folded(one) == _folded(two):
        return MODEL_WRITES_KEY
    if _UUID.search(one) and _UUID.sub("", one) == _UUID.sub("", two):
        return UUID_PER_CALL
    if _TIME.search(one) and _TIME.sub("", one) == _TIME.sub("", two):
        return TIME_IN_KEY
    if draft.text != earlier.text:
        return REWORDS_BODY
    (seat, number), (before_, number_before) = process_of(draft.op), process_of(earlier.op)
    return NEW_RUN_ID if seat == before_ and number != number_before else ""


def _folded(key: str) -> str:
    """Letters and digits only, in one case."""
    return "".join(filter(str.isalnum, key)).casefold()
