"""What can go wrong, and where it is aimed: the words both engines and the history use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """Kinds of faults, as `FaultEvent.fault` carries them."""

    PAUSE = "pause"
    """The whole agent stands still (a real SIGSTOP with processes)."""
    HOLD = "hold"
    """Only the caller stands still; the agent runs on."""
    CRASH = "crash"
    """The agent is gone, with what it had in memory, until it is restarted."""
    LOST_REPLY = "lost_reply"
    """The call was executed, the answer was dropped."""
    SLOW_REPLY = "slow_reply"
    """The call was executed, the answer was held back."""
    SKEW = "skew"
    """The agent's clock is off."""
    STORE_CRASH = "store_crash"
    """The store crashed and came back: what was under way in it is gone."""
    TRANSPORT = "transport"
    """The receiving side does something else than accept."""


class Phase(StrEnum):
    """The two instants of a fault."""

    BEGIN = "begin"
    END = "end"


class Behaviour(StrEnum):
    """What the receiving side does with a message (spec: S8)."""

    ACCEPT = "accept"
    """Takes it and says so."""
    SILENT = "silent"
    """Takes it and drops the connection without a reply: the true ambiguous timeout."""
    REFUSE = "refuse"
    """Says 550 to the recipient; nothing is taken."""
    SLOW = "slow"
    """Takes it at once and says so late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AimedFault:
    """A fault that strikes an agent at its next passing of a point.

    Args:
        kind: Pause, hold or crash.
        point: The point's name, such as ``send.checked``.
    """

    kind: FaultKind
    point: str

    def __str__(self) -> str:
        return f"{self.kind}@{self.point}"
