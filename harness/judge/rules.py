"""What is judged of a log beside the rules of a race."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ..contract import Capability, SendState
from ..history import AuditEvent, DeliveryEvent, Operation
from ..rules.base import Rule
from ..rules.claims import Claim
from ..rules.leases import RenewalHolds
from ..rules.ledger import Intent, View
from ..rules.sends import Arrived, StepsInOrder
from ..verdict import Finding


class KeyPerSend(Rule):
    """One logical send has one idempotency key, whatever is tried again; else it arrives twice.

    Spec: K1, K7, K9. Where the mapping says what one logical send is, deliveries beyond its first are
    a finding also if each try had a key of its own: then no mailbox could have joined them.

    Legal::

        sales-01 send offer-7 key a -> reply lost    (delivered)
        sales-01 send offer-7 key a -> a replay

    Illegal::

        sales-01 send offer-7 key a -> reply lost    (delivered)
        sales-01 send offer-7 key b -> sent          (delivered)
    """

    name = "keys.one_per_send"
    spec = ("K1", "K7", "K9")
    needs = frozenset({Capability.SEND})

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        if intent is None or not intent.name:
            return
        self.exercised += 1
        if intent.deliveries < 2:
            return
        tries = intent.causes()
        keys = list(dict.fromkeys(view.key for view in tries if view.key))
        if len(keys) == 1 and all(view.key for view in tries):
            return  # the mailbox could join them: `sends.once` judges it
        how = f"under {len(keys)} keys ({', '.join(keys[:3])})" if keys else "without any key"
        first = tries[0].op
        yield self.finding(
            f"one logical send ({intent.name}) arrived {intent.deliveries} times at "
            f"{first.contact}: it was tried {how}",
            *(view.op for view in tries),
            t=event.t,
        )


class RenewalOfAnyLength(RenewalHolds):
    """`RenewalHolds` for a log whose leases are of several lengths: the length is not compared."""

    def _changed(self, view: View, claim: Claim) -> str | None:
        problem = super()._changed(view, claim)
        return None if problem and problem.startswith("it ends ") else problem


class ArrivedInTime(Arrived):
    """`Arrived` for a log that ends while messages are on their way: those are counted, not blamed.

    Attributes:
        settled_ns: What was acknowledged after it may still arrive.
        unsettled: How many messages that were.
    """

    settled_ns: ClassVar[int] = 0

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.unsettled = 0

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        for finding in super().finish(open_ops):
            if finding.t > self.settled_ns:
                self.unsettled += 1
            else:
                yield finding


class StepsSeen(StepsInOrder):
    """`StepsInOrder` for a log that begins while sends are under way: their first step is taken as it is."""

    def decided(self, event: AuditEvent) -> Iterable[Finding]:
        record = event.value
        key, decision = record.get("idempotency_key"), record["decision"]
        if key and key not in self._last and decision != SendState.AUTHORIZED:
            self._last[key] = (decision, record["at_ms"])
            return ()
        return super().decided(event)


def arrived_before(settled_ns: int) -> type[Rule]:
    """`ArrivedInTime` for a log whose messages are settled until then."""
    return type("ArrivedBefore", (ArrivedInTime,), {"settled_ns": settled_ns})


__all__ = ["ArrivedInTime", "KeyPerSend", "RenewalOfAnyLength", "StepsSeen", "arrived_before"]
