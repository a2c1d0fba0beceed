"""Without an atomic key: check, then insert.

The key is looked up in one transaction and inserted in another without looking again, so two
tries at once both run (spec: K2, S6).

Caught by `sends.once` or `sends.steps_in_order`. Masked by: a cooldown, which refuses the second
try; tries that do not overlap.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused, Sent
from leaserace.harness.points import point

from ..idempotency import Draft
from ..outbox import Outbox
from ..parts import Parts
from ..records import SendRow
from ..sending import Sending
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class BlindOutbox(Outbox):
    """Writes over whatever is there."""

    def _earlier(self, tx: Transaction, draft: Draft) -> SendRow | None:  # noqa: ARG002
        return None

    def still_mine(self, tx: Transaction, row: SendRow) -> SendRow | None:  # noqa: ARG002
        """Nobody else can have the key, it believes."""
        return row


class CheckThenInsertSending(Sending):
    """Resolves the key before, and apart from, the record."""

    def _authorise(self, draft: Draft) -> SendRow | Sent | Refused:
        with self._store.transaction(self._deadline_s) as tx:
            known = self._resolve_key(tx, draft)
        point("send.key_resolved", draft.contact, draft.key)
        if known is not None:
            return known
        with self._store.transaction(self._deadline_s) as tx:
            self._outbox.settle_contact(tx, draft.contact)
            seen = self._look(tx, draft)
            refusals = self._check(seen, draft)
            point("send.checked", draft.contact, draft.key)
            return self._record(tx, draft, seen, refusals)


twin = Twin(
    name="without_atomic_key",
    safeguard="looking a key up and claiming it are one step",
    caught_by=("sends.once", "sends.steps_in_order"),
    masked_by="a cooldown, which refuses the second try; tries that do not overlap",
    spec=("K2", "S6"),
)
target = ReferenceTarget(Parts(outbox=BlindOutbox, sending=CheckThenInsertSending), twin.name)
