"""Which class does what in the mailbox, and how they are put together for one agent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from leaserace.harness.contract import Transport

from .audit import Audit
from .budgets import Breaker, Budget
from .cancelling import Cancelling
from .cleanup import CleanUp
from .cooldown import Cooldown
from .escalation import Escalation
from .idempotency import Keys
from .identity import Identity
from .inbound import Inbound, OptOuts
from .inquiry import Inquiry
from .leases import Leases
from .lint import Lint
from .outbox import Outbox
from .policy import Policy
from .sending import Sending
from .stores.protocol import Store
from .suppression import Suppression


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Which class does what; a variant of the mailbox replaces one of them."""

    identity: type[Identity] = Identity
    lint: type[Lint] = Lint
    audit: type[Audit] = Audit
    escalation: type[Escalation] = Escalation
    cooldown: type[Cooldown] = Cooldown
    breaker: type[Breaker] = Breaker
    budget: type[Budget] = Budget
    leases: type[Leases] = Leases
    suppression: type[Suppression] = Suppression
    keys: type[Keys] = Keys
    outbox: type[Outbox] = Outbox
    inquiry: type[Inquiry] = Inquiry
    opt_outs: type[OptOuts] = OptOuts
    inbound: type[Inbound] = Inbound
    cancelling: type[Cancelling] = Cancelling
    sending: type[Sending] = Sending
    clean_up: type[CleanUp] = CleanUp


class Assembly:
    """The parts of one agent's mailbox; each is made when it is asked for first.

    Args:
        kinds: Which class does what.
        agent: Id of the agent.
        policy: Lengths and limits.
        store: Where the records are.
        transport: The door mail leaves by.
    """

    def __init__(
        self, kinds: Parts, *, agent: str, policy: Policy, store: Store, transport: Transport
    ) -> None:
        self._kinds = kinds
        self._agent = agent
        self._policy = policy
        self._store = store
        self._transport = transport

    @cached_property
    def identity(self) -> Identity:
        """Who an address is (spec: I)."""
        return self._kinds.identity(self._policy.addresses)

    @cached_property
    def audit(self) -> Audit:
        """The log of every decision (spec: R3)."""
        return self._kinds.audit(self._agent)

    @cached_property
    def cooldown(self) -> Cooldown:
        """When a contact may be written to again (spec: C2)."""
        return self._kinds.cooldown(self._agent, self._policy)

    @cached_property
    def breaker(self) -> Breaker:
        """What halts all sending (spec: O5)."""
        return self._kinds.breaker(self._policy)

    @cached_property
    def budget(self) -> Budget:
        """What an agent may send without a person (spec: O5)."""
        return self._kinds.budget(self._agent, self._policy)

    @cached_property
    def keys(self) -> Keys:
        """Idempotency keys (spec: K)."""
        return self._kinds.keys(self._agent, self._policy)

    @cached_property
    def leases(self) -> Leases:
        """Contact leases (spec: L)."""
        return self._kinds.leases(
            agent=self._agent,
            policy=self._policy,
            store=self._store,
            audit=self.audit,
            cooldown=self.cooldown,
            escalation=self._kinds.escalation(self._agent, self._policy),
        )

    @cached_property
    def suppression(self) -> Suppression:
        """The shared list of those who are not written to (spec: C1)."""
        return self._kinds.suppression(
            agent=self._agent,
            policy=self._policy,
            store=self._store,
            audit=self.audit,
            breaker=self.breaker,
        )

    @cached_property
    def outbox(self) -> Outbox:
        """The send records and their states (spec: S8)."""
        return self._kinds.outbox(
            agent=self._agent,
            policy=self._policy,
            audit=self.audit,
            cooldown=self.cooldown,
            breaker=self.breaker,
        )

    @cached_property
    def opt_outs(self) -> OptOuts:
        """Links and words by which a contact opts out (spec: C6)."""
        return self._kinds.opt_outs(self._policy)

    @cached_property
    def inbound(self) -> Inbound:
        """What contacts write (spec: O4)."""
        return self._kinds.inbound(
            policy=self._policy,
            store=self._store,
            identity=self.identity,
            suppression=self.suppression,
            opt_outs=self.opt_outs,
            audit=self.audit,
        )

    @cached_property
    def inquiry(self) -> Inquiry:
        """What settles an unknown outcome (spec: K10)."""
        return self._kinds.inquiry(
            policy=self._policy,
            store=self._store,
            transport=self._transport,
            outbox=self.outbox,
        )

    @cached_property
    def cancelling(self) -> Cancelling:
        """What takes a send back (spec: X17)."""
        return self._kinds.cancelling(
            agent=self._agent,
            policy=self._policy,
            store=self._store,
            keys=self.keys,
            outbox=self.outbox,
            inquiry=self.inquiry,
            audit=self.audit,
        )

    @cached_property
    def clean_up(self) -> CleanUp:
        """What removes old rows (spec: K5)."""
        return self._kinds.clean_up(policy=self._policy, store=self._store, cooldown=self.cooldown)

    @cached_property
    def sending(self) -> Sending:
        """The six steps of the send path (spec: S)."""
        return self._kinds.sending(
            agent=self._agent,
            policy=self._policy,
            store=self._store,
            transport=self._transport,
            identity=self.identity,
            lint=self._kinds.lint(policy=self._policy, identity=self.identity),
            keys=self.keys,
            leases=self.leases,
            suppression=self.suppression,
            cooldown=self.cooldown,
            breaker=self.breaker,
            budget=self.budget,
            outbox=self.outbox,
            opt_outs=self.opt_outs,
            cancelling=self.cancelling,
            audit=self.audit,
        )
