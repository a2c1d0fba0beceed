"""The next action after each answer: what the action table of spec R does not allow (spec: A1)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from ..contract import Capability, Code, MessageKind
from ..history import Operation, OpType
from .agents_case import is_conflict, lease_refused_by
from .agents_draft import Draft
from .agents_slip import BLIND_RETRY, OLD_TOKEN, Act, Slip, repeats
from .claims import FOREVER, MS, may_precede

AT_ONCE_SHARE = 0.01
"""Who claims again within this share of a lease's length has waited for nothing (spec: R1)."""
ROUNDING_NS = MS
"""A wait is rounded to the millisecond."""

# -- at the begin of a call -------------------------------------------------------------------------


def before(act: Act) -> Iterable[Slip]:
    """What is wrong with a call that begins."""
    yield from _too_soon(act)
    if act.draft is None:
        return
    for check in (_without_grant, _cooling, _dead_token, _silenced, _not_looked_up):
        slip = check(act, act.draft)
        if slip is not None:
            yield slip


def _too_soon(act: Act) -> Iterable[Slip]:
    """`store_busy`: wait ``retry_after_s``, then ask again."""
    op = act.op
    busy = act.case.busy.get(op.f)
    if busy is None:
        return
    wait_s = busy.answer.get("retry_after_s") or 0.0
    waited_ns = op.invoked_ns - (busy.completed_ns or 0)
    if waited_ns + ROUNDING_NS + act.ledger.slack_ns(wait_s * 1e9) < wait_s * 1e9:
        what = (
            f"was told to wait {wait_s:g} s and called {op.f} again after {waited_ns / 1e9:.3g} s"
        )
        yield Slip(what=what, ops=(busy, op), habit=BLIND_RETRY)


def _without_grant(act: Act, draft: Draft) -> Slip | None:
    """`contact_owned`: nothing is sent without a grant."""
    case, op = act.case, act.op
    conflict = case.conflict
    if conflict is None:
        return None
    is_own = conflict.answer.get("owner") == op.agent and case.held is not None
    if is_own and draft.token in {None, case.held}:
        return None  # it asked twice and holds the contact itself (spec: L3)
    owner = conflict.answer.get("owner") or "somebody else"
    what = f"sent to {op.contact} after a conflict with {owner} and no grant since"
    return Slip(what=what, ops=(conflict, op))


def _cooling(act: Act, draft: Draft) -> Slip | None:
    """`cooldown_active`: nothing is sent before ``until``, by the store's clock."""
    cooling, op, ledger = act.case.cooling, act.op, act.ledger
    ahead_ms = act.seen.ahead_ms
    if cooling is None or ahead_ms is None or ledger.jumped:
        return None
    if draft.kind == MessageKind.TRANSACTIONAL and _kind(cooling) != MessageKind.TRANSACTIONAL:
        return None  # the policy may let it pass (spec: C2)
    if any(may_precede(each, op) for each in act.view.person.overrides):
        return None  # a person let it pass (spec: C4)
    latest_ms = op.invoked_ns / MS + ahead_ms + ledger.cooldown_slack_ns / MS
    early_ms = cooling.answer.get("until_ms", 0) - latest_ms
    if early_ms <= 0:
        return None
    what = f"sent to {op.contact} {early_ms:.0f} ms before the end of the cooldown it was told of"
    return Slip(what=what, ops=(cooling, op), habit=repeats(act, cooling))


def _dead_token(act: Act, draft: Draft) -> Slip | None:
    """`lease_expired`, `stale_fencing_token`, `not_holder`: never again under that token."""
    cause = act.case.dead.get(draft.token) if draft.token is not None else None
    if cause is None or (cause.f == "renew" and cause.type is OpType.FAIL):
        return None  # a renewal that failed is judged with the renewals
    why = f"{cause.f} was answered {cause.code}" if cause.code else _WHY_DEAD[cause.f]
    what = f"sent under token {draft.token} of {act.op.contact} although {why}"
    return Slip(what=what, ops=(cause, act.op), habit=OLD_TOKEN)


_WHY_DEAD = {"release": "it had given that lease back", "acquire": "it held a newer lease"}


def _silenced(act: Act, _: Draft) -> Slip | None:
    """`suppressed`: silence, whatever the lease, until the contact is taken off the list."""
    told, op = act.case.silenced, act.op
    if told is None:
        return None
    for lift in act.view.person.lifts:
        if may_precede(lift, op) and (lift.end or FOREVER) > told.begin:
            return None
    what = f"sent to {op.contact} although it knew that the contact is suppressed"
    return Slip(what=what, ops=(told, op), habit=repeats(act, told))


def _not_looked_up(act: Act, draft: Draft) -> Slip | None:
    """`send_status_unknown`, `send_in_progress`, no reply: look the key up before any retry."""
    letter = act.case.letter_of(draft)
    if letter is None or letter.unknown is None or Capability.LOOKUP not in act.capabilities:
        return None
    unknown, op = letter.unknown, act.op
    if letter.exists is not None:
        what = f"sent to {op.contact} again although the look-up told of a message id"
        return Slip(what=what, ops=(unknown, letter.exists, op), habit=repeats(act, unknown))
    told = unknown.code if unknown.answer.get("answer") == "Refused" else "no reply"
    what = f"sent to {op.contact} again after {told}, without a look-up"
    return Slip(what=what, ops=(unknown, op), habit=repeats(act, unknown))


def _kind(op: Operation) -> str:
    return Draft(op).kind


# -- at the end of a call: the same refusal again shows that nothing was corrected -------------------


def after(act: Act) -> Iterable[Slip]:
    """What is wrong with a call that was refused just as one before."""
    yield from _claimed_at_once(act)
    what = _must_change(act)
    if what is None:
        return
    op, process = act.op, act.process
    told = process.refused.get(what)
    process.refuse(what, op)
    if told is not None:
        said = f"was told {told.code} ({Code(told.code or '').meaning.next_action})"
        habit = BLIND_RETRY if act.draft is None else repeats(act, told)
        yield Slip(what=f"{said} and called {op.f} again", ops=(told, op), habit=habit)


def _claimed_at_once(act: Act) -> Iterable[Slip]:
    """`contact_owned`: a conflict is no error, so nothing is retried silently (spec: R1)."""
    op, case = act.op, act.case
    earlier = case.conflict
    if earlier is None or not is_conflict(op) or lease_refused_by(act.view) != case.lease:
        return
    waited_ns = op.invoked_ns - (earlier.completed_ns or 0)
    if waited_ns < AT_ONCE_SHARE * act.ledger.length_ms * MS:
        owner = op.answer.get("owner") or "another agent"
        what = f"claimed {op.contact} again at once, while the lease of {owner} lived on"
        yield Slip(what=what, ops=(earlier, op), habit=BLIND_RETRY)


def _must_change(act: Act) -> Hashable:
    """What must be another one before the call may be made again, or None."""
    about = _ABOUT.get(act.op.code or "")
    if about is None or (about is _until and act.seen.ahead_ms is not None):
        return None
    return (act.op.code, *about(act))


def _contact(act: Act) -> tuple[Hashable, ...]:
    return (act.op.f, act.op.contact)


def _key(act: Act) -> tuple[Hashable, ...]:
    return (act.draft.folded if act.draft else act.view.key,)


def _address(act: Act) -> tuple[Hashable, ...]:
    return (act.draft.to if act.draft else act.op.args.get("address"),)


def _message(act: Act) -> tuple[Hashable, ...]:
    """Everything a lint looks at, so not the key, the token and the intent."""
    message = act.op.args.get("message", {})
    items = sorted((name, repr(value)) for name, value in message.items() if name not in _NO_LINT)
    return tuple(items)


_NO_LINT = frozenset({"token", "key", "intent"})


def _conflict(act: Act) -> tuple[Hashable, ...]:
    """Of a claim, the lease it ran into; of a send, the contact."""
    lease = lease_refused_by(act.view) if act.op.f == "acquire" else None
    return (act.op.f, act.op.contact, lease)


def _until(act: Act) -> tuple[Hashable, ...]:
    """Where the store's clock is not known, the same ``until`` again shows that it was too early."""
    kind = act.draft.kind if act.draft else ""
    return (act.op.contact, kind, act.op.answer.get("until_ms"))


def _everything(act: Act) -> tuple[Hashable, ...]:
    return (act.op.f,)


_ABOUT: Mapping[str, Callable[[Act], tuple[Hashable, ...]]] = {
    Code.KEY_REUSED: _key,
    Code.KEY_INVALID: _key,
    Code.KEY_MISSING: _contact,
    Code.INVALID_ADDRESS: _address,
    Code.INVALID_MESSAGE: _message,
    Code.APPROVAL_REQUIRED: _conflict,
    Code.SENDING_HALTED: _everything,
    Code.NOT_AUTHORISED: _contact,
    Code.COOLDOWN_ACTIVE: _until,
}
"""Code to what must change; where that stays as it was, the agent repeats what was refused."""
