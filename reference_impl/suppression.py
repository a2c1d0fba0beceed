"""The one list of people nobody may write to (spec: C1, C3, C7)."""

from __future__ import annotations

from collections.abc import Mapping

from leaserace.harness.contract import Json, Noted
from leaserace.harness.points import point

from .audit import Audit
from .budgets import Breaker
from .outcomes import Refusal, not_authorised
from .policy import Policy
from .records import Cause, SuppressionRow
from .stores.protocol import Store, Transaction

OPT_OUT = "opt-out"
"""The one cause a new subscription clears; a bounce or complaint stays (spec: C7)."""


class Suppression:
    """Puts contacts on the list, takes them off, and tells who is on it.

    Args:
        agent: Who asks.
        policy: Who counts as a person.
        store: Where the list is.
        audit: The log.
        breaker: Counts bounces and complaints.
    """

    def __init__(
        self, *, agent: str, policy: Policy, store: Store, audit: Audit, breaker: Breaker
    ) -> None:
        self._breaker = breaker
        self._agent = agent
        self._people = policy.people
        self._deadline_s = policy.store_deadline_s
        self._store = store
        self._audit = audit

    def find(self, tx: Transaction, contact: str) -> SuppressionRow | None:
        """The contact's entry if it is suppressed now; it never expires by itself (spec: C1)."""
        row = tx.get(SuppressionRow, contact)
        return row if row is not None and row.causes else None

    def suppress(self, contact: str, reason: str, event_at_ms: int | None = None) -> Noted:
        """Put the contact on the list for every agent, at once (spec: C1, C3).

        Args:
            contact: Recipient key.
            reason: ``opt-out``, ``bounce``, ``complaint`` or another cause.
            event_at_ms: When it happened, where that was before now (spec: C7).
        """
        with self._store.transaction(self._deadline_s) as tx:
            noted = self.put_on(tx, contact, reason, event_at_ms)
        point("suppress.committed", contact)
        return noted

    def put_on(
        self, tx: Transaction, contact: str, reason: str, event_at_ms: int | None = None
    ) -> Noted:
        """The same in a transaction that does more: what comes in is recorded with it (spec: C3, O4)."""
        row = tx.get(SuppressionRow, contact) or SuppressionRow(key=contact)
        event_at_ms = _when(event_at_ms, tx.now_ms)
        late = self._is_late(row, event_at_ms)
        if not late:
            others = tuple(cause for cause in row.causes if cause.reason != reason)
            causes = (*others, Cause(reason=reason, at_ms=event_at_ms))
            if len(others) == len(row.causes):  # told of again, it counts once
                self._breaker.failed(tx, reason, event_at_ms)
            tx.put(SuppressionRow(key=contact, causes=causes, cleared_at_ms=row.cleared_at_ms))
        state = {"reason": reason, "event_at_ms": event_at_ms}
        self._note(tx, "suppress_late" if late else "suppress", contact, row, state=state)
        point("suppress.written", contact)
        return Noted(at_ms=tx.now_ms)

    def _is_late(self, row: SuppressionRow, event_at_ms: int) -> bool:
        """An event from before a person's clearance changes nothing (spec: C7)."""
        return event_at_ms < row.cleared_at_ms

    def _is_newer(self, cause: Cause, event_at_ms: int) -> bool:
        """What happened after an event is not undone by it, however late it comes (spec: C7)."""
        return cause.at_ms > event_at_ms

    def unsuppress(self, contact: str, person: str, event_at_ms: int | None = None) -> Noted:
        """A person takes the contact off the list: what was on it when they decided (spec: C1, C7).

        Raises:
            Refusal: It was no person.
        """
        if not self.is_person(person):
            raise Refusal(not_authorised(person, "clear a suppression"), contact)
        with self._store.transaction(self._deadline_s) as tx:
            row = tx.get(SuppressionRow, contact) or SuppressionRow(key=contact)
            event_at_ms = _when(event_at_ms, tx.now_ms)
            tx.put(
                SuppressionRow(
                    key=contact,
                    causes=tuple(each for each in row.causes if self._is_newer(each, event_at_ms)),
                    cleared_at_ms=max(row.cleared_at_ms, event_at_ms),
                )
            )
            self._note(
                tx,
                "unsuppress",
                contact,
                row,
                state={"person": person, "event_at_ms": event_at_ms},
                actor=person,
            )
            return Noted(at_ms=tx.now_ms)

    def resubscribe(self, contact: str, event_at_ms: int | None = None) -> Noted:
        """The contact asked for mail again: that withdraws an earlier opt-out only (spec: C1, C7)."""
        with self._store.transaction(self._deadline_s) as tx:
            row = tx.get(SuppressionRow, contact) or SuppressionRow(key=contact)
            event_at_ms = _when(event_at_ms, tx.now_ms)
            causes = tuple(
                cause
                for cause in row.causes
                if cause.reason != OPT_OUT or self._is_newer(cause, event_at_ms)
            )
            tx.put(SuppressionRow(key=contact, causes=causes, cleared_at_ms=row.cleared_at_ms))
            self._note(tx, "resubscribe", contact, row, state={"event_at_ms": event_at_ms})
            return Noted(at_ms=tx.now_ms)

    def is_person(self, name: str) -> bool:
        """Whether `name` may act for a person: never the calling agent itself (spec: C4)."""
        return name in self._people if self._people else bool(name) and name != self._agent

    def _note(
        self,
        tx: Transaction,
        event: str,
        contact: str,
        before: SuppressionRow,
        *,
        state: Mapping[str, Json],
        actor: str | None = None,
    ) -> None:
        suppressed = [cause.reason for cause in before.causes]
        self._audit.note(
            tx,
            event=event,
            key=contact,
            decision="noted",
            actor=actor,
            state={**state, "suppression": suppressed, "cleared_at_ms": before.cleared_at_ms},
        )


def _when(event_at_ms: int | None, now_ms: int) -> int:
    """When an event happened: now, or before now; nobody dates one ahead (spec: L5)."""
    return now_ms if event_at_ms is None else min(event_at_ms, now_ms)
