"""Without opt-outs in replies: what a contact writes is answered, whatever it says.

Only the one-click form and the address of opt-outs take somebody off the list's mail; a plain
"please unsubscribe me" is a message like any other (spec: O4, C3).

Caught by `scenario.expected`. Masked by: contacts that use the link.
"""

from __future__ import annotations

from leaserace.harness.contract import Received

from ..inbound import Inbound
from ..parts import Parts
from ..stores.protocol import Transaction
from ..target import ReferenceTarget
from .twin import Twin


class WordBlindInbound(Inbound):
    """Reads no words."""

    def _opted_out(self, tx: Transaction, sender: str, received: Received) -> str | None:
        found = super()._opted_out(tx, sender, received)
        return found if self._is_opt_out_address(received.to) else None


twin = Twin(
    name="without_opt_out_in_replies",
    safeguard="an opt-out in a reply is recognised",
    caught_by=("scenario.expected",),
    masked_by="contacts that use the link",
    spec=("O4", "C3"),
)
target = ReferenceTarget(Parts(inbound=WordBlindInbound), twin.name)
