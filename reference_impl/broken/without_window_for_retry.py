"""Without a window that covers the retry: keys are forgotten too early.

The window is a thousandth of what the policy says, so a retry well inside the documented window
is sent again (spec: K5).

Caught by `sends.once` or `sends.steps_in_order` or `keys.replay_is_original`. Masked by: a
cooldown; retries that come at once.
"""

from __future__ import annotations

from dataclasses import replace

from ..idempotency import Keys
from ..parts import Parts
from ..policy import Policy
from ..target import ReferenceTarget
from .twin import Twin


class ShortMemoryKeys(Keys):
    """Forgets a key early."""

    def __init__(self, agent: str, policy: Policy) -> None:
        super().__init__(agent, replace(policy, key_window_s=policy.key_window_s / 1000))


twin = Twin(
    name="without_window_for_retry",
    safeguard="a key is replayed for as long as the policy says",
    caught_by=("sends.once", "sends.steps_in_order", "keys.replay_is_original"),
    masked_by="a cooldown; retries that come at once",
    spec=("K5", "K2"),
)
target = ReferenceTarget(Parts(keys=ShortMemoryKeys), twin.name)
