"""Without keys that stay for their window: clean-up removes every completed send.

The retry that comes after clean-up, and well inside the window, sends again (spec: K5).

Caught by `sends.once` or `cancels.truthful`. Masked by: retries that come before clean-up.
"""

from __future__ import annotations

from leaserace.harness.contract import SendState

from ..cleanup import CleanUp
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class KeyCleanUp(CleanUp):
    """Keeps no completed send."""

    def _send_is_old(self, row: SendRow, now_ms: int) -> bool:
        return row.state is SendState.DELIVERED or super()._send_is_old(row, now_ms)


twin = Twin(
    name="without_kept_keys",
    safeguard="a key is kept for its whole window",
    caught_by=(
        "sends.once",
        "cancels.truthful",
    ),
    masked_by="retries that come before clean-up",
    spec=(
        "K5",
        "X9",
    ),
)
target = ReferenceTarget(Parts(clean_up=KeyCleanUp), twin.name)
