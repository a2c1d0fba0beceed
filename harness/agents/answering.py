"""Answers that no circumstance brings about: a thin mailbox in front of the real one gives them, once.

Most answers of spec R arise for real in a situation. These depend on what the agent itself does (a
key that is missing, a message that can't be sent), or on policies no race sets. So the first call of one
method is answered by a script, and everything after it by the real mailbox. Such a situation is judged
by the rules about agents only, since its history holds an answer the mailbox did not give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..contract import Code, Mailbox, Refused

DETAILS: Mapping[Code, str] = {
    Code.SEND_IN_PROGRESS: "a try under this key is still under way",
    Code.KEY_REUSED: "this key was used for another payload; nothing was sent",
    Code.KEY_INVALID: "key: 1 to 255 printable characters are allowed",
    Code.KEY_MISSING: "key: it is missing",
    Code.INVALID_MESSAGE: "subject: it is longer than 78 characters; shorten it",
    Code.APPROVAL_REQUIRED: "the same conflict was met too often: a person has to decide",
    Code.NOT_AUTHORISED: "this credential may not send to this contact",
    Code.NOT_HOLDER: "the caller does not hold this lease",
}
"""What a scripted refusal says, where the code's own words are too few."""
FAULTS: Mapping[Code, tuple[str, ...]] = {Code.INVALID_MESSAGE: ("subject_too_long",)}


class Answering:
    """A mailbox whose first call of one method is answered by a script.

    Args:
        inner: The real one.
        f: The method.
        code: What its first call is refused with.
    """

    def __init__(self, inner: Mailbox, f: str, code: Code) -> None:
        self._inner = inner
        self._f = f
        self._code = code
        self._left = 1

    def __getattr__(self, name: str) -> Any:
        if name == self._f and self._left:
            return self._answer
        return getattr(self._inner, name)

    def _answer(self, *args: Any, **_: Any) -> Any:
        self._left -= 1
        if self._code is Code.NOT_HOLDER:
            return self._without_lease(*args)
        return Refused(
            code=self._code,
            detail=DETAILS.get(self._code, self._code.meaning.when),
            reasons=(self._code,),
            faults=FAULTS.get(self._code, ()),
        )

    def _without_lease(self, message: Any) -> Any:
        """A replica of the same agent has released the lease: then the real mailbox says the rest."""
        self._inner.release(message.to, message.token or 0)
        return self._inner.send(message)


def answering(f: str, code: Code) -> Callable[[Mailbox], Mailbox]:
    """What puts such a mailbox in front of another one."""

    def put_before(inner: Mailbox) -> Mailbox:
        made: Mailbox = Answering(inner, f, code)
        return made

    return put_before
