"""Without the unknown state: what was not answered is sent again.

The record stays, but a retry after an unknown outcome runs instead of being told that the message
may be out (spec: K10, S8).

Caught by `sends.once` or `sends.steps_in_order`. Masked by: a cooldown; a transport that always
answers.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..idempotency import Keys
from ..parts import Parts
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class HopefulKeys(Keys):
    """Takes unknown for not sent."""

    def _still_unknown(self, row: SendRow) -> Refused | None:  # noqa: ARG002
        return None


twin = Twin(
    name="without_unknown_state",
    safeguard="an unknown outcome is never run again",
    caught_by=("sends.once", "sends.steps_in_order"),
    masked_by="a cooldown; a transport that always answers",
    spec=("K10", "S8"),
)
target = ReferenceTarget(Parts(keys=HopefulKeys), twin.name)
