"""Without the lint first: the key is looked at before the message.

An unfit message under a used key is told that the key was used for another one, and its fault
only shows under the next key (spec: O6).

Caught by `messages.fit`. Masked by: unfit messages that come under keys of their own.
"""

from __future__ import annotations

from leaserace.harness.contract import Message, Refused, Sent

from ..idempotency import Draft
from ..outcomes import Refusal, unfit
from ..parts import Parts
from ..records import SendRow
from ..sending import Sending
from ..target import ReferenceTarget
from .twin import Twin


class LateLintSending(Sending):
    """Looks at the key, then at the message."""

    def _inspect(self, message: Message) -> None:
        faults = [fault for fault in self._lint.faults(message) if fault.field == "to"]
        if faults:  # without a recipient there is nobody to look anything up for
            raise Refusal(unfit(faults))

    def _authorise(self, draft: Draft) -> SendRow | Sent | Refused:
        with self._store.transaction(self._deadline_s) as tx:
            known = self._resolve_key(tx, draft)
        if known is not None:
            return known
        super()._inspect(draft.message)
        return super()._authorise(draft)


twin = Twin(
    name="without_lint_first",
    safeguard="the lint runs before the key is looked at",
    caught_by=("messages.fit",),
    masked_by="unfit messages that come under keys of their own",
    spec=("O6",),
)
target = ReferenceTarget(Parts(sending=LateLintSending), twin.name)
