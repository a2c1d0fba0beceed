"""Without a state for what may be out: a restarted worker takes it for not sent.

The outbox knows pending and sent only; at a restart everything pending is made ready to be sent
again, also what was handed over before the crash (spec: S8, K10).

Caught by `sends.once` or `sends.steps_in_order` or `cooldown.no_double_contact` or
`cooldown.binds_all`. Masked by: workers that never crash.
"""

from __future__ import annotations

from leaserace.harness.contract import AgentContext, SendState

from ..mailbox import ReferenceMailbox
from ..outbox import IN_FLIGHT
from ..records import SendRow
from ..target import ReferenceTarget
from .twin import Twin


class RecoveringMailbox(ReferenceMailbox):
    """Resets what its agent left pending."""

    def recover(self) -> None:
        """Make every pending send of this agent ready to run again."""
        with self._store.transaction(self._deadline_s) as tx:
            for row in tx.rows(SendRow):
                if row.agent == self.agent and row.state in IN_FLIGHT:
                    self._parts.outbox.settle(tx, row, SendState.WITHDRAWN, "pending at a restart")


class RecoveringTarget(ReferenceTarget):
    """Recovers at each restart of an agent."""

    mailbox = RecoveringMailbox

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        mailbox = super().connect(agent)
        if agent.incarnation and isinstance(mailbox, RecoveringMailbox):
            mailbox.recover()
        return mailbox


twin = Twin(
    name="without_dispatching_state",
    safeguard="what may have been handed over is never sent again by itself",
    caught_by=(
        "sends.once",
        "sends.steps_in_order",
        "cooldown.no_double_contact",
        "cooldown.binds_all",
    ),
    masked_by="workers that never crash",
    spec=("S8", "K10"),
)
target = RecoveringTarget(name=twin.name)
