"""Without asking the transport: a look-up takes unknown for not sent.

A look-up settles an unknown send without asking the receiving side, so its key is free and the
message leaves a second time (spec: S9, K10, R).

Caught by `sends.once` or `keys.replay_is_original`. Masked by: a cooldown; agents that never look
a key up.
"""

from __future__ import annotations

from ..inquiry import Inquiry
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class GuessingInquiry(Inquiry):
    """Takes silence for "no such message"."""

    def _ask(self, message_id: str) -> bool | None:  # noqa: ARG002
        return False


twin = Twin(
    name="without_transport_asked",
    safeguard="a look-up settles an unknown send only by what the receiving side says",
    caught_by=("sends.once", "keys.replay_is_original"),
    masked_by="a cooldown; agents that never look a key up",
    spec=("S9", "K10", "R"),
)
target = ReferenceTarget(Parts(inquiry=GuessingInquiry), twin.name)
