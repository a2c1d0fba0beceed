"""The append-only log of every decision, in the order the decisions were committed (spec: R3)."""

from __future__ import annotations

from collections.abc import Mapping

from leaserace.harness.contract import Json, Refused

from .records import Decision
from .stores.protocol import Transaction


class Audit:
    """Writes decisions inside the transaction that makes them, so their order is its order.

    Args:
        agent: Who asks for what is decided.
    """

    __slots__ = ("_agent",)

    def __init__(self, agent: str) -> None:
        self._agent = agent

    def note(
        self,
        tx: Transaction,
        *,
        event: str,
        key: str,
        decision: str,
        state: Mapping[str, Json],
        token: int | None = None,
        owner: str | None = None,
        reasons: tuple[str, ...] = (),
        message_id: str | None = None,
        idempotency_key: str | None = None,
        actor: str | None = None,
    ) -> None:
        """Write one decision, with the state it was made on; arguments as in `AuditRecord`."""
        tx.append(
            Decision(
                at_ms=tx.now_ms,
                actor=actor or self._agent,
                event=event,
                key=key,
                decision=decision,
                token=token,
                owner=owner,
                reasons=reasons,
                state=state,
                message_id=message_id,
                idempotency_key=idempotency_key,
            )
        )

    def refused(
        self,
        tx: Transaction,
        refused: Refused,
        *,
        event: str,
        key: str,
        state: Mapping[str, Json],
        token: int | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """Write a refusal, with every reason that held (spec: S7)."""
        self.note(
            tx,
            event=event,
            key=key,
            decision=refused.code,
            state=state,
            token=token,
            owner=refused.owner,
            reasons=refused.reasons,
            message_id=refused.message_id,
            idempotency_key=idempotency_key,
        )
