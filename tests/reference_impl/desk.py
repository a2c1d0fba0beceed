"""A mailbox for tests: a clock that is set by hand, a store, and a transport that keeps its mail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import AuditRecord, Lease, Message, MessageKind, Sent
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.parts import Parts
from leaserace.reference_impl.policy import Policy
from leaserace.reference_impl.stores.memory import MemoryStore
from leaserace.reference_impl.stores.protocol import Store
from leaserace.reference_impl.stores.sqlite import SqliteStore
from leaserace.reference_impl.transports.memory import MemoryTransport

JANE = "jane.doe@acme.com"
STORES = ("memory", "sqlite")
SHORT = Policy(
    drafting_s=60.0,
    commercial_cooldown_s=0.0,
    key_window_s=3600.0,
    transport_timeout_s=1.0,
    store_deadline_s=0.05,
)
COOLING = replace(SHORT, commercial_cooldown_s=600.0)


def make_store(kind: str, folder: Path, clock: ManualClock) -> Store:
    """An empty store of this kind, on this clock."""
    if kind == "memory":
        return MemoryStore(clock)
    return SqliteStore.create(folder / "mailbox.db").on_clock(clock)


class Desk:
    """Everything a test of the reference needs.

    Args:
        store: Where records are.
        clock: The store's clock.
        policy: Lengths.
    """

    def __init__(self, store: Store, clock: ManualClock, policy: Policy = SHORT) -> None:
        self.store = store
        self.clock = clock
        self.policy = policy
        self.transport = MemoryTransport()
        self.parts = Parts()
        self._count = 0

    @classmethod
    def in_memory(cls, policy: Policy = SHORT) -> Desk:
        """A desk of its own, for tests that need many."""
        clock = ManualClock()
        return cls(MemoryStore(clock), clock, policy)

    def mailbox(self, agent: str = "sales-01") -> ReferenceMailbox:
        """The mailbox of one agent."""
        return ReferenceMailbox(
            agent=agent,
            policy=self.policy,
            store=self.store,
            transport=self.transport,
            parts=self.parts,
        )

    def message(self, lease: Lease | None = None, **fields: Any) -> Message:
        """A new logical send to Jane under `lease`."""
        self._count += 1
        number = self._count
        message = Message(
            to=JANE,
            subject=f"Follow-up {number}",
            body=f"Hello, this is number {number}.\n",
            token=lease.token if lease else None,
            key=f"run:{number}:send",
            intent=f"intent-{number}",
            kind=MessageKind.COMMERCIAL,
        )
        return replace(message, **fields)

    def lease(self, agent: str = "sales-01", address: str = JANE) -> Lease:
        """A lease that was granted."""
        lease = self.mailbox(agent).acquire(address)
        assert isinstance(lease, Lease), lease
        return lease

    def sent(self, agent: str = "sales-01", **fields: Any) -> tuple[Lease, Message, Sent]:
        """A message that was sent under a lease of its own, which is still held."""
        lease = self.lease(agent, fields.get("to", JANE))
        message = self.message(lease, **fields)
        answer = self.mailbox(agent).send(message)
        assert isinstance(answer, Sent), answer
        return lease, message, answer

    def log(self, event: str | None = None) -> list[AuditRecord]:
        """The audit log, or its records of one event."""
        return [each for each in self.store.audit() if event in (None, each.event)]
