"""Which class does what in the mailbox, and how they are put together for one agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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

Made = TypeVar("Made")


class part(Generic[Made]):  # noqa: N801 - it is used as a decorator
    """A part that is made when it is asked for first, and kept.

    As `functools.cached_property`, which in Python 3.11 takes a lock shared by all mailboxes.
    """

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, assembly: Any, _: type | None = None) -> Made:
        made = assembly.__dict__[self._name] = self._make(assembly)
        return made


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

    @part
    def identity(self) -> Identity:
        """Who an address is (spec: I)."""
        return self._kinds.identity(self._policy.addresses)

    @part
    def audit(self) -> Audit:
        """The log of every decision (spec: R3)."""
        return self._kinds.audit(self._agent)

    @part
    def cooldown(self) -> Cooldown:
        """When a contact may be written to again (spec: C2)."""
        return self._kinds.cooldown(self._agent, self._policy)

    @part
    def breaker(self) -> Breaker:
        """What halts all sending (spec: O5)."""
        return self._kinds.breaker(self._policy)

    @part
    def budget(self) -> Budget:
        """What an agent may send without a person (spec: O5)."""
        return self._kinds.budget(self._agent, self._policy)

    @part
    def keys(self) -> Keys:
        """Idempotency keys (spec: K)."""
        return self._kinds.keys(self._agent, self._policy)

    @part
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

    @part
    def suppression(self) -> Suppression:
        """The shared list of those who are not written to (spec: C1)."""
        return self._kinds.suppression(
            agent=self._agent,
            policy=self._policy,
            store=self._store,
            audit=self.audit,
            breaker=self.breaker,
        )

    @part
    def outbox(self) -> Outbox:
        """The send records and their states (spec: S8)."""
        return self._kinds.outbox(
            agent=self._agent,
            policy=self._policy,
            audit=self.audit,
            cooldown=self.cooldown,
            breaker=self.breaker,
        )

    @part
    def opt_outs(self) -> OptOuts:
        """Links and words by which a contact opts out (spec: C6)."""
        return self._kinds.opt_outs(self._policy)

    @part
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

    @part
    def inquiry(self) -> Inquiry:
        """What settles an unknown outcome (spec: K10)."""
        return self._kinds.inquiry(
            policy=self._policy,
            store=self._store,
            transport=self._transport,
            outbox=self.outbox,
        )

    @part
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

    @part
    def clean_up(self) -> CleanUp:
        """What removes old rows (spec: K5)."""
        return self._kinds.clean_up(policy=self._policy, store=self._store, cooldown=self.cooldown)

    @part
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
