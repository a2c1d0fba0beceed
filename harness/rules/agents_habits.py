"""Habits that show in what an agent does over a longer time, not in one next action (spec: A3, C3, O3)."""

from __future__ import annotations

from collections.abc import Iterable

from ..history import OpType
from .agents_slip import DAILY_AFTER_WINDOW, Act, Slip
from .claims import MS

OPT_OUT_LATE = "opt-out-late"


def before(act: Act) -> Iterable[Slip]:
    """What a call that begins shows."""
    yield from _after_the_window(act)
    yield from _opt_out_late(act)


def _after_the_window(act: Act) -> Iterable[Slip]:
    """A send that was acknowledged is made again under its key when the window has closed (K5, O3)."""
    letter = act.case.letter_of(act.draft) if act.draft is not None else None
    sent = letter.sent if letter is not None else None
    if sent is None or act.draft is None or sent.args["message"].get("key") != act.draft.key:
        return
    if act.op.invoked_ns - (sent.completed_ns or 0) >= act.ledger.window_ns:
        what = f"sent to {act.op.contact} again under {act.draft.key or 'no key'}, acknowledged "
        what += "before, after the key's window had closed"
        yield Slip(what=what, ops=(sent, act.op), habit=DAILY_AFTER_WINDOW)


def _opt_out_late(act: Act) -> Iterable[Slip]:
    """An opt-out is written to the list before the lease is released (spec: C3, O4).

    When an opt-out came in stands in no history. One that is written right after a release, with
    nothing else done on the contact between and within a lease's length, is taken for a late one.
    """
    op, last = act.op, act.case.last
    if op.f != "suppress" or last is None or last.f != "release" or last.type is not OpType.OK:
        return
    if op.invoked_ns - (last.completed_ns or 0) < act.ledger.length_ms * MS:
        what = f"gave its lease on {op.contact} back before it wrote the opt-out to the list"
        yield Slip(what=what, ops=(last, op), habit=OPT_OUT_LATE)
