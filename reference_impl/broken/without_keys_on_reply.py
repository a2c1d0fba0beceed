"""Without keys on reply: only `send` looks an idempotency key up.

A reply or a forward that is tried again leaves again, and the key of a send is good for a reply too
(spec: K8).

Caught by `sends.once` or `keys.replay_is_original` or `keys.payload_bound`. Masked by: agents that
only ever use `send`.
"""

from __future__ import annotations

from leaserace.harness.contract import Endpoint, Refused, Sent

from ..idempotency import Draft
from ..parts import Parts
from ..sending import Sending
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class SendKeyedSending(Sending):
    """Resolves the keys of one endpoint."""

    def _resolve_key(self, tx: Transaction, draft: Draft) -> Sent | Refused | None:
        if draft.message.endpoint is not Endpoint.SEND:
            return None
        return super()._resolve_key(tx, draft)


twin = Twin(
    name="without_keys_on_reply",
    safeguard="every endpoint that sends honours keys",
    caught_by=("sends.once", "keys.replay_is_original", "keys.payload_bound"),
    masked_by="agents that only ever use `send`",
    spec=("K8",),
)
target = ReferenceTarget(Parts(sending=SendKeyedSending), twin.name)
