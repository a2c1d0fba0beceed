"""Cancellations: one of the two wins, and the answer is true (spec: X17)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..contract import Capability, SendState
from ..history import DeliveryEvent, Operation, OpType
from ..verdict import Finding
from .base import Rule
from .ledger import Intent, View


class Truthful(Rule):
    """What was cancelled never arrives, and what was too late to cancel because it was delivered did.

    Spec: X17, S8. A cancellation answered `cancelled` beats every try under its key, earlier ones and
    later ones; a message that arrives all the same shows that the answer was a lie. One answered
    `delivered` needs the message. A message that arrived under another key, or by a try that may have
    come outside the key's window (K5), proves nothing.

    Legal::

        sales-01   send key k invoked
        support-01 cancel key k -> cancelled
        sales-01   send key k -> send_cancelled

    Illegal::

        sales-01   send key k invoked
        support-01 cancel key k -> cancelled
        sales-01   send key k -> sent             (delivered)
    """

    name = "cancels.truthful"
    spec = ("X17", "S8")
    needs = frozenset({Capability.CANCEL, Capability.SEND, Capability.IDEMPOTENCY})
    hears = frozenset({"cancel"})
    outcomes = frozenset({OpType.OK})

    def completed(self, view: View) -> Iterable[Finding]:
        """Whether something had arrived already."""
        self.exercised += 1
        if not _is_cancelled(view.op):
            return
        sends = self.ledger.keys.get(view.key, ())
        for name in dict.fromkeys(each.intent for each in sends):
            intent = self.ledger.intents.get(name)
            if intent is not None and intent.deliveries:
                yield from self._arrived(intent)

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        return () if intent is None else self._arrived(intent)

    def _arrived(self, intent: Intent) -> Iterable[Finding]:
        """A finding if every try that can have made it arrive was cancelled."""
        if not self.ledger.cancels:
            return
        causes = intent.causes()
        cancels = [self._cancelled(view) for view in causes]
        if cancels[0] is not None and all(cancels):
            yield self.finding(
                f"{cancels[0].agent} was told that {intent.name} to {intent.person.name} is "
                f"cancelled, and it arrived",
                *(view.op for view in causes),
                cancels[0],
            )

    def _cancelled(self, view: View) -> Operation | None:
        """The cancellation that certainly holds for this try."""
        reach_ns = self.ledger.window_ns - self.ledger.window_slack_ns
        for cancel in self.ledger.cancels.get(view.key, ()):
            op = cancel.op
            if op.type is OpType.OK and _is_cancelled(op) and _apart_ns(op, view.op) < reach_ns:
                return op
        return None

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        """What was said to be delivered has arrived."""
        for key, cancels in self.ledger.cancels.items():
            names = {view.intent for view in self.ledger.keys.get(key, ())}
            intents = [self.ledger.intents[name] for name in names if name in self.ledger.intents]
            if not intents or any(intent.deliveries for intent in intents):
                continue
            told = [view.op for view in cancels if _is_delivered(view.op)]
            if told:
                yield self.finding(
                    f"{told[0].agent} was told that it is too late to cancel key {key}, since it is "
                    f"delivered, but nothing arrived",
                    *told,
                )


def _is_cancelled(op: Operation) -> bool:
    return bool(op.answer.get("state") == SendState.CANCELLED)


def _is_delivered(op: Operation) -> bool:
    return bool(op.type is OpType.OK and op.answer.get("state") == SendState.DELIVERED)


def _apart_ns(one: Operation, two: Operation) -> int:
    """How far apart the two can have been."""
    ends = [op.completed_ns or op.invoked_ns for op in (one, two)]
    return max(ends) - min(one.invoked_ns, two.invoked_ns)
