"""A conflict that keeps coming back is handed to a person (spec: R2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..contract import Capability, Code
from ..history import AuditEvent
from ..verdict import Finding
from .base import Rule

FORGOTTEN_MS = 3_600_000
"""After so long a count may have been cleaned up."""


class Escalated(Rule):
    """Each refusal by one lease is counted, and the last one allowed asks for a person.

    Spec: R1, R2, R3. Judged where the audit log tells the count: records of refused claims whose state has
    ``conflicts`` (how often this lease refused this agent, this time included) and
    ``escalate_after``. For one agent and one lease the count rises by one each time; a newer lease
    begins at one. From the limit on the answer is `approval_required`, and never before.

    Legal::

        audit: support-01 acquire contact_owned,     state conflicts 1, escalate_after 2
        audit: support-01 acquire approval_required, state conflicts 2, escalate_after 2

    Illegal::

        audit: support-01 acquire contact_owned, state conflicts 1, escalate_after 2
        audit: support-01 acquire contact_owned, state conflicts 1, escalate_after 2
    """

    name = "refusals.escalated"
    spec = ("R1", "R2", "R3")
    needs = frozenset({Capability.LEASE, Capability.AUDIT})
    decisions = frozenset({Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._counts: dict[tuple[str, str, int | None], tuple[int, int]] = {}

    def decided(self, event: AuditEvent) -> Iterable[Finding]:
        record = event.value
        state = record.get("state") or {}
        count, most = state.get("conflicts"), state.get("escalate_after")
        if count is None or most is None:
            return
        self.exercised += 1
        who, decision, at_ms = record["actor"], record["decision"], record["at_ms"]
        place = (who, record["key"], record.get("token"))
        last, last_ms = self._counts.get(place, (0, at_ms))
        self._counts[place] = (count, at_ms)
        about = f"record {event.seq} of the audit log: refusal {count} of {who} by one lease"
        if count != last + 1 and not (count == 1 and at_ms - last_ms >= FORGOTTEN_MS):
            yield self.finding(f"{about} follows refusal {last}", t=event.t)
        elif (count >= most) is not (decision == Code.APPROVAL_REQUIRED):
            yield self.finding(
                f"{about} is answered {decision}; from refusal {most} on a person decides",
                t=event.t,
            )

    def state(self) -> object:
        """What was counted."""
        return tuple(self._counts.items())
