"""Without the second look: nothing is checked again before the hand-over.

Between its authorisation and its hand-over a send stands still for as long as it likes; an opt-
out or a newer grant in that time does not stop it (spec: S8).

Caught by `suppression.wins` or `tokens.commit_order`. Masked by: workers that hand over at once.
"""

from __future__ import annotations

from leaserace.harness.contract import Refused

from ..idempotency import Draft
from ..parts import Parts
from ..sending import Seen, Sending
from ..target import ReferenceTarget
from .twin import Twin


class TrustingSending(Sending):
    """Believes what was checked at the authorisation."""

    def _check_again(self, seen: Seen, draft: Draft) -> list[Refused]:  # noqa: ARG002
        return []


twin = Twin(
    name="without_second_look",
    safeguard="token and list are looked at again at the step into dispatching",
    caught_by=("suppression.wins", "tokens.commit_order"),
    masked_by="workers that hand over at once",
    spec=("S8",),
)
target = ReferenceTarget(Parts(sending=TrustingSending), twin.name)
