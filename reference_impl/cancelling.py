"""Takes a send back while it can be taken back, and says the truth about it (spec: X17, S8, K1).

Against a send that is under way one of the two wins, and the answer says which. The state decides, in
one transaction: what was never handed over is withdrawn, together with a mark on its key, and no try
under that key runs again. What may have been handed over stays as it is, and the answer names its
state. A cancellation that comes before its send wins as well: the mark is there first. The mark stays
for ever, as an unknown outcome does: "never" has no window.
"""

from __future__ import annotations

from leaserace.harness.contract import Found, SendState
from leaserace.harness.points import point

from .audit import Audit
from .idempotency import Keys
from .inquiry import Inquiry
from .outbox import Outbox
from .policy import Policy
from .records import CancelRow, SendRow
from .stores.protocol import Store, Transaction


class Cancelling:
    """Cancels sends by their key; a method for each safeguard.

    Args:
        agent: Who asks; any agent of the mailbox may (spec: K6).
        policy: Deadlines.
        store: Where records are.
        keys: The form in which keys are compared.
        outbox: Send records.
        inquiry: Asks the transport about an unknown send before it is too late for it.
        audit: The log.
    """

    def __init__(
        self,
        *,
        agent: str,
        policy: Policy,
        store: Store,
        keys: Keys,
        outbox: Outbox,
        inquiry: Inquiry,
        audit: Audit,
    ) -> None:
        self._agent = agent
        self._deadline_s = policy.store_deadline_s
        self._store = store
        self._keys = keys
        self._outbox = outbox
        self._inquiry = inquiry
        self._audit = audit

    def cancel(self, key: str) -> Found:
        """Cancelled, and nothing of this key will ever be delivered; or the state that says why not.

        Raises:
            Refusal: The key is none.
            StoreBusy: Nothing happened.
        """
        normal = self._keys.normalise(key)
        with self._store.transaction(self._deadline_s) as tx:
            row = self._outbox.find_settled(tx, normal)
        if row is not None and row.state is SendState.UNKNOWN:
            self._inquiry.settle(row)
        with self._store.transaction(self._deadline_s) as tx:
            found = self._decide(tx, normal)
            point("cancel.written", normal)
        point("cancel.committed", normal)
        return found

    def _decide(self, tx: Transaction, key: str) -> Found:
        """The send's state now decides, and nobody can change it in between."""
        row = tx.get(SendRow, key)
        if row is not None and not self._can_be_withdrawn(row):
            self._note(tx, key, row, "too_late")
            return Found(state=row.state, message_id=row.message_id)
        if row is not None and row.state is SendState.AUTHORIZED:
            self._outbox.settle(tx, row, SendState.WITHDRAWN, f"cancelled by {self._agent}")
        self._mark(tx, key)
        self._note(tx, key, row, SendState.CANCELLED)
        return Found(state=SendState.CANCELLED)

    def _can_be_withdrawn(self, row: SendRow) -> bool:
        """What is dispatching may have been handed over already (spec: S8)."""
        return row.state in (SendState.AUTHORIZED, SendState.WITHDRAWN)

    def _mark(self, tx: Transaction, key: str) -> None:
        """No try under this key, however late, runs from now on."""
        if tx.get(CancelRow, key) is None:
            tx.put(CancelRow(key=key, agent=self._agent, at_ms=tx.now_ms))

    def find(self, tx: Transaction, key: str) -> CancelRow | None:
        """Who cancelled what goes by this key, or None."""
        return tx.get(CancelRow, key)

    def _note(self, tx: Transaction, key: str, row: SendRow | None, decision: str) -> None:
        self._audit.note(
            tx,
            event="cancel",
            key=row.contact if row else "",
            decision=decision,
            owner=row.agent if row else None,
            message_id=row.message_id if row else None,
            idempotency_key=key,
            state={"send_state": row.state if row else SendState.ABSENT},
        )
