"""One clock decides: the store's (spec: L5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..history import FaultEvent, OpType
from ..verdict import Finding
from .base import Rule
from .claims import FOREVER
from .ledger import View

TOLERANCE_NS = 250_000_000
"""How far a real store's clock may be corrected in a race; agents are skewed by much more."""
VIRTUAL_TOLERANCE_NS = 1_000_000
LENGTH_TOLERANCE_MS = 50


class _Bounds:
    """Between which bounds one agent's answers place the store's clock against the history's."""

    __slots__ = ("agent", "high_ns", "high_op", "low_ns", "low_op")

    def __init__(self, agent: str, low_ns: int, high_ns: int, view: View) -> None:
        self.agent = agent
        self.low_ns = low_ns
        self.high_ns = high_ns
        self.low_op = self.high_op = view.op


class StoreDecides(Rule):
    """All times that answers carry come from one clock, and every lease has the length asked for.

    Spec: L5, L3, L6. An answer with the store's time ``s`` to a call between ``i`` and ``c`` by the
    history's clock says that the store is ahead of it by something between ``s - c`` and ``s - i``.
    Of all agents' answers these bounds must have a common point, give or take 250 ms. A skewed
    agent's own clock in an answer stands out at once. Where a fault moves the store's clock, the
    bounds start anew.

    Legal::

        sales-01, an hour ahead  acquire at 10.0 s -> acquired at 12:00:10
        support-01               acquire at 20.0 s -> acquired at 12:00:20

    Illegal::

        sales-01, an hour ahead  acquire at 10.0 s -> acquired at 13:00:10
        support-01               acquire at 20.0 s -> acquired at 12:00:20
    """

    name = "clock.store_decides"
    spec = ("L5", "L3", "L6")
    hears = frozenset(
        {"acquire", "renew", "suppress", "unsuppress", "override", "receive", "note_contact"}
    )
    outcomes = frozenset({OpType.OK})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        virtual = self.info.clock == "virtual"
        self._tolerance_ns = VIRTUAL_TOLERANCE_NS if virtual else TOLERANCE_NS
        self._bounds: dict[str, _Bounds] = {}
        self._told: set[tuple[str, str]] = set()
        self._since_ns = -1

    def struck(self, event: FaultEvent) -> Iterable[Finding]:
        if event.fault == "store_clock":
            self._bounds.clear()
            self._since_ns = event.t
        return ()

    def completed(self, view: View) -> Iterable[Finding]:
        if view.op.invoked_ns <= self._since_ns:
            return
        at_ms, is_now = _store_time(view)
        if at_ms:
            self.exercised += 1
            yield from self._place(view, at_ms, is_now=is_now)
        if view.op.f in {"acquire", "renew"}:
            yield from self._length(view)

    def _place(self, view: View, at_ms: int, *, is_now: bool) -> Iterator[Finding]:
        op = view.op
        completed_ns = op.completed_ns or op.invoked_ns
        low_ns = at_ms * 1_000_000 - completed_ns
        high_ns = (at_ms + 1) * 1_000_000 - op.invoked_ns if is_now else FOREVER
        mine = self._bounds.get(op.agent)
        if mine is None:
            self._bounds[op.agent] = mine = _Bounds(op.agent, low_ns, high_ns, view)
        if low_ns > mine.low_ns:
            mine.low_ns, mine.low_op = low_ns, op
        if high_ns < mine.high_ns:
            mine.high_ns, mine.high_op = high_ns, op
        for other in self._bounds.values():
            for ahead, behind in ((mine, other), (other, mine)):
                gap_ns = ahead.low_ns - behind.high_ns
                if gap_ns > self._tolerance_ns:
                    yield from self._fault(ahead, behind, gap_ns)

    def _fault(self, ahead: _Bounds, behind: _Bounds, gap_ns: int) -> Iterator[Finding]:
        pair = (ahead.agent, behind.agent)
        if pair in self._told:
            return
        self._told.add(pair)
        yield self.finding(
            f"the store's clock is {gap_ns / 1e9:.3f} s further ahead in an answer to {pair[0]} than "
            f"in one to {pair[1]}: another clock was used",
            behind.high_op,
            ahead.low_op,
        )

    def _length(self, view: View) -> Iterator[Finding]:
        answer, op = view.op.answer, view.op
        at_ms = answer.get("granted_at_ms") or 0
        if not at_ms and op.f == "acquire":
            at_ms = answer.get("acquired_at_ms", 0)
        if not at_ms:
            return
        length_ms = answer.get("expires_at_ms", 0) - at_ms
        if abs(length_ms - self.ledger.length_ms) > LENGTH_TOLERANCE_MS:
            yield self.finding(
                f"{op.agent} was given {op.contact} for {length_ms} ms, "
                f"not for the {self.ledger.length_ms:g} ms that were asked for",
                op,
            )

    def state(self) -> object:
        """The bounds in whole milliseconds."""
        return tuple(
            (each.agent, each.low_ns // 1_000_000, each.high_ns // 1_000_000)
            for each in self._bounds.values()
        )


def _store_time(view: View) -> tuple[int, bool]:
    """A store time of the answer in milliseconds (0 if none), and whether it is the store's now.

    A suppression or an event that is told again may carry the first time: no later than now.
    """
    answer = view.op.answer
    match view.op.f:
        case "acquire":
            return answer.get("granted_at_ms") or answer.get("acquired_at_ms") or 0, True
        case "renew":
            return answer.get("granted_at_ms") or 0, True
        case _:
            return answer.get("at_ms") or 0, False
