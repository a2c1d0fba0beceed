"""The mailbox one agent speaks to, put together from its parts (spec: R)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from leaserace.harness.clocks import AgentClock, SystemClock
from leaserace.harness.contract import (
    Cleaned,
    Endpoint,
    Found,
    Json,
    Lease,
    Message,
    Noted,
    Received,
    Refused,
    Released,
    SendState,
    Sent,
    Taken,
    Transport,
)

from .identity import InvalidAddress
from .outcomes import Refusal, invalid_address, not_authorised, store_busy
from .parts import Assembly, Parts
from .policy import Policy, Situation
from .stores.protocol import Store, StoreBusy, Transaction
from .texts import check_reason

Result = TypeVar("Result")
MESSAGE_ID_KNOWN = (SendState.DISPATCHING, SendState.DELIVERED, SendState.UNKNOWN)
"""States in which a message of that id may exist."""


class ReferenceMailbox:
    """A `Mailbox` over a store and a transport.

    Args:
        agent: Id of the agent it serves.
        policy: Lengths and limits.
        store: Where the records are.
        transport: The door mail leaves by.
        parts: Which class does what.
        agent_clock: The agent's own clock; nothing here asks it (spec: L5).
    """

    def __init__(
        self,
        *,
        agent: str,
        policy: Policy,
        store: Store,
        transport: Transport,
        parts: Parts | None = None,
        agent_clock: AgentClock | None = None,
    ) -> None:
        self.agent = agent
        self.agent_clock = agent_clock or SystemClock()
        self._deadline_s = policy.store_deadline_s
        self._store = store
        self._parts = Assembly(
            parts or Parts(), agent=agent, policy=policy, store=store, transport=transport
        )

    def acquire(self, address: str, situation: Situation = Situation.DRAFTING) -> Lease | Refused:
        """Claim the contact for as long as `situation` allows (spec: L3, L10)."""
        return self._on_contact(
            "acquire", address, lambda key: self._parts.leases.acquire(key, situation)
        )

    def renew(self, address: str, token: int) -> Lease | Refused:
        """Extend the caller's own live lease from the store's now (spec: L6)."""
        return self._on_contact("renew", address, lambda key: self._parts.leases.renew(key, token))

    def release(self, address: str, token: int) -> Released | Refused:
        """Free the caller's own lease (spec: L7)."""
        return self._on_contact(
            "release", address, lambda key: self._parts.leases.release(key, token)
        )

    def send(self, message: Message) -> Sent | Refused:
        """Run the six steps of the send path (spec: S)."""
        return self._answered("send", lambda: self._parts.sending.send(message))

    def reply(self, message: Message) -> Sent | Refused:
        """Answer a message: the same six steps, and its key is one with theirs (spec: K8)."""
        return self.send(replace(message, endpoint=Endpoint.REPLY))

    def forward(self, message: Message) -> Sent | Refused:
        """Pass a message on: the same six steps, and its key is one with theirs (spec: K8)."""
        return self.send(replace(message, endpoint=Endpoint.FORWARD))

    def lookup(self, key: str) -> Found | Refused:
        """Tell what became of the send under this key; asks the transport (spec: R, K1, S9)."""
        return self._answered("lookup", lambda: self._lookup(key))

    def cancel(self, key: str) -> Found | Refused:
        """Take the send under this key back, or say truthfully that it is too late (spec: X17)."""
        return self._answered("cancel", lambda: self._parts.cancelling.cancel(key))

    def suppress(
        self, address: str, reason: str, event_at_ms: int | None = None
    ) -> Noted | Refused:
        """Put the contact on the shared list; `event_at_ms` where it happened before (spec: C1, C7)."""

        def act(key: str) -> Noted:
            check_reason(reason, key)
            return self._parts.suppression.suppress(key, reason, event_at_ms)

        return self._on_contact("suppress", address, act)

    def unsuppress(
        self, address: str, person: str, event_at_ms: int | None = None
    ) -> Noted | Refused:
        """A person takes the contact off the list (spec: C1, C7)."""
        return self._on_contact(
            "unsuppress",
            address,
            lambda key: self._parts.suppression.unsuppress(key, person, event_at_ms),
        )

    def resubscribe(self, address: str, event_at_ms: int | None = None) -> Noted | Refused:
        """The contact asked for mail again, which withdraws an opt-out (spec: C7)."""
        return self._on_contact(
            "resubscribe",
            address,
            lambda key: self._parts.suppression.resubscribe(key, event_at_ms),
        )

    def override(self, address: str, person: str, reason: str) -> Noted | Refused:
        """A person lets the next send skip the cooldown (spec: C4)."""
        return self._on_contact(
            "override", address, lambda key: self._override(key, person, reason)
        )

    def note_contact(self, address: str, channel: str) -> Noted | Refused:
        """Count a contact that was made by another channel or team (spec: C5)."""
        return self._on_contact(
            "note_contact", address, lambda key: self._note_contact(key, channel)
        )

    def approve(self, agent: str, person: str, sends: int = 1) -> Noted | Refused:
        """A person lets the agent send more than its budget (spec: O5, O7)."""
        return self._answered(
            "approve",
            lambda: self._as_person(
                "approve", person, {"agent": agent, "sends": sends}, self._approval(agent, sends)
            ),
        )

    def resume(self, person: str, reason: str) -> Noted | Refused:
        """A person lets a halted mailbox send again (spec: O5, O7)."""

        def act() -> Noted:
            check_reason(reason)
            return self._as_person("resume", person, {"reason": reason}, self._parts.breaker.resume)

        return self._answered("resume", act)

    def receive(self, event: Received, release_token: int | None = None) -> Taken | Refused:
        """Take a message a contact wrote, once; an opt-out in it is written first (spec: O4, C3).

        Args:
            event: The message.
            release_token: Token of the caller's lease on the contact, to release it afterwards.
        """
        taken = self._answered("receive", lambda: self._parts.inbound.take(event))
        if release_token is not None and isinstance(taken, Taken):
            self.release(taken.key, release_token)
        return taken

    def opt_out(self, token: str, form: Mapping[str, str]) -> Noted | Refused:
        """Honour a one-click opt-out at once (spec: C6)."""
        return self._answered("opt_out", lambda: self._parts.inbound.one_click(token, form))

    def clean_up(self) -> Cleaned | Refused:
        """Remove old rows (spec: K5, L4)."""
        return self._answered("clean_up", self._parts.clean_up.run)

    def close(self) -> None:
        """Give back the connection."""
        self._store.close()

    def _lookup(self, key: str) -> Found:
        normal = self._parts.keys.normalise(key)
        with self._store.transaction(self._deadline_s) as tx:
            row = self._parts.outbox.find_settled(tx, normal)
            cancelled = self._parts.cancelling.find(tx, normal)
        if row is not None and row.state is SendState.UNKNOWN:
            row = self._parts.inquiry.settle(row)
        if cancelled is not None and (row is None or row.state is SendState.WITHDRAWN):
            return Found(state=SendState.CANCELLED)
        if row is None:
            return Found(state=SendState.ABSENT)
        known = row.state in MESSAGE_ID_KNOWN
        return Found(state=row.state, message_id=row.message_id if known else None)

    def _override(self, contact: str, person: str, reason: str) -> Noted:
        check_reason(reason, contact)
        if not self._parts.suppression.is_person(person):
            raise Refusal(not_authorised(person, "override a cooldown"), contact)
        with self._store.transaction(self._deadline_s) as tx:
            self._parts.cooldown.override(tx, contact, person, reason)
            self._parts.audit.note(
                tx,
                event="override",
                key=contact,
                decision="noted",
                actor=person,
                state={"person": person, "reason": reason},
            )
            return Noted(at_ms=tx.now_ms)

    def _approval(self, agent: str, sends: int) -> Callable[[Transaction], None]:
        return lambda tx: self._parts.budget.approve(tx, agent, max(0, sends))

    def _as_person(
        self, event: str, person: str, state: Mapping[str, Json], act: Callable[[Transaction], None]
    ) -> Noted:
        """What only a person may do, with its record (spec: O7, R3)."""
        if not self._parts.suppression.is_person(person):
            raise Refusal(not_authorised(person, event))
        with self._store.transaction(self._deadline_s) as tx:
            act(tx)
            self._parts.audit.note(
                tx, event=event, key="", decision="noted", actor=person, state=dict(state)
            )
            return Noted(at_ms=tx.now_ms)

    def _note_contact(self, contact: str, channel: str) -> Noted:
        with self._store.transaction(self._deadline_s) as tx:
            self._parts.cooldown.note(tx, contact, channel)
            self._parts.audit.note(
                tx, event="note_contact", key=contact, decision="noted", state={"channel": channel}
            )
            return Noted(at_ms=tx.now_ms)

    def _on_contact(
        self, event: str, address: str, action: Callable[[str], Result]
    ) -> Result | Refused:
        """Do it for the contact the address belongs to (spec: I1, I4)."""

        def act() -> Result:
            try:
                contact = self._parts.identity.key(address).key
            except InvalidAddress as error:
                raise Refusal(invalid_address(str(error))) from error
            return action(contact)

        return self._answered(event, act)

    def _answered(self, event: str, action: Callable[[], Result]) -> Result | Refused:
        """Its answer, or the refusal that came before any transaction."""
        try:
            try:
                return action()
            except Refusal as refusal:
                return self._refuse(event, refusal.contact, refusal.refused)
        except StoreBusy:
            return store_busy(self._deadline_s)

    def _refuse(self, event: str, contact: str, refused: Refused) -> Refused:
        """Every decision is logged, a refusal of bad input too (spec: R3)."""
        with self._store.transaction(self._deadline_s) as tx:
            self._parts.audit.refused(
                tx, refused, event=event, key=contact, state={"detail": refused.detail}
            )
        return refused
