"""The lease: who may work on a contact now (spec: L)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from leaserace.harness.contract import Lease, MessageKind, Refused, Released
from leaserace.harness.points import point

from .audit import Audit
from .cooldown import Cooldown
from .escalation import Escalation
from .outcomes import lease_expired, not_holder, stale_token
from .policy import Policy, Situation
from .records import FenceRow, LeaseRow, TimelineRow
from .stores.protocol import Store, Transaction


class Standing(NamedTuple):
    """How a contact stands at one moment.

    Args:
        contact: Recipient key.
        lease: The stored lease, live or over; None if there is none.
        fence: The last token issued, 0 if none ever was.
        now_ms: The store's now.
    """

    contact: str
    lease: LeaseRow | None
    fence: int
    now_ms: int

    def as_state(self) -> dict[str, Any]:
        """The same for the audit log."""
        lease = self.lease and {
            "owner": self.lease.owner,
            "token": self.lease.token,
            "expires_at_ms": self.lease.expires_at_ms,
        }
        return {"fence": self.fence, "lease": lease}


class Leases:
    """Grants, renews and frees leases, and says whether one is held; a method for each safeguard.

    Args:
        agent: Who asks.
        policy: Lengths.
        store: Where leases are.
        audit: The log.
        cooldown: The timeline, for what a lease's answer tells of it.
        escalation: What becomes of repeated conflicts.
    """

    def __init__(
        self,
        *,
        agent: str,
        policy: Policy,
        store: Store,
        audit: Audit,
        cooldown: Cooldown,
        escalation: Escalation,
    ) -> None:
        self._agent = agent
        self._policy = policy
        self._deadline_s = policy.store_deadline_s
        self._store = store
        self._audit = audit
        self._cooldown = cooldown
        self._escalation = escalation

    def read(self, tx: Transaction, contact: str) -> Standing:
        """How the contact stands."""
        fence = tx.get(FenceRow, contact)
        lease = tx.get(LeaseRow, contact)
        return Standing(contact, lease, fence.token if fence else 0, tx.now_ms)

    # -- acquire ---------------------------------------------------------------------------------

    def acquire(self, contact: str, situation: Situation = Situation.DRAFTING) -> Lease | Refused:
        """Claim the contact for a while (spec: L1, L3)."""
        with self._store.transaction(self._deadline_s) as tx:
            standing = self.read(tx, contact)
            point("acquire.read", contact)
            answer = self._grant_or_refuse(tx, standing, situation)
            if isinstance(answer, Lease):
                point("acquire.granted", contact)
        if isinstance(answer, Lease):
            point("acquire.committed", contact)
        return answer

    def _grant_or_refuse(
        self, tx: Transaction, standing: Standing, situation: Situation
    ) -> Lease | Refused:
        if standing.lease is not None and not self._may_grant(standing.lease, tx.now_ms):
            return self._conflict(tx, standing, standing.lease)
        return self._grant(tx, standing, situation)

    def _may_grant(self, lease: LeaseRow, now_ms: int) -> bool:
        """A stored lease stands in the way while it lives, its own owner included (spec: L3)."""
        return lease.expires_at_ms <= now_ms

    def _conflict(self, tx: Transaction, standing: Standing, lease: LeaseRow) -> Refused:
        """Say who is in the way; a conflict is information (spec: R1)."""
        count = self._escalation.count(tx, lease)
        refused = self._escalation.refuse(lease, count)
        self._audit.refused(
            tx,
            refused,
            event="acquire",
            key=standing.contact,
            state={**standing.as_state(), **self._escalation.as_state(count)},
            token=lease.token,
        )
        return refused

    def _grant(self, tx: Transaction, standing: Standing, situation: Situation) -> Lease:
        """Owner, next token, expiry from the store's now, all at once (spec: L2, L3)."""
        length_ms = self._policy.lease_ms(situation)
        row = LeaseRow(
            key=standing.contact,
            owner=self._agent,
            token=self._next_token(tx, standing),
            acquired_at_ms=tx.now_ms,
            expires_at_ms=tx.now_ms + length_ms,
            length_ms=length_ms,
        )
        tx.put(row)
        self._escalation.forget(tx, standing.contact)
        self._noted(tx, "acquire", "granted", standing, row.token)
        return self._answer(tx, row)

    def _next_token(self, tx: Transaction, standing: Standing) -> int:
        """One more than any before it, kept apart from the lease that may be removed (spec: L4)."""
        fence = tx.get(FenceRow, standing.contact)
        token = 1 + (fence.token if fence else 0)
        tx.put(FenceRow(key=standing.contact, token=token))
        return token

    # -- renew -----------------------------------------------------------------------------------

    def renew(self, contact: str, token: int) -> Lease | Refused:
        """Extend the caller's live lease; the answer carries the contact load (spec: L6, C5)."""
        with self._store.transaction(self._deadline_s) as tx:
            standing = self.read(tx, contact)
            point("renew.read", contact)
            refused = self._may_renew(standing, token)
            if refused is None:
                answer = self._extend(tx, standing)
                point("renew.written", contact)
            else:
                self._refuse(tx, "renew", standing, token, refused)
        if refused is not None:
            return refused
        point("renew.committed", contact)
        return answer

    def _may_renew(self, standing: Standing, token: int) -> Refused | None:
        """Only the current, unexpired holder may; after expiry nobody, wanted or not (spec: L6)."""
        return self.check_fence(standing, token) or self.check_expiry(standing, token)

    def _extend(self, tx: Transaction, standing: Standing) -> Lease:
        """Owner and token stay; the end is computed from the store's now (spec: L6)."""
        assert standing.lease is not None
        row = self._renewed(standing.lease, tx.now_ms)
        tx.put(row)
        self._noted(tx, "renew", "renewed", standing, row.token)
        return self._answer(tx, row)

    def _renewed(self, lease: LeaseRow, now_ms: int) -> LeaseRow:
        """The lease with its new end (spec: L6)."""
        return msgspec.structs.replace(lease, expires_at_ms=now_ms + lease.length_ms)

    # -- release ---------------------------------------------------------------------------------

    def release(self, contact: str, token: int) -> Released | Refused:
        """Free the caller's lease, and nobody else's (spec: L7)."""
        with self._store.transaction(self._deadline_s) as tx:
            standing = self.read(tx, contact)
            point("release.read", contact)
            refused = self._may_release(standing, token)
            if refused is None:
                self._free(tx, standing, token)
                point("release.written", contact)
            else:
                self._refuse(tx, "release", standing, token, refused)
        if refused is not None:
            return refused
        point("release.committed", contact)
        return Released(key=contact, token=standing.fence)

    def _may_release(self, standing: Standing, token: int) -> Refused | None:
        """Only the current holder; anyone else changes nothing and is told so (spec: L7)."""
        return self.check_fence(standing, token) or self.check_expiry(standing, token)

    def _free(self, tx: Transaction, standing: Standing, token: int) -> None:
        """Remove the lease; its token lives on in the fence (spec: L4, L7)."""
        tx.delete(LeaseRow, standing.contact)
        self._noted(tx, "release", "released", standing, token)

    # -- what a send asks ------------------------------------------------------------------------

    def check_fence(self, standing: Standing, token: int | None) -> Refused | None:
        """The stored lease is the caller's own and carries the caller's token (spec: S3)."""
        if token is not None and token < standing.fence:
            return stale_token(standing.contact, token, standing.fence, standing.lease)
        if not self._owns(standing.lease, token):
            return not_holder(standing.contact, self._agent, standing.lease, standing.fence)
        return None

    def _owns(self, lease: LeaseRow | None, token: int | None) -> bool:
        """Token and owner both must match: a token alone is no credential (spec: S3, O7)."""
        return lease is not None and lease.token == token and lease.owner == self._agent

    def check_expiry(self, standing: Standing, token: int | None) -> Refused | None:
        """The stored lease is not over by the store's clock (spec: S3, L5)."""
        lease = standing.lease
        if lease is not None and lease.token == token and lease.expires_at_ms <= standing.now_ms:
            return lease_expired(lease, standing.now_ms)
        return None

    # -- answers and log -------------------------------------------------------------------------

    def _answer(self, tx: Transaction, row: LeaseRow) -> Lease:
        timeline = tx.get(TimelineRow, row.key)
        return Lease(
            key=row.key,
            owner=row.owner,
            token=row.token,
            acquired_at_ms=row.acquired_at_ms,
            expires_at_ms=row.expires_at_ms,
            granted_at_ms=tx.now_ms,
            cooldown_until_ms=self._cooldown.until_ms(timeline, MessageKind.COMMERCIAL, tx.now_ms),
            contact_load=self._cooldown.load(timeline, tx.now_ms),
        )

    def _noted(
        self, tx: Transaction, event: str, decision: str, standing: Standing, token: int
    ) -> None:
        self._audit.note(
            tx,
            event=event,
            key=standing.contact,
            decision=decision,
            state=standing.as_state(),
            token=token,
            owner=self._agent,
        )

    def _refuse(
        self, tx: Transaction, event: str, standing: Standing, token: int, refused: Refused
    ) -> None:
        self._audit.refused(
            tx, refused, event=event, key=standing.contact, state=standing.as_state(), token=token
        )
