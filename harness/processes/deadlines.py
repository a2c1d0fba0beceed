"""How long each thing may take before it is cut off; nothing waits for ever."""

from __future__ import annotations

from dataclasses import dataclass


class RaceAborted(Exception):  # noqa: N818 - it is what happened
    """The race can't go on; why stands among its problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Seconds; all far above what a healthy target needs on a crowded machine.

    Args:
        import_s: Importing the target's module.
        start_s: The target's `start`.
        connect_s: The target's `connect` in an agent's process.
        call_s: One mailbox call, beyond the time a fault of ours holds it.
        clock_s: The target's `now_ms`.
        audit_s: The target's `audit`.
        stop_s: The target's `stop`, and an agent's `close`.
        settle_s: Arrival of what a target says it sent.
        own_s: An answer of our own sink.
        agent_s: How long an agent that is told to stop may go on.
    """

    import_s: float = 20.0
    start_s: float = 20.0
    connect_s: float = 10.0
    call_s: float = 10.0
    clock_s: float = 5.0
    audit_s: float = 10.0
    stop_s: float = 5.0
    settle_s: float = 1.0
    own_s: float = 10.0
    agent_s: float = 2.0
