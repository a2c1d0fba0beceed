"""Without counters that stay: clean-up removes the token counter with the lease.

The next claim is given token 1 again, so a draft from long ago is as good as a new one (spec: L4).

Caught by `tokens.rise`. Masked by: rows that are kept for longer than anybody holds a draft.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cleanup import CleanUp
from ..parts import Parts
from ..records import FenceRow, LeaseRow, Row
from ..target import ReferenceTarget
from .twin import Twin


class CounterCleanUp(CleanUp):
    """Takes a counter for a row like any other."""

    def _lease_is_old(self, row: LeaseRow, now_ms: int) -> bool:
        old = super()._lease_is_old(row, now_ms)
        self._ended |= {row.key} if old else set()
        return old

    def _old(self) -> dict[type[Row], Callable[[Any, int], bool]]:
        self._ended: set[str] = set()
        return super()._old() | {FenceRow: lambda row, _: row.key in self._ended}


twin = Twin(
    name="without_kept_counters",
    safeguard="the token counter outlives clean-up",
    caught_by=("tokens.rise",),
    masked_by="rows that are kept for longer than anybody holds a draft",
    spec=(
        "L4",
        "X11",
    ),
)
target = ReferenceTarget(Parts(clean_up=CounterCleanUp), twin.name)
