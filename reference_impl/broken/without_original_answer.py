"""Without the original answer: a replay gets a new id and another status.

Nothing is sent twice, but the caller is told of a message id that never existed and can not look
its message up (spec: K2).

Caught by `keys.replay_is_original` and `sends.message_id_arrives`. Masked by: counting mail: exactly one message arrives.
"""

from __future__ import annotations

from leaserace.harness.contract import Sent

from ..idempotency import Keys
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class InventiveKeys(Keys):
    """Makes an answer up."""

    def _replay(self, row: SendRow) -> Sent:
        return Sent(message_id=row.message_id.replace("<", "<again."), status=200, replay=True)


twin = Twin(
    name="without_original_answer",
    safeguard="a replay repeats the original answer",
    caught_by=("keys.replay_is_original", "sends.message_id_arrives"),
    masked_by="counting mail: exactly one message arrives",
    spec=("K2",),
)
target = ReferenceTarget(Parts(keys=InventiveKeys), twin.name)
