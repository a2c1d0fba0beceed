"""Without the recipient in the payload: one key is good for everybody.

The same text under the same key to another person is taken for a retry: it is acknowledged, and
that person gets nothing (spec: K4, K9, X7).

Caught by `keys.payload_bound` or `scenario.expected`. Masked by: keys that name their recipient.
"""

from __future__ import annotations

from leaserace.harness.contract import Message

from ..idempotency import Keys
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class TextKeys(Keys):
    """Compares texts."""

    def fingerprint(self, contact: str, message: Message) -> str:  # noqa: ARG002
        """What must not change between tries: the text."""
        return super().fingerprint("", message)


twin = Twin(
    name="without_recipient_in_fingerprint",
    safeguard="the recipient is part of what a key stands for",
    caught_by=("keys.payload_bound", "scenario.expected"),
    masked_by="keys that name their recipient",
    spec=("K4", "K9", "X7"),
)
target = ReferenceTarget(Parts(keys=TextKeys), twin.name)
