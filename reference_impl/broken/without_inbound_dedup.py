"""Without memory of what came in: a webhook that is delivered again starts a second agent loop.

Every telling of a message counts as its first (spec: O4).

Caught by `inbound.once`. Masked by: a cooldown, or one key for both answers.
"""

from __future__ import annotations

from ..inbound import Inbound
from ..parts import Parts
from ..records import InboundRow
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class ForgetfulInbound(Inbound):
    """Looks nothing up."""

    def _seen(self, tx: Transaction, event_id: str) -> InboundRow | None:  # noqa: ARG002
        return None


twin = Twin(
    name="without_inbound_dedup",
    safeguard="what comes in is taken once",
    caught_by=("inbound.once",),
    masked_by="a cooldown, or one key for both answers",
    spec=("O4",),
)
target = ReferenceTarget(Parts(inbound=ForgetfulInbound), twin.name)
