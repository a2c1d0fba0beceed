"""A target on a bench: its clock is set by hand, its mail kept, its points listened to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from leaserace.harness import points
from leaserace.harness.clocks import ManualClock, OffsetClock
from leaserace.harness.contract import (
    AgentContext,
    Answer,
    Environment,
    FullMailbox,
    Lease,
    Mailbox,
    Message,
    MessageKind,
    Settings,
    Target,
)
from leaserace.reference_impl.transports.memory import MemoryTransport
from tests.reference_impl.watch import Crash, Watch, in_thread

JANE = "jane@example.com"
LEASE_MS = 60_000
COOLDOWN_S = 300.0
WINDOW_S = 3600.0
A, B = "sales-01", "support-01"

Demonstration = Callable[[Target], bool]
"""Shows a missing safeguard: True if the fault happened."""


class Bench:
    """One target, started afresh.

    Args:
        target: What is tried.
        cooldown_s: Cooldown; 0 keeps that layer out of the way.
        breaker_minimum: Deliveries after which a bounce may halt all sending.
    """

    def __init__(
        self, target: Target, cooldown_s: float = 0.0, *, breaker_minimum: float | None = None
    ) -> None:
        self.target = target
        self.clock = ManualClock()
        self.transport = MemoryTransport()
        self.env = Environment(
            workdir=Path(),
            smtp=("127.0.0.1", 0),
            settings=Settings(
                lease_s=LEASE_MS / 1000,
                cooldown_s=cooldown_s,
                key_window_s=WINDOW_S,
                store_deadline_s=0.02,
                breaker_minimum=breaker_minimum,
            ),
            clock=self.clock,
            transport=self.transport,
        )
        target.start(self.env)
        self._boxes: dict[str, Mailbox] = {}

    def box(self, agent: str = A) -> Mailbox:
        """The agent's mailbox, the same each time."""
        if agent not in self._boxes:
            self._boxes[agent] = self.connect(agent)
        return self._boxes[agent]

    def full(self, agent: str = A) -> FullMailbox:
        """The same mailbox, with the calls of further capabilities."""
        return cast("FullMailbox", self.box(agent))

    def connect(self, agent: str = A, *, incarnation: int = 0, ahead_ms: int = 0) -> Mailbox:
        """Another process of the agent, with a clock of its own."""
        clock = OffsetClock(self.clock, ahead_ms)
        return self.target.connect(
            AgentContext(id=agent, incarnation=incarnation, env=self.env, clock=clock)
        )

    def lease(self, agent: str = A) -> Lease:
        """A lease on Jane that was granted."""
        lease = self.box(agent).acquire(JANE)
        assert isinstance(lease, Lease), lease
        return lease

    def expire(self) -> None:
        """Let every lease end."""
        self.clock.advance_ms(LEASE_MS)

    def message(self, lease: Lease, number: int = 1) -> Message:
        """A message under this lease."""
        return Message(
            to=JANE,
            subject=f"Hello {number}",
            body=f"This is number {number}.\n",
            token=lease.token,
            key=f"run:{number}",
            intent=f"intent-{number}",
            kind=MessageKind.COMMERCIAL,
        )

    def send(self, lease: Lease, number: int = 1) -> Answer:
        """Send a message in the name of the lease's owner."""
        return self.box(lease.owner).send(self.message(lease, number))

    def meanwhile(
        self, at: str, then: Callable[[], object], action: Callable[[], object]
    ) -> object:
        """Do `action`; when it stands at the point, another thread does `then`."""
        points.listen(Watch(at, lambda: in_thread(then)))
        try:
            return action()
        finally:
            points.listen(None)

    def crash_at(self, at: str, action: Callable[[], object]) -> bool:
        """Do `action` and die at the point; False if it never came by."""

        def die() -> None:
            raise Crash

        points.listen(Watch(at, die))
        try:
            action()
        except Crash:
            return True
        finally:
            points.listen(None)
        return False

    @property
    def arrived(self) -> int:
        """Messages the transport took."""
        return len(self.transport.taken)

    def under(self, lease: Lease, message: Message) -> Message:
        """The same message under a newer lease."""
        return replace(message, token=lease.token)


def both_granted(target: Target, *spellings: str) -> bool:
    """Whether two agents, each with its spelling, hold a lease at one time."""
    bench = Bench(target)
    answers = [
        bench.box(agent).acquire(each) for agent, each in zip((A, B), spellings, strict=True)
    ]
    return all(isinstance(answer, Lease) for answer in answers)
