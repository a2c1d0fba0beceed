"""Without shared keys: a key belongs to one credential.

The same key from another agent, or after a change of credentials, is a new key, and the message
is sent again (spec: K6).

Caught by `sends.once` or `keys.replay_is_original`. Masked by: a cooldown; one agent that makes
every retry itself.
"""

from __future__ import annotations

from ..idempotency import Keys
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class CredentialKeys(Keys):
    """Keeps a space of keys for each agent."""

    def _compared(self, key: str) -> str:
        return f"{self._agent}:{super()._compared(key)}"


twin = Twin(
    name="without_shared_keys",
    safeguard="keys belong to the mailbox",
    caught_by=("sends.once", "keys.replay_is_original"),
    masked_by="a cooldown; one agent that makes every retry itself",
    spec=("K6",),
)
target = ReferenceTarget(Parts(keys=CredentialKeys), twin.name)
