"""Asks the receiving side what became of a send nobody heard of again (spec: R, S8, S9, K10).

An unknown send is never run again by itself. Only the receiving side can tell which of the two it is:
the message is there, so it was delivered; or no message of that id exists, so it is withdrawn, and
its key may be tried again under the same Message-ID.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from leaserace.harness.contract import SendState, Transport

from .outbox import Outbox
from .policy import Policy, ms
from .records import SendRow
from .stores.protocol import Store


@runtime_checkable
class Searchable(Protocol):
    """A transport that can look for a message; most can't, SMTP among them."""

    def find(self, message_id: str) -> bool | None:
        """Whether the receiving side has a message of this id; None if it can't tell."""
        ...


class Inquiry:
    """Settles unknown sends by what the transport finds.

    Args:
        policy: How long "no such message" is not yet believed.
        store: Where records are.
        transport: Who is asked, if it can be.
        outbox: Send records.
    """

    def __init__(
        self, *, policy: Policy, store: Store, transport: Transport, outbox: Outbox
    ) -> None:
        self._deadline_s = policy.store_deadline_s
        self._quiet_ms = ms(policy.absent_after_s)
        self._store = store
        self._transport = transport
        self._outbox = outbox

    def settle(self, row: SendRow) -> SendRow:
        """The record after the transport was asked; the same if that told nothing.

        The transport is asked outside of any transaction, since it may be slow; what has changed in
        the meantime stands.

        Args:
            row: An unknown send.
        """
        there = self._ask(row.message_id)
        if there is None:
            return row
        with self._store.transaction(self._deadline_s) as tx:
            current = tx.get(SendRow, row.key)
            if current != row:
                return current or row
            if there:
                return self._outbox.settle(tx, row, SendState.DELIVERED, "the transport has it")
            if not self._is_quiet(row, tx.now_ms):
                return row
            return self._outbox.settle(tx, row, SendState.WITHDRAWN, "no such message exists")

    def _ask(self, message_id: str) -> bool | None:
        if not isinstance(self._transport, Searchable):
            return None
        try:
            return self._transport.find(message_id)
        except Exception:  # noqa: BLE001 - whatever went wrong, nothing was learned
            return None

    def _is_quiet(self, row: SendRow, now_ms: int) -> bool:
        """A message may still be on its way, and a slow worker still at its hand-over (spec: S8).

        The deadline of its try is over by then, and a worker that looks at the clock after that hands
        nothing over; so only one that was already at the transport can still make this wrong.
        """
        return now_ms >= row.settled_at_ms + self._quiet_ms
