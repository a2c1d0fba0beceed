"""The send record and its states: authorised, dispatching, then what came of it (spec: S8, S9).

::

    authorized -> dispatching -> delivered | unknown | withdrawn
    authorized -> withdrawn

The step into dispatching is committed before the transport is called. So a record that is still
authorised was never handed over, and one that is dispatching may have been.
"""

from __future__ import annotations

import hashlib

import msgspec

from leaserace.harness.contract import SendState

from .audit import Audit
from .budgets import Breaker
from .cooldown import Cooldown
from .idempotency import Draft
from .policy import Policy, ms
from .records import SendRow, TimelineRow
from .stores.protocol import Transaction

IN_FLIGHT = (SendState.AUTHORIZED, SendState.DISPATCHING)


class Outbox:
    """Moves send records from state to state, and the contact's timeline with them.

    Args:
        agent: Who asks.
        policy: Deadlines and the sender's domain.
        audit: The log.
        cooldown: The timeline.
        breaker: Counts deliveries.
    """

    __slots__ = ("_agent", "_audit", "_breaker", "_cooldown", "_policy")

    def __init__(
        self, *, agent: str, policy: Policy, audit: Audit, cooldown: Cooldown, breaker: Breaker
    ) -> None:
        self._breaker = breaker
        self._agent = agent
        self._audit = audit
        self._cooldown = cooldown
        self._policy = policy

    def authorise(self, tx: Transaction, draft: Draft) -> SendRow:
        """Write the record and reserve the cooldown (spec: S6, S9)."""
        earlier = self._earlier(tx, draft)
        row = SendRow(
            key=draft.key,
            fingerprint=draft.fingerprint,
            contact=draft.contact,
            agent=self._agent,
            token=draft.message.token or 0,
            attempt=1 + (earlier.attempt if earlier else 0),
            message_id=self._message_id(tx, draft, earlier),
            state=SendState.AUTHORIZED,
            authorized_at_ms=tx.now_ms,
            deadline_ms=self._deadline_ms(tx),
        )
        self._write(tx, row)
        self._cooldown.reserve(tx, row, draft.message.kind)
        return row

    def _earlier(self, tx: Transaction, draft: Draft) -> SendRow | None:
        """What this key was used for before: a withdrawn try, or a send whose window closed."""
        return tx.get(SendRow, draft.key)

    def _message_id(self, tx: Transaction, draft: Draft, earlier: SendRow | None) -> str:
        """Fixed at the first authorisation, from the key; every try carries the same (spec: S8).

        After the window has closed the key stands for a new message, hence the time (spec: K2).
        """
        if earlier is not None and earlier.state is not SendState.DELIVERED:
            return earlier.message_id
        domain = self._policy.sender.rpartition("@")[2]
        made_from = f"{draft.key}\n{tx.now_ms}"
        return f"<{hashlib.sha256(made_from.encode()).hexdigest()[:32]}@{domain}>"

    def _deadline_ms(self, tx: Transaction) -> int:
        """From then on the worker of this try counts as gone."""
        return tx.now_ms + ms(self._policy.send_deadline_s)

    def still_mine(self, tx: Transaction, row: SendRow) -> SendRow | None:
        """The record if this try may go on with it: nobody withdrew it or took it over."""
        current = tx.get(SendRow, row.key)
        if current is None or current.attempt != row.attempt:
            return None
        return current if current.state is SendState.AUTHORIZED else None

    def dispatch(self, tx: Transaction, row: SendRow) -> SendRow:
        """From here on the message may have been handed over (spec: S8)."""
        moved = msgspec.structs.replace(
            row, state=SendState.DISPATCHING, deadline_ms=self._deadline_ms(tx)
        )
        self._write(tx, moved)
        self._note(tx, "dispatch", moved)
        return moved

    def settle(self, tx: Transaction, row: SendRow, state: SendState, why: str = "") -> SendRow:
        """Record the outcome and confirm or free the cooldown (spec: S8, S9, K2, K10).

        Args:
            tx: The transaction.
            row: The record as this try knows it.
            state: Delivered, unknown or withdrawn.
            why: For the log.
        """
        settled = msgspec.structs.replace(row, state=state, settled_at_ms=tx.now_ms)
        self._write(tx, settled)
        if state is SendState.DELIVERED:
            self._cooldown.confirm(tx, settled)
            self._breaker.delivered(tx)
        elif state is SendState.WITHDRAWN:
            self._cooldown.free(tx, settled)
        self._note(tx, "deliver", settled, why)
        return settled

    def conclude(self, tx: Transaction, row: SendRow, state: SendState, why: str) -> SendRow:
        """Record what a worker says of its own try, however late it says it (spec: S8, K10).

        By then the record may have been settled, and tried again: what is known to be delivered
        stays so, and a worker that was taken over counts only if its message was taken after all.

        Args:
            tx: The transaction.
            row: The record as this worker knows it.
            state: Delivered, unknown or withdrawn.
            why: For the log.

        Returns:
            The record as it stands.
        """
        current = tx.get(SendRow, row.key)
        if current is not None and not self._may_conclude(current, row, state):
            self._note(tx, "conclude", current, f"a late worker says {state}: {why}")
            return current
        return self.settle(tx, row, state, why)

    def _may_conclude(self, current: SendRow, row: SendRow, state: SendState) -> bool:
        if current.state is SendState.DELIVERED:
            return False
        return current.attempt == row.attempt or state is SendState.DELIVERED

    def settle_overdue(self, tx: Transaction, row: SendRow) -> SendRow:
        """Say honestly what became of a try whose worker is gone (spec: S8, K10).

        Past its deadline an authorised send is withdrawn: it was never handed over, and its worker,
        should it wake up, finds it withdrawn before it can. A dispatching one is unknown.
        """
        if row.state not in IN_FLIGHT or tx.now_ms < row.deadline_ms:
            return row
        never_left = row.state is SendState.AUTHORIZED
        state = SendState.WITHDRAWN if never_left else SendState.UNKNOWN
        return self.settle(tx, row, state, "its worker did not come back in time")

    def find_settled(self, tx: Transaction, key: str) -> SendRow | None:
        """The key's record, overdue ones settled first."""
        row = tx.get(SendRow, key)
        return None if row is None else self.settle_overdue(tx, row)

    def settle_contact(self, tx: Transaction, contact: str) -> None:
        """Free what crashed tries have reserved of this contact's cooldown (spec: S9)."""
        timeline = tx.get(TimelineRow, contact)
        for entry in timeline.entries if timeline else ():
            row = None if entry.confirmed else tx.get(SendRow, entry.send)
            if row is not None and row.message_id == entry.message_id:
                self.settle_overdue(tx, row)

    def _write(self, tx: Transaction, row: SendRow) -> None:
        """Every change of a record goes through here, before what it announces is done (spec: K2)."""
        tx.put(row)

    def _note(self, tx: Transaction, event: str, row: SendRow, why: str = "") -> None:
        self._audit.note(
            tx,
            event=event,
            key=row.contact,
            decision=row.state,
            token=row.token,
            owner=row.agent,
            message_id=row.message_id,
            idempotency_key=row.key,
            state={"attempt": row.attempt, "deadline_ms": row.deadline_ms, "why": why},
        )
