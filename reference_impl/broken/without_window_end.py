"""Without the window's end: a key is replayed a millisecond longer.

The end of the window belongs to it, so a new request that comes at that moment is answered with
an old message and nothing is sent (spec: K5, K2).

Caught by `keys.replay_is_original`. Masked by: requests that do not come at the end itself.
"""

from __future__ import annotations

from ..idempotency import Keys
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class LateKeys(Keys):
    """Forgets a moment too late."""

    def _in_window(self, row: SendRow, now_ms: int) -> bool:
        return super()._in_window(row, now_ms - 1)


twin = Twin(
    name="without_window_end",
    safeguard="the end of a key's window is outside of it",
    caught_by=("keys.replay_is_original",),
    masked_by="requests that do not come at the end itself",
    spec=("K5", "K2"),
)
target = ReferenceTarget(Parts(keys=LateKeys), twin.name)
