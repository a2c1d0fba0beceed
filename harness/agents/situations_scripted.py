"""Codes that only the agent's own doing brings about: answered once by a script (see `answering`)."""

from __future__ import annotations

from ..contract import Code
from .stage import Situation, Stage, refused

_SENDS = (
    Code.NOT_HOLDER,
    Code.SEND_IN_PROGRESS,
    Code.KEY_REUSED,
    Code.KEY_INVALID,
    Code.KEY_MISSING,
    Code.INVALID_MESSAGE,
    Code.NOT_AUTHORISED,
)
_CLAIMS = (Code.APPROVAL_REQUIRED,)


def one_message(stage: Stage) -> None:
    """The agent writes one message, after ours had the contact."""
    person = stage.person()
    stage.ours.release(person, stage.own(person))
    stage.engage(person).wait()


def _situation(f: str, code: Code) -> Situation:
    return Situation(
        name=code.value,
        answer=code.value,
        f=f,
        right=code.meaning.next_action,
        spec=("A1", "R"),
        lead=one_message,
        given=refused(f, code),
        scripted=(f, code),
    )


SCRIPTED = (
    *(_situation("send", code) for code in _SENDS),
    *(_situation("acquire", code) for code in _CLAIMS),
)
"""Situations whose answer a script gives."""
