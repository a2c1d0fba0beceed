"""Refusals that are met again because nothing was corrected (spec: A1, R, R1).

Whether something was corrected is seen in the call itself where it can be: the same key, text or address
again. Where only the answer shows it (a person may have let it pass meanwhile), the same refusal again
does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from ..contract import Code
from ..history import Operation
from .agents_case import is_conflict, lease_refused_by, leases_so_far
from .agents_slip import BLIND_RETRY, Act, Slip, repeats
from .claims import MS, may_precede

AT_ONCE_SHARE = 0.01
"""Who claims again within this share of a lease's length has waited for nothing (spec: R1)."""

About = Callable[[Act], tuple[Hashable, ...]]


def before(act: Act) -> Iterable[Slip]:
    """What is wrong with a call that begins: it was refused before, just as it is."""
    for code, about in _IN_THE_CALL.items():
        told = act.process.refused.get((code, *about(act)))
        if told is not None and not _is_let_pass(act, told):
            yield _repeated(act, told)


def after(act: Act) -> Iterable[Slip]:
    """What is wrong with a call that was refused, for a reason that was told before."""
    yield from _claimed_at_once(act)
    op, process = act.op, act.process
    code = op.code or ""
    if code in _IN_THE_CALL:
        process.refuse((code, *_IN_THE_CALL[code](act)), op)
    if code in _IN_THE_ANSWER and not (
        code == Code.COOLDOWN_ACTIVE and act.seen.ahead_ms is not None
    ):
        what = ("again", code, *_IN_THE_ANSWER[code](act))
        told = process.refused.get(what)
        process.refuse(what, op)
        if told is not None and not _was_seen_at_once(act, told):
            yield _repeated(act, told)


def _repeated(act: Act, told: Operation) -> Slip:
    said = f"was told {told.code} ({Code(told.code or '').meaning.next_action})"
    habit = BLIND_RETRY if act.draft is None else repeats(act, told)
    return Slip(what=f"{said} and called {act.op.f} again", ops=(told, act.op), habit=habit)


def _claimed_at_once(act: Act) -> Iterable[Slip]:
    """`contact_owned`: a conflict is no error, so nothing is retried silently (spec: R1)."""
    op, case = act.op, act.case
    earlier = case.conflict
    if earlier is None or not is_conflict(op) or lease_refused_by(act.view) != case.lease:
        return
    if earlier.code != Code.CONTACT_OWNED:
        return
    waited_ns = op.invoked_ns - (earlier.completed_ns or 0)
    if waited_ns < AT_ONCE_SHARE * act.ledger.length_ms * MS:
        owner = op.answer.get("owner") or "another agent"
        what = f"claimed {op.contact} again at once, while the lease of {owner} lived on"
        yield Slip(what=what, ops=(earlier, op), habit=BLIND_RETRY)


def _is_let_pass(act: Act, told: Operation) -> bool:
    """Whether what was refused may be asked again now.

    A claim that a person has to decide is no longer the same conflict when the lease it ran into has
    been followed by another one, or must have run out. A person may have let a send pass.
    """
    if told.code != Code.APPROVAL_REQUIRED:
        return False
    if act.op.f == "acquire":
        is_same = act.case.conflict is told and act.case.lease[1:] == leases_so_far(act.view)
        return not is_same or not _is_soon(act, told)
    return any(may_precede(each, act.op) for each in act.view.person.overrides)


def _is_soon(act: Act, told: Operation) -> bool:
    return act.op.invoked_ns - (told.completed_ns or 0) < act.ledger.length_ms * MS


def _was_seen_at_once(act: Act, told: Operation) -> bool:
    """Whether the begin of the call already showed it."""
    return told.code == Code.APPROVAL_REQUIRED and _is_soon(act, told)


# -- what must be another one before a call may be made again ------------------------------------------


def _contact(act: Act) -> tuple[Hashable, ...]:
    return (act.op.f, act.op.contact)


def _key(act: Act) -> tuple[Hashable, ...]:
    key = act.draft.key if act.draft else act.op.args.get("key")
    return (act.op.f, act.op.contact, key)


def _key_and_text(act: Act) -> tuple[Hashable, ...]:
    return (*_key(act), act.draft and act.draft.text)


def _address(act: Act) -> tuple[Hashable, ...]:
    return (act.draft.to if act.draft else act.op.args.get("address"),)


def _message(act: Act) -> tuple[Hashable, ...]:
    """Everything a lint looks at, so not the key, the token and the intent."""
    message = act.op.args.get("message", {})
    items = ((name, repr(value)) for name, value in message.items() if name not in _NO_LINT)
    return tuple(sorted(items))


_NO_LINT = frozenset({"token", "key", "intent"})

_IN_THE_CALL: Mapping[str, About] = {
    Code.KEY_REUSED: _key_and_text,
    Code.KEY_INVALID: _key,
    Code.KEY_MISSING: _key,
    Code.SEND_CANCELLED: _key,
    Code.INVALID_ADDRESS: _address,
    Code.INVALID_MESSAGE: _message,
    Code.NOT_AUTHORISED: _contact,
    Code.APPROVAL_REQUIRED: _contact,
}
"""Code to what of the call must change."""


def _conflict(act: Act) -> tuple[Hashable, ...]:
    return (*_contact(act), lease_refused_by(act.view) if act.op.f == "acquire" else None)


def _until(act: Act) -> tuple[Hashable, ...]:
    """Where the store's clock is not known, the same ``until`` again shows that it was too early."""
    return (act.op.contact, act.draft and act.draft.kind, act.op.answer.get("until_ms"))


def _method(act: Act) -> tuple[Hashable, ...]:
    return (act.op.f,)


_IN_THE_ANSWER: Mapping[str, About] = {
    Code.APPROVAL_REQUIRED: _conflict,
    Code.SENDING_HALTED: _method,
    Code.COOLDOWN_ACTIVE: _until,
}
"""Code to what is the same in a refusal that is met again."""
