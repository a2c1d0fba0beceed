"""Suppression: the shared list beats everything else (spec: C1, S4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..contract import Capability
from ..history import AuditEvent, DeliveryEvent, Operation
from ..verdict import Finding
from .base import Rule
from .claims import is_before, may_precede
from .ledger import Intent, View
from .people import undoes


class Wins(Rule):
    """Once a suppression was answered, nothing is sent to that contact until a person lifts it.

    Spec: C1, S4, S6, S8. Whatever the lease, the cooldown, the override or the key. By intervals: only
    a send invoked after the suppression had returned is bound; a replay sends nothing. In the commit
    order of the audit log, where there is one, nothing is authorized or starts dispatching behind it.

    Legal::

        sales-01   send invoked
        support-01 suppress -> noted
        sales-01   send -> sent

    Illegal::

        support-01 suppress -> noted
        sales-01   send -> sent
    """

    name = "suppression.wins"
    spec = ("C1", "S4")
    needs = frozenset({Capability.SUPPRESS, Capability.SEND})
    hears = frozenset({"send"})
    decisions = frozenset({"noted", "authorized", "dispatching"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._listed: dict[str, int] = {}

    def settled(self, view: View) -> Iterable[Finding]:
        ban = _binding(view)
        if ban is None:
            return
        self.exercised += 1
        if view.is_executed:
            yield self._fault(ban, view, "and was told that its mail was sent")

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        if intent is None or intent.person.banned is None:
            return
        causes = intent.causes()
        bans = [_binding(view) for view in causes]
        if bans[0] is not None and all(bans):
            yield self._fault(bans[0], causes[0], "and its mail arrived")

    def _fault(self, ban: Operation, view: View, what: str) -> Finding:
        return self.finding(
            f"{view.op.agent} sent to {view.op.contact} after {ban.agent} had suppressed it, {what}",
            ban,
            view.op,
        )

    def decided(self, event: AuditEvent) -> Iterable[Finding]:
        record = event.value
        key, what, decision = record["key"], record["event"], record["decision"]
        if decision == "noted" and what == "suppress":
            if (record.get("state") or {}).get("too_late"):
                return  # an older event changes nothing (spec: C7)
            self._listed[key] = event.seq
        elif decision == "noted" and what == "unsuppress":
            self._listed.pop(key, None)
        elif decision in {"authorized", "dispatching"} and key in self._listed:
            yield self.finding(
                f"record {event.seq} of the audit log: the send of {record['actor']} to {key} was "
                f"{decision} after record {self._listed[key]} had suppressed it",
                t=event.t,
            )

    def state(self) -> object:
        """Who is on the list by the log."""
        return tuple(self._listed)


def _binding(view: View) -> Operation | None:
    """The suppression that had been answered before this send, if none can have lifted it since."""
    ban = view.banned
    if ban is None:
        return None
    for lift in view.person.lifts:
        if may_precede(lift, view.op) and not is_before(lift, ban) and undoes(lift, ban):
            return None
    return ban
