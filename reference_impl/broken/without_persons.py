"""Without persons: an agent may decide what a person has to.

An agent takes a contact off the list, or skips a cooldown, in its own name (spec: C4, C1, O7).

Caught by `people.decide`. Masked by: agents that never try.
"""

from __future__ import annotations

from ..parts import Parts
from ..suppression import Suppression
from ..target import ReferenceTarget
from .twin import Twin


class OpenSuppression(Suppression):
    """Takes anybody for a person."""

    def is_person(self, name: str) -> bool:
        """Any name will do."""
        return bool(name)


twin = Twin(
    name="without_persons",
    safeguard="clearing a suppression and an override need a person's scope",
    caught_by=("people.decide",),
    masked_by="agents that never try",
    spec=("C4", "C1", "O7"),
)
target = ReferenceTarget(Parts(suppression=OpenSuppression), twin.name)
