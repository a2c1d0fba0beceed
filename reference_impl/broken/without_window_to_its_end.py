"""Without the window's last moment: a key is forgotten a millisecond early.

The window ends one millisecond before the policy says, so a retry at its very end is sent again
(spec: K5, K2).

Caught by `keys.replay_is_original` or `sends.once`. Masked by: a cooldown; retries that do not
come in the last millisecond.
"""

from __future__ import annotations

from ..idempotency import Keys
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class EarlyKeys(Keys):
    """Forgets a moment too soon."""

    def _in_window(self, row: SendRow, now_ms: int) -> bool:
        return super()._in_window(row, now_ms + 1)


twin = Twin(
    name="without_window_to_its_end",
    safeguard="a key is replayed up to the end of its window",
    caught_by=("keys.replay_is_original", "sends.once"),
    masked_by="a cooldown; retries that do not come in the last millisecond",
    spec=("K5", "K2"),
)
target = ReferenceTarget(Parts(keys=EarlyKeys), twin.name)
