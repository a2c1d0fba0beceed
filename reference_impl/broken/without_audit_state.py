"""Without the state in the log: a refusal does not say on what.

The log names decisions and not the policy state they were made on, so nobody can trace a
duplicate to what allowed it (spec: R3).

Caught by `audit.refusal_has_state`. Masked by: looking at answers only.
"""

from __future__ import annotations

from typing import Any

from ..audit import Audit
from ..parts import Parts
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class TerseAudit(Audit):
    """Writes down what was decided."""

    def note(self, tx: Transaction, **entry: Any) -> None:
        """Write one decision."""
        super().note(tx, **entry | {"state": {}})


twin = Twin(
    name="without_audit_state",
    safeguard="the log carries the state each decision was made on",
    caught_by=("audit.refusal_has_state",),
    masked_by="looking at answers only",
    spec=("R3",),
)
target = ReferenceTarget(Parts(audit=TerseAudit), twin.name)
