"""Without a look-up that tells of unknown sends: they are said to be absent.

A look-up knows delivered messages only. An agent that looks up after a lost answer is told that
no message exists, and believes that it may write anew (spec: K10, S8, R).

Caught by `keys.replay_is_original`. Masked by: the key itself, which still refuses the same
message.
"""

from __future__ import annotations

from leaserace.harness.contract import Found, SendState

from ..mailbox import ReferenceMailbox
from ..target import ReferenceTarget
from .twin import Twin


class ForgetfulMailbox(ReferenceMailbox):
    """Looks up what is certain."""

    def _lookup(self, key: str) -> Found:
        found = super()._lookup(key)
        certain = {SendState.DELIVERED, SendState.WITHDRAWN, SendState.AUTHORIZED}
        return found if found.state in certain else Found(state=SendState.ABSENT)


class ForgetfulTarget(ReferenceTarget):
    """Gives each agent such a mailbox."""

    mailbox = ForgetfulMailbox


twin = Twin(
    name="without_lookup_of_unknown",
    safeguard="a look-up tells the Message-ID that may exist",
    caught_by=("keys.replay_is_original",),
    masked_by="the key itself, which still refuses the same message",
    spec=("K10", "S8", "R"),
)
target = ForgetfulTarget(name=twin.name)
