"""Without the replay first: the cooldown is asked before the key.

The first delivery set a cooldown, and the retry that only wants to know what became of it is
refused for it (spec: S2).

Caught by `keys.replay_is_original` or `scenario.expected`. Masked by: a cooldown of 0.
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


class CooldownFirstSending(Sending):
    """Looks at the cooldown, then at the key."""

    def _authorise(self, draft: Draft) -> SendRow | Sent | Refused:
        with self._store.transaction(self._deadline_s) as tx:
            self._outbox.settle_contact(tx, draft.contact)
            seen = self._look(tx, draft)
            refused = self._check_cooldown(seen, draft)
            known = None if refused else self._resolve_key(tx, draft)
            point("send.key_resolved", draft.contact, draft.key)
            if known is not None:
                return known
            refusals = [refused] if refused else self._check(seen, draft)
            point("send.checked", draft.contact, draft.key)
            return self._record(tx, draft, seen, refusals)


twin = Twin(
    name="without_replay_first",
    safeguard="a completed key is replayed before any other check",
    caught_by=("keys.replay_is_original", "scenario.expected"),
    masked_by="a cooldown of 0",
    spec=("S2",),
)
target = ReferenceTarget(Parts(sending=CooldownFirstSending), twin.name)
