"""The next action after each answer: what the action table of spec R does not allow (spec: A1)."""

from __future__ import annotations

from collections.abc import Iterable

from ..contract import Capability, MessageKind
from ..history import Operation
from .agents_draft import Draft
from .agents_slip import BLIND_RETRY, OLD_TOKEN, Act, Slip, repeats
from .claims import FOREVER, MS, may_precede

ROUNDING_NS = MS
"""A wait is rounded to the millisecond."""


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
    if cause is None or cause.f == "renew":
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
