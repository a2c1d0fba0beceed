"""Without a durable store: when it crashes it comes back empty.

Leases, keys and the list are gone, and tokens start again at 1 (spec: L4, K2, C1).

Caught by `tokens.rise` or `suppression.wins`. Masked by: stores that never crash.
"""

from __future__ import annotations

from ..records import TABLES
from ..target import ReferenceTarget
from .twin import Twin


class ForgetfulTarget(ReferenceTarget):
    """Keeps its log, and nothing else."""

    def crash_store(self) -> None:
        super().crash_store()
        assert self.store is not None
        with self.store.transaction(5.0) as tx:
            for kind in TABLES:
                for row in tx.rows(kind):
                    tx.delete(kind, row.key)


twin = Twin(
    name="without_durable_store",
    safeguard="what was acknowledged outlives a crash of the store",
    caught_by=("tokens.rise", "suppression.wins"),
    masked_by="stores that never crash",
    spec=("L4", "K2", "C1"),
)
target = ForgetfulTarget(name=twin.name)
