"""Steps three to five of the send path: what is read, every refusal that holds, and the record of it.

The same checks are made twice: with the authorisation, and again right before the message may leave
(spec: S3-S5, S6, S8).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from leaserace.harness.contract import Code, Refused, Sent

from .audit import Audit
from .budgets import Breaker, Budget
from .cooldown import Cooldown
from .idempotency import Draft
from .leases import Leases, Standing
from .outcomes import cooldown_active, suppressed
from .records import (
    BudgetRow,
    CancelRow,
    HaltRow,
    OverrideRow,
    SendRow,
    SuppressionRow,
    TimelineRow,
)
from .stores.protocol import Transaction
from .suppression import Suppression


class Seen(NamedTuple):
    """What the checks of one send are made on, all read in one transaction (spec: S6, R3)."""

    standing: Standing
    suppression: SuppressionRow | None
    timeline: TimelineRow | None
    override: OverrideRow | None
    cooldown_until_ms: int | None
    halt: HaltRow | None = None
    budget: BudgetRow | None = None

    def as_state(self) -> dict[str, Any]:
        """The same for the audit log."""
        causes = self.suppression.causes if self.suppression else ()
        return {
            **self.standing.as_state(),
            "suppression": [cause.reason for cause in causes],
            "cooldown": {"until_ms": self.cooldown_until_ms},
            "override": {"person": self.override and self.override.person},
            "halted": self.halt and self.halt.reason,
            "spent": len(self.budget.spent) if self.budget else 0,
        }


class Checks:
    """What one send is judged by; a method for each check, so that a variant replaces one.

    Args:
        leases: Tokens and leases (S3).
        suppression: The list (S4).
        cooldown: The timeline (S5).
        breaker: Whether sending is halted (O5).
        budget: What the agent may do without a person (O5).
        audit: The log.
    """

    def __init__(
        self,
        *,
        leases: Leases,
        suppression: Suppression,
        cooldown: Cooldown,
        breaker: Breaker,
        budget: Budget,
        audit: Audit,
    ) -> None:
        self._leases = leases
        self._suppression = suppression
        self._cooldown = cooldown
        self._breaker = breaker
        self._budget = budget
        self._audit = audit

    def _look(self, tx: Transaction, draft: Draft) -> Seen:
        """Read what steps three to five judge."""
        timeline = tx.get(TimelineRow, draft.contact)
        return Seen(
            standing=self._leases.read(tx, draft.contact),
            suppression=self._suppression.find(tx, draft.contact),
            timeline=timeline,
            override=tx.get(OverrideRow, draft.contact),
            cooldown_until_ms=self._cooldown.until_ms(timeline, draft.message.kind, tx.now_ms),
            halt=self._breaker.halted(tx),
            budget=self._budget.standing(tx),
        )

    def _check(self, seen: Seen, draft: Draft) -> list[Refused]:
        """Steps three to five: every refusal that holds (S3, S4, S5, S7)."""
        found = (
            self._check_suppression(seen),
            self._check_fence(seen, draft),
            self._check_expiry(seen, draft),
            self._check_cooldown(seen, draft),
            self._check_breaker(seen),
            self._check_budget(seen, draft),
        )
        return [refused for refused in found if refused is not None]

    def _check_fence(self, seen: Seen, draft: Draft) -> Refused | None:
        """The caller's token is the stored one and the lease is its own (spec: S3)."""
        return self._leases.check_fence(seen.standing, draft.message.token)

    def _check_expiry(self, seen: Seen, draft: Draft) -> Refused | None:
        """The caller's lease still lives by the store's clock (spec: S3)."""
        return self._leases.check_expiry(seen.standing, draft.message.token)

    def _check_suppression(self, seen: Seen) -> Refused | None:
        """The list binds every agent, whatever its lease or override says (spec: S4, C1, C4)."""
        return suppressed(seen.suppression) if seen.suppression else None

    def _check_cooldown(self, seen: Seen, draft: Draft) -> Refused | None:
        """The contact is left alone for a while, unless a person said otherwise (spec: S5, C4)."""
        if seen.cooldown_until_ms is None:
            return None
        if self._cooldown.overridden(seen.override, seen.standing.now_ms):
            return None
        return cooldown_active(draft.contact, seen.cooldown_until_ms)

    def _check_breaker(self, seen: Seen) -> Refused | None:
        """Nobody sends while bounces or complaints are too many (spec: O5)."""
        return self._breaker.check(seen.halt)

    def _check_budget(self, seen: Seen, draft: Draft) -> Refused | None:
        """An agent stays within what it may do without a person (spec: O5)."""
        return self._budget.check(seen.budget, draft.key)

    def _check_again(self, seen: Seen, draft: Draft) -> list[Refused]:
        """The last look before the message may leave: list, token and breaker (spec: S8, O5)."""
        found = (
            self._check_suppression(seen),
            self._check_fence(seen, draft),
            self._check_breaker(seen),
        )
        return [refused for refused in found if refused is not None]

    def _note_known(
        self, tx: Transaction, draft: Draft, row: SendRow, answer: Sent | Refused
    ) -> None:
        """Write that a try was answered from the record of an earlier one."""
        refused = answer if isinstance(answer, Refused) else None
        self._audit.note(
            tx,
            event="send",
            key=draft.contact,
            decision=refused.code if refused else "replayed",
            token=draft.message.token,
            owner=row.agent,
            reasons=refused.reasons if refused else (),
            message_id=row.message_id,
            idempotency_key=row.key,
            state={
                "send_state": row.state,
                "attempt": row.attempt,
                "deadline_ms": row.deadline_ms,
                "settled_at_ms": row.settled_at_ms,
                "same_payload": refused is None or refused.code is not Code.KEY_REUSED,
            },
        )

    def _note_cancelled(
        self, tx: Transaction, draft: Draft, cancelled: CancelRow, refused: Refused
    ) -> None:
        self._audit.refused(
            tx,
            refused,
            event="send",
            key=draft.contact,
            state={"cancelled_by": cancelled.agent, "cancelled_at_ms": cancelled.at_ms},
            token=draft.message.token,
            idempotency_key=draft.key,
        )

    def _note_authorised(self, tx: Transaction, row: SendRow, seen: Seen) -> None:
        self._audit.note(
            tx,
            event="send",
            key=row.contact,
            decision=row.state,
            token=row.token,
            owner=row.agent,
            message_id=row.message_id,
            idempotency_key=row.key,
            state=seen.as_state(),
        )

    def _note_refused(
        self, tx: Transaction, event: str, draft: Draft, seen: Seen, refused: Refused
    ) -> None:
        self._audit.refused(
            tx,
            refused,
            event=event,
            key=draft.contact,
            state=seen.as_state(),
            token=draft.message.token,
            idempotency_key=draft.key,
        )
