"""Without a list that stays: clean-up removes old suppressions.

Somebody who opted out long ago is written to again (spec: C1).

Caught by `suppression.wins`. Masked by: rows that are kept for years.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cleanup import CleanUp
from ..parts import Parts
from ..records import Row, SuppressionRow
from ..target import ReferenceTarget
from .twin import Twin


class ListCleanUp(CleanUp):
    """Lets suppressions expire."""

    def _old(self) -> dict[type[Row], Callable[[Any, int], bool]]:
        return super()._old() | {SuppressionRow: self._is_old}

    def _is_old(self, row: SuppressionRow, now_ms: int) -> bool:
        return all(cause.at_ms + self._keep_ms <= now_ms for cause in row.causes)


twin = Twin(
    name="without_kept_list",
    safeguard="a suppression outlives clean-up",
    caught_by=("suppression.wins",),
    masked_by="rows that are kept for years",
    spec=("C1",),
)
target = ReferenceTarget(Parts(clean_up=ListCleanUp), twin.name)
