"""The reference as it is killed, cut down: what a kill campaign must make do with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from leaserace.harness import Capability
from leaserace.harness.contract import (
    Found,
    Lease,
    Message,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
)
from leaserace.reference_impl.durable import DurableTarget
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.policy import Situation
from leaserace.reference_impl.records import FenceRow, LeaseRow


class ShortLeases(DurableTarget):
    """Its leases end while its senders are dead."""

    fixed: Mapping[str, float] = {"lease_s": 0.3}


class NoLookup(DurableTarget):
    """Can't be asked what became of a key, passes no points and has no leases to show."""

    capabilities = frozenset({Capability.SEND, Capability.IDEMPOTENCY, Capability.LEASE})
    points = frozenset[str]()


class ForeignPoint(DurableTarget):
    """Declares a point that no send passes."""

    points = frozenset({"acquire.read", "send.handed_over"})


class WriteBehindMailbox(ReferenceMailbox):
    """Answers first, and writes when it is called the next time: a crash in between loses it."""

    _owed: Callable[[], object] | None = None

    def _soon(self, act: Callable[[], object]) -> None:
        self._settle()
        self._owed = act

    def _settle(self) -> None:
        owed, self._owed = self._owed, None
        if owed is not None:
            owed()

    def _standing(self, address: str) -> tuple[LeaseRow | None, int, int]:
        with self._store.transaction(self._deadline_s) as tx:
            lease, fence = tx.get(LeaseRow, address), tx.get(FenceRow, address)
            return lease, fence.token if fence else 0, tx.now_ms

    def acquire(self, address: str, situation: Situation = Situation.DRAFTING) -> Lease | Refused:
        self._settle()
        lease, token, now_ms = self._standing(address)
        if lease is not None:
            return super().acquire(address, situation)
        self._soon(partial(super().acquire, address, situation))
        return Lease(
            key=address,
            owner=self.agent,
            token=token + 1,
            acquired_at_ms=now_ms,
            expires_at_ms=now_ms + 60_000,
            granted_at_ms=now_ms,
        )

    def renew(self, address: str, token: int) -> Lease | Refused:
        self._settle()
        lease, _, now_ms = self._standing(address)
        if lease is None:
            return super().renew(address, token)
        self._soon(partial(super().renew, address, token))
        return Lease(
            key=address,
            owner=lease.owner,
            token=token,
            acquired_at_ms=lease.acquired_at_ms,
            expires_at_ms=now_ms + 60_000,
            granted_at_ms=now_ms,
        )

    def release(self, address: str, token: int) -> Released | Refused:
        self._soon(partial(super().release, address, token))
        return Released(key=address, token=token)

    def suppress(
        self, address: str, reason: str, event_at_ms: int | None = None
    ) -> Noted | Refused:
        self._soon(partial(super().suppress, address, reason, event_at_ms))
        return Noted(at_ms=self._store.now_ms())

    def cancel(self, key: str) -> Found | Refused:
        self._settle()
        found = self.lookup(key)
        if isinstance(found, Refused) or found.state is not SendState.ABSENT:
            return super().cancel(key)
        self._soon(partial(super().cancel, key))
        return Found(state=SendState.CANCELLED)

    def send(self, message: Message) -> Sent | Refused:
        self._settle()
        return super().send(message)


class WriteBehind(DurableTarget):
    """Its answers are promises."""

    mailbox = WriteBehindMailbox
    points = frozenset[str]()
