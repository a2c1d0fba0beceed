"""Cooldown: after a delivery every agent waits (spec: C2, S5, S9, S10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..contract import Capability, MessageKind
from ..history import DeliveryEvent, OpType
from ..verdict import Finding
from .base import Rule
from .claims import FOREVER
from .ledger import Intent, View


class _Cooling(Rule):
    """What both rules about the cooldown share: what may skip it, and how close two sends stand."""

    needs = frozenset({Capability.COOLDOWN, Capability.SEND})

    @property
    def _reach_ns(self) -> int:
        """Two authorisations closer than this stand inside one cooldown for certain."""
        return self.ledger.cooldown_ns - self.ledger.cooldown_slack_ns


def _is_reply(view: View) -> bool:
    return view.kind == MessageKind.TRANSACTIONAL


def _may_skip(view: View) -> bool:
    """Whether the send may skip the cooldown: its kind, or an override that may be in force."""
    if _is_reply(view):
        return True
    end = view.op.end or FOREVER
    return any(override.begin < end for override in view.person.overrides)


class BindsAll(_Cooling):
    """Of two messages to one contact inside a cooldown only one is accepted, whoever sends.

    Spec: C2, S5, S9. Authorisation reserves the cooldown at once, so calls that overlap can't both
    pass. By intervals: both calls together must lie inside one cooldown. Transactional mail may skip
    it, and so may one send for each override (C4); a replay sends nothing.

    Legal::

        sales-01   send -> sent
        support-01 send -> cooldown_active

    Illegal::

        sales-01   send -> sent
        support-01 send -> sent
    """

    name = "cooldown.binds_all"
    spec = ("C2", "S5", "S9")
    hears = frozenset({"send"})
    outcomes = frozenset({OpType.OK})

    def settled(self, view: View) -> Iterable[Finding]:
        if not self.ledger.cooldown_ns or self.ledger.jumped or not view.is_executed:
            return
        close: list[View] = []
        begin_ns = self._begun_ns(view)
        end_ns = view.op.completed_ns or FOREVER
        for other in view.person.sends:
            if other.op is view.op or (view.intent and other.intent == view.intent):
                continue
            accepted_ns = self._accepted_by_ns(other, view)
            if accepted_ns is None:
                continue
            self.exercised += 1
            first_ns, last_ns = min(self._begun_ns(other), begin_ns), max(accepted_ns, end_ns)
            if last_ns - first_ns < self._reach_ns and not (_is_reply(view) or _is_reply(other)):
                close.append(other)
        if close and len(close) > self._leaves(close, view):
            yield self._fault(close[0], view)

    def _leaves(self, close: list[View], view: View) -> int:
        """How many of these may have skipped the cooldown of another: one for each override (spec: C4).

        All of them have to lie inside one cooldown, or each override may have served twice. It may have
        served whichever of them ended last, though `view` settled before that one.
        """
        end = max(each.op.end or FOREVER for each in (*close, view))
        overrides = sum(override.begin < end for override in view.person.overrides)
        if not overrides:
            return 0
        first_ns = min(self._begun_ns(each) for each in (*close, view))
        last_ns = max(each.op.completed_ns or FOREVER for each in (*close, view))
        return overrides if last_ns - first_ns < self._reach_ns else len(close)

    def _begun_ns(self, view: View) -> int:
        """When at the earliest it was let through: an earlier try of it may have been."""
        intent = self.ledger.intents.get(view.intent)
        tries = [view] if intent is None else intent.causes()
        return min(each.op.invoked_ns for each in tries)

    def _accepted_by_ns(self, other: View, view: View) -> int | None:
        """When at the latest an earlier send was let through, or None if it may not have been."""
        op = other.op
        if op.type is OpType.OK:
            settled_first = op.end is not None and op.end < (view.op.end or FOREVER)
            return op.completed_ns if other.is_executed and settled_first else None
        intent = self.ledger.intents.get(other.intent)
        if op.type is OpType.FAIL or intent is None or not intent.deliveries:
            return None
        return intent.delivered_ns if len(intent.causes()) == 1 else None

    def _fault(self, other: View, view: View) -> Finding:
        return self.finding(
            f"{view.op.agent} wrote to {view.op.contact} inside the cooldown that the mail of "
            f"{other.op.agent} had set",
            other.op,
            view.op,
        )


class _Delivered:
    """A message that arrived: when, from whom, and between which instants it was authorised."""

    __slots__ = ("agents", "first_ns", "intent", "last_ns", "t", "tries")

    def __init__(self, intent: Intent, t: int) -> None:
        self.tries = intent.causes()
        self.intent = intent
        self.t = t
        self.agents = frozenset(view.op.agent for view in self.tries)
        self.first_ns = min(view.op.invoked_ns for view in self.tries)
        self.last_ns = t


class NoDoubleContact(_Cooling):
    """Two agents do not reach one person inside one cooldown.

    Spec: S10, C2. Counted by what arrived: different messages, by different agents, closer than the
    cooldown. It is a finding if the calls themselves lie inside one cooldown. A hand-over that came
    late because its sender stood still between authorisation and transport (S8) is counted, and is no
    finding: the gap can't be closed. Overrides and transactional mail are not counted.

    Legal::

        sales-01   send -> sent                 (delivered at 0 s)
        support-01 send, cooldown 60 s -> sent  (delivered at 61 s)

    Illegal::

        sales-01   send -> sent                 (delivered at 0 s)
        support-01 send, cooldown 60 s -> sent  (delivered at 1 s)
    """

    name = "cooldown.no_double_contact"
    spec = ("S10", "C2")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.double_contacts = 0
        self._recent: dict[str, list[_Delivered]] = {}

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        if intent is None or not self.ledger.cooldown_ns or self.ledger.jumped:
            return
        mine = _Delivered(intent, event.t)
        recent = [
            each
            for each in self._recent.get(intent.person.name, ())
            if event.t - each.t < self._reach_ns
        ]
        self._recent[intent.person.name] = [*recent, mine]
        self.exercised += bool(recent)
        if any(_may_skip(view) for view in mine.tries):
            return
        for other in recent:
            if other.intent is intent or other.agents & mine.agents:
                continue
            if any(_may_skip(view) for view in other.tries):
                continue
            self.double_contacts += 1
            if self._certainly_inside(other, mine):
                yield self._fault(other, mine)

    def _certainly_inside(self, one: _Delivered, two: _Delivered) -> bool:
        """Whether the two were authorised inside one cooldown, however their calls are ordered."""
        apart_ns = max(two.last_ns - one.first_ns, one.last_ns - two.first_ns)
        return apart_ns < self._reach_ns

    def _fault(self, one: _Delivered, two: _Delivered) -> Finding:
        first, second = one.tries[0].op, two.tries[0].op
        return self.finding(
            f"{second.contact} got mail from {first.agent} and from {second.agent} "
            f"inside one cooldown",
            first,
            second,
            t=two.t,
        )

    def state(self) -> object:
        """Only how recent deliveries stand to the clock matters."""
        return tuple(
            (name, tuple((each.intent.name, each.t // 1_000_000) for each in recent))
            for name, recent in self._recent.items()
        )
