"""The reference as a target of the harness: how to start it and how an agent connects."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from leaserace.harness.contract import (
    AgentContext,
    AuditRecord,
    Capability,
    Environment,
    Settings,
    Target,
    Transport,
)

from .mailbox import ReferenceMailbox
from .parts import Parts
from .policy import Policy, load_policy
from .stores.memory import MemoryStore
from .stores.protocol import Store
from .stores.sqlite import SqliteStore
from .transports.smtp import SmtpTransport

STORE_FILE = "mailbox.db"
POINTS = frozenset(
    {
        "acquire.read",
        "acquire.granted",
        "acquire.committed",
        "renew.read",
        "renew.written",
        "renew.committed",
        "release.read",
        "release.written",
        "release.committed",
        "send.normalised",
        "send.key_resolved",
        "send.checked",
        "send.recorded",
        "send.dispatching",
        "send.handed_over",
        "send.settled",
        "clean_up.read",
        "cancel.written",
        "cancel.committed",
        "receive.seen",
        "receive.committed",
        "suppress.written",
        "suppress.committed",
    }
)


class ReferenceTarget(Target):
    """Contact leases and idempotent sending over a SQLite file and SMTP.

    In the simulator, which brings its own clock and transport, over a memory store instead.

    Args:
        parts: Which class does what.
        name: What reports call it; default the reference's own name.
    """

    capabilities = frozenset(Capability)
    points = POINTS
    full_sync = False
    """Whether the store waits for the disk at every commit; races are about processes, not power."""
    mailbox: type[ReferenceMailbox] = ReferenceMailbox
    """What an agent is given; a variant may give another."""

    def __init__(self, parts: Parts | None = None, name: str | None = None) -> None:
        self.parts = parts or Parts()
        self._name = name
        self.store: Store | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._name or super().name

    def start(self, env: Environment) -> None:
        """Make the store, once, before any agent connects."""
        if env.clock is not None:
            self.store = MemoryStore(env.clock)
        else:
            path = env.workdir / STORE_FILE
            self.store = SqliteStore.create(path, full_sync=self.full_sync)
        self.policy_for(env)

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        """The mailbox this agent speaks to."""
        env = agent.env
        policy = self.policy_for(env)
        return self.mailbox(
            agent=agent.id,
            policy=policy,
            store=self.store_for(agent),
            transport=self.transport_for(env, policy),
            parts=self.parts,
            agent_clock=agent.clock,
        )

    def store_for(self, agent: AgentContext) -> Store:
        """The store this agent's mailbox works on: shared memory, or its own connection."""
        if agent.env.clock is not None and self.store is not None:
            return self.store
        return SqliteStore(agent.env.workdir / STORE_FILE, full_sync=self.full_sync)

    def policy_for(self, env: Environment) -> Policy:
        """The policy in force.

        Raises:
            UsageError: The file, or a value in it, can't be used.
        """
        return policy_of(env)

    def transport_for(self, env: Environment, policy: Policy) -> Transport:
        """The door mail leaves by."""
        if env.transport is not None:
            return env.transport
        host, port = env.smtp
        return SmtpTransport(host, port, policy.transport_timeout_s)

    def stop(self) -> None:
        """Close the store; its file stays with the run."""
        if self.store is not None:
            self.store.close()

    def audit(self) -> Iterable[AuditRecord]:
        """All decisions in commit order (spec: R3)."""
        return self.store.audit() if self.store is not None else ()

    def crash_store(self) -> None:
        """Let the store crash and come back (spec: L4)."""
        if self.store is not None:
            self.store.crash()

    def now_ms(self) -> int | None:
        """The store's clock (spec: L5)."""
        return self.store.now_ms() if self.store is not None else None


def policy_of(env: Environment) -> Policy:
    """The policy in force: the file's, with the lengths the harness asks for.

    Raises:
        UsageError: The file, or a value in it, can't be used.
    """
    return _policy(env.policy_file, env.settings)


@lru_cache(maxsize=64)
def _policy(path: Path | None, settings: Settings) -> Policy:
    return load_policy(path).with_settings(settings)


target = ReferenceTarget()
