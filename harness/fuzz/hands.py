"""What a stage moves and remembers: agents, calls that stand still, messages, answers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Protocol

from ..contract import Answer, Lease, Message
from ..scenario import Actor, Call, Pending, Stop
from .steps import Step


class Errands(Protocol):
    """What is done to a mailbox from behind, where an engine can reach it."""

    can_clean_up: bool
    can_tell_late: bool
    """`suppress` takes ``event_at_ms``: when the event happened (spec: C7)."""

    def connect(self, actor: Actor) -> bool:
        """Whether the agent is connected; one that was restarted may have to wait for the store."""
        ...

    def clean_up(self, actor: Actor) -> None:
        """Remove old rows, as the mailbox's own chore."""
        ...


@dataclass(slots=True, kw_only=True)
class Draft:
    """A message an agent has tried to send, for retries."""

    contact: int
    agent: int
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A call that stands still at a point."""

    pending: Pending
    stop: Stop
    step: Step
    call: Call


@dataclass(slots=True, kw_only=True)
class Hand:
    """An agent as the fuzzer moves it.

    Args:
        actor: The agent.
        leases: Contact to the leases it was granted, in order.
        open: Its call that stands still at a point.
        is_dead: It crashed and was not restarted.
    """

    actor: Actor
    leases: dict[int, list[Lease]] = field(default_factory=lambda: defaultdict(list))
    open: Standing | None = None
    is_dead: bool = False

    @property
    def is_free(self) -> bool:
        """Whether it can begin a call."""
        return self.open is None and not self.is_dead


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A step that was made, and what came of it ("" where nothing was answered)."""

    step: Step
    answer: Answer | None = None


__all__ = ["Draft", "Errands", "Hand", "Standing", "Told"]
