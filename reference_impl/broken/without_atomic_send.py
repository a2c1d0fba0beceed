"""Without an atomic send: check, then write.

The checks are made in one transaction and the record is written in another, so what was checked
may have changed: a newer grant, an opt-out, another message (spec: S6, S9).

Caught by `tokens.commit_order` or `suppression.wins` or `cooldown.no_double_contact` or
`cooldown.binds_all`. Masked by: the second look at the step into dispatching, which stops a stale
token and an opt-out.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused, Sent
from leaserace.harness.points import point

from ..idempotency import Draft
from ..parts import Parts
from ..records import SendRow
from ..sending import Sending
from ..target import ReferenceTarget
from .twin import Twin


class CheckThenWriteSending(Sending):
    """Records what it checked before; the key is still resolved with the record."""

    def _authorise(self, draft: Draft) -> SendRow | Sent | Refused:
        with self._store.transaction(self._deadline_s) as tx:
            known = self._resolve_key(tx, draft)
            point("send.key_resolved", draft.contact, draft.key)
            if known is not None:
                return known
            self._outbox.settle_contact(tx, draft.contact)
            seen = self._look(tx, draft)
            refusals = self._check(seen, draft)
        point("send.checked", draft.contact, draft.key)
        with self._store.transaction(self._deadline_s) as tx:
            known = self._resolve_key(tx, draft)
            return self._record(tx, draft, seen, refusals) if known is None else known


twin = Twin(
    name="without_atomic_send",
    safeguard="the checks and the record are one step",
    caught_by=(
        "tokens.commit_order",
        "suppression.wins",
        "cooldown.no_double_contact",
        "cooldown.binds_all",
    ),
    masked_by="the second look at the step into dispatching, which stops a stale token and an opt-out",
    spec=("S6", "S9"),
)
target = ReferenceTarget(Parts(sending=CheckThenWriteSending), twin.name)
