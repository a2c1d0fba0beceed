"""Without an atomic clean-up: old rows are listed first and removed afterwards.

A contact that is claimed in between loses its new lease with the old one (spec: K5, L3).

Caught by `leases.one_live` or `refusals.explained`. Masked by: contacts nobody claims while the clean-up runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leaserace.harness.points import point

from ..cleanup import CleanUp
from ..parts import Parts
from ..records import Row
from ..target import ReferenceTarget
from .twin import Twin


class ListThenRemove(CleanUp):
    """Removes by key what was old a moment ago."""

    def _sweep(self, kind: type[Row], is_old: Callable[[Any, int], bool]) -> int:
        with self._store.transaction(self._deadline_s) as tx:
            old = [row.key for row in tx.rows(kind) if is_old(row, tx.now_ms)]
        point("clean_up.read", kind.__name__)
        with self._store.transaction(self._deadline_s) as tx:
            for key in old:
                tx.delete(kind, key)
        return len(old)


twin = Twin(
    name="without_atomic_clean_up",
    safeguard="what is removed is looked at in the same step",
    caught_by=(
        "leases.one_live",
        "refusals.explained",
    ),
    masked_by="contacts nobody claims while the clean-up runs",
    spec=(
        "K5",
        "L3",
    ),
)
target = ReferenceTarget(Parts(clean_up=ListThenRemove), twin.name)
