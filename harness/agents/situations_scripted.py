"""Codes that only the agent's own doing brings about: answered once by a script (see `answering`)."""

from __future__ import annotations

from ..contract import Code
from .stage import Situation, Stage, refused

_FOR_REAL = frozenset(
    {
        Code.CONTACT_OWNED,
        Code.COOLDOWN_ACTIVE,
        Code.LEASE_EXPIRED,
        Code.STALE_FENCING_TOKEN,
        Code.SUPPRESSED,
        Code.SEND_STATUS_UNKNOWN,
        Code.STORE_BUSY,
        Code.SENDING_HALTED,
        Code.INVALID_ADDRESS,
    }
)
"""Codes that arise for real in `situations`."""
_TO_A_CLAIM = frozenset({Code.APPROVAL_REQUIRED})
"""Codes that a claim is answered with; all others answer a send."""


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


SCRIPTED = tuple(
    _situation("acquire" if code in _TO_A_CLAIM else "send", code)
    for code in Code
    if code not in _FOR_REAL
)
"""Situations whose answer a script gives: every code that no circumstance brings about."""
