"""Without normalised keys: another casing is another key.

A key that comes back in another case or with white space around it is taken for a new one, and
the message is sent again (spec: K3).

Caught by `sends.once` or `keys.replay_is_original`. Masked by: a cooldown; callers that store
their key and send it back unchanged.
"""

from __future__ import annotations

from ..idempotency import Keys
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class LiteralKeys(Keys):
    """Compares letter by letter."""

    def _compared(self, key: str) -> str:
        return key.replace(" ", "_")


twin = Twin(
    name="without_key_normalisation",
    safeguard="keys are compared in one normal form",
    caught_by=("sends.once", "keys.replay_is_original"),
    masked_by="a cooldown; callers that store their key and send it back unchanged",
    spec=("K3",),
)
target = ReferenceTarget(Parts(keys=LiteralKeys), twin.name)
