"""Without escalation: a conflict stays the agent's own affair.

Refusals are counted and the limit is passed, and still the answer is to wait (spec: R2).

Caught by `refusals.escalated`. Masked by: agents that hand over by themselves.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..escalation import Escalation
from ..outcomes import contact_owned
from ..parts import Parts
from ..records import LeaseRow
from ..target import ReferenceTarget
from .twin import Twin


class QuietEscalation(Escalation):
    """Never asks for a person."""

    def refuse(self, lease: LeaseRow, count: int) -> Refused:  # noqa: ARG002
        """Say who is in the way."""
        return contact_owned(lease)


twin = Twin(
    name="without_escalation",
    safeguard="a repeated conflict is handed to a person",
    caught_by=("refusals.escalated",),
    masked_by="agents that hand over by themselves",
    spec=("R2",),
)
target = ReferenceTarget(Parts(escalation=QuietEscalation), twin.name)
