"""Without an atomic audit: decisions are logged after they were committed.

The log is written in a transaction of its own, so its order is not the order of the decisions,
and a crash between the two loses one (spec: R3).

Caught by `tokens.commit_order` or `sends.steps_in_order` or `suppression.wins` or
`audit.refusal_has_state`. Masked by: agents that ask one after the other.
"""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any

from leaserace.harness.contract import AgentContext
from leaserace.harness.points import point

from ..records import Decision
from ..stores.protocol import Open, Store, StoreBusy, Transaction
from ..target import ReferenceTarget
from .twin import Twin


class LateLogStore:
    """A store whose log is written in a second transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def transaction(self, deadline_s: float) -> Open:
        return LateLogTransaction(self._store, deadline_s)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class LateLogTransaction:
    """A transaction that keeps its decisions until after its end."""

    def __init__(self, store: Store, deadline_s: float) -> None:
        self._store = store
        self._deadline_s = deadline_s
        self._open = store.transaction(deadline_s)
        self._decisions: list[Decision] = []

    def __enter__(self) -> Transaction:
        self._tx = self._open.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace)
        if kind is None and self._decisions:
            point("audit.put_off")
            with (
                contextlib.suppress(StoreBusy),
                self._store.transaction(self._deadline_s) as tx,
            ):
                for decision in self._decisions:
                    tx.append(decision)

    def append(self, decision: Decision) -> None:
        self._decisions.append(decision)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


class LateLogTarget(ReferenceTarget):
    """Gives each mailbox such a store."""

    points = ReferenceTarget.points | {"audit.put_off"}

    def store_for(self, agent: AgentContext) -> Store:
        return LateLogStore(super().store_for(agent))


twin = Twin(
    name="without_atomic_audit",
    safeguard="a decision and its log entry are one step",
    caught_by=(
        "tokens.commit_order",
        "sends.steps_in_order",
        "suppression.wins",
        "audit.refusal_has_state",
    ),
    masked_by="agents that ask one after the other",
    spec=("R3",),
)
target = LateLogTarget(name=twin.name)
