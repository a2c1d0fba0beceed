"""Mail that an agent's habit doubles while the mailbox keeps every rule (spec: K9, O2, O3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ..history import AnyEvent, DeliveryEvent, OpEvent, OpType
from ..verdict import Finding

NAME = "duplicate, asked for"
"""What stands where a rule's name does; it is none."""


def doubled_in(events: Sequence[AnyEvent]) -> list[Finding]:
    """The messages that arrived more than once, each with its tries, in the form of findings.

    Args:
        events: A run in which no rule is broken.
    """
    arrived: dict[str, list[int]] = defaultdict(list)
    for event in events:
        if isinstance(event, DeliveryEvent):
            arrived[event.intent].append(event.t)
    return [_told(events, intent, times) for intent, times in arrived.items() if len(times) > 1]


def _told(events: Sequence[AnyEvent], intent: str, times: list[int]) -> Finding:
    tries = [
        event
        for event in events
        if isinstance(event, OpEvent)
        and event.type is OpType.INVOKE
        and event.f == "send"
        and event.value["message"]["intent"] == intent
        and event.t <= times[-1]
    ]
    keys = len({event.value["message"]["key"] for event in tries})
    how = f"under {keys} keys" if keys > 1 else "after the window of its key"
    return Finding(
        rule=NAME,
        spec=("K9", "O1"),
        message=(
            f"the message {intent} of {tries[0].agent} arrived {len(times)} times, asked for {how}; "
            f"the mailbox kept every rule"
        ),
        ops=tuple(event.op for event in tries),
        t=times[-1],
    )


__all__ = ["doubled_in"]
