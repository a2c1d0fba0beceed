"""Without unknown sends that stay: clean-up removes a send whose outcome nobody knows.

Once its record is gone the key is free, and what may have arrived long ago is sent again (spec: K10).

Caught by `scenario.expected` or `sends.steps_in_order`. Masked by: agents that look a
key up before they try it again.
"""

from __future__ import annotations

from leaserace.harness.contract import SendState

from ..cleanup import CleanUp
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class UnknownCleanUp(CleanUp):
    """Takes an unknown outcome for a settled one."""

    def _send_is_old(self, row: SendRow, now_ms: int) -> bool:
        over = row.settled_at_ms + self._window_ms <= now_ms
        return (row.state is SendState.UNKNOWN and over) or super()._send_is_old(row, now_ms)


twin = Twin(
    name="without_kept_unknown",
    safeguard="an unknown outcome is kept for ever",
    caught_by=(
        "scenario.expected",
        "sends.steps_in_order",
    ),
    masked_by="agents that look a key up before they try it again",
    spec=(
        "K10",
        "X10",
    ),
)
target = ReferenceTarget(Parts(clean_up=UnknownCleanUp), twin.name)
