"""What a target is started with and what its mail leaves by; part of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .clocks import AgentClock, StoreClock

Json = Any
"""What JSON can carry; a recursive alias would cost more than it tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Lengths a scenario asks for, so that one layer can't hide another.

    Args:
        lease_s: Length of a lease.
        cooldown_s: Cooldown after a delivery; 0 for none.
        key_window_s: How long a completed idempotency key is replayed.
        transport_timeout_s: How long a hand-over may take before the outcome is unknown.
        store_deadline_s: How long a store's lock is waited for before `store_busy`.
        breaker_minimum: Deliveries after which one bounce or complaint may halt all sending (spec: O5);
            0 for no breaker, None for what the target's policy says.
        keep_rows_s: How long rows of what has ended are kept from clean-up; None for what the target's
            policy says.
    """

    lease_s: float = 60.0
    cooldown_s: float = 0.0
    key_window_s: float = 86_400.0
    transport_timeout_s: float = 2.0
    store_deadline_s: float = 0.25
    breaker_minimum: float | None = None
    keep_rows_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message at the moment of its hand-over to a transport."""

    sender: str
    recipient: str
    message_id: str
    intent: str
    data: bytes


class NoAnswer(Exception):  # noqa: N818 - it is what happened, not a mistake
    """The transport did not say whether it took the message (spec: S8)."""


class Rejected(Exception):  # noqa: N818
    """The transport refused the message for certain; nothing was taken."""


class Transport(Protocol):
    """The door mail leaves by."""

    def hand_over(self, outgoing: Outgoing) -> None:
        """Hand one message over.

        Raises:
            NoAnswer: The outcome is unknown.
            Rejected: It was not taken.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a target is given to start in.

    Args:
        workdir: A folder of its own, removed or kept with the run.
        smtp: Host and port where mail must go.
        settings: Lengths to use; what can't be set is declared in `Target.fixed`.
        policy_file: A policy file of the user's, or None.
        clock: The store's clock in the simulator; None with real processes (use the store's own).
        transport: The door mail must leave by in the simulator; None means `smtp`.
        facts: What `Target.start` returned, for `Target.connect` in the agents' processes.
    """

    workdir: Path
    smtp: tuple[str, int]
    settings: Settings
    policy_file: Path | None = None
    clock: StoreClock | None = None
    transport: Transport | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """Who connects: given to `Target.connect` in the agent's own process.

    Args:
        id: Agent id, such as `sales-01`.
        incarnation: 0 at first, one more after each restart.
        env: The environment, with the facts `start` returned.
        clock: The agent's own clock, possibly skewed: a hint for when to renew, nothing more.
    """

    id: str
    incarnation: int
    env: Environment
    clock: AgentClock
