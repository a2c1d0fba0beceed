"""Without suppression over override: a person who skips a cooldown skips the list too.

An override was meant for the cooldown; here it also lets a message through to somebody who opted
out (spec: C1, C4).

Caught by `suppression.wins`. Masked by: a cooldown, for which the override is used up before the
second look.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..parts import Parts
from ..sending import Seen, Sending
from ..target import ReferenceTarget
from .twin import Twin


class OverridingSending(Sending):
    """Lets an override beat the list."""

    def _check_suppression(self, seen: Seen) -> Refused | None:
        if self._cooldown.overridden(seen.override, seen.standing.now_ms):
            return None
        return super()._check_suppression(seen)


twin = Twin(
    name="without_suppression_over_override",
    safeguard="suppression beats an override",
    caught_by=("suppression.wins",),
    masked_by="a cooldown, for which the override is used up before the second look",
    spec=("C1", "C4"),
)
target = ReferenceTarget(Parts(sending=OverridingSending), twin.name)
