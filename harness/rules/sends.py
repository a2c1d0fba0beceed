"""Sends against what arrived: the receiving mailbox is the ground truth (spec: K2, S8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..contract import Capability, SendState
from ..history import AuditEvent, DeliveryEvent, Operation, OpType
from ..verdict import Finding
from .base import Rule
from .ledger import Intent


class Once(Rule):
    """Each logical send arrives at most once, however often it is tried under one key.

    Spec: K2, K10, S8, X1, X4. All deliveries beyond the first are counted as duplicates. They are a
    finding unless the caller asked for them: by another key on each try, by tries that a target
    without keys can't join, or by a try after the key's window (K5).

    Legal::

        sales-01 send key k -> reply lost       (delivered)
        sales-01 send key k -> sent, a replay

    Illegal::

        sales-01 send key k -> reply lost       (delivered)
        sales-01 send key k -> sent             (delivered)
    """

    name = "sends.once"
    spec = ("K2", "K10", "S8")
    needs = frozenset({Capability.SEND})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.duplicates = 0

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        if intent is None:
            return
        self.exercised += 1
        if intent.deliveries == 1:
            return
        self.duplicates += 1
        if intent.deliveries > self._asked_for(intent, event.t):
            first = intent.tries[0].op
            yield self.finding(
                f"the message {intent.name} of {first.agent} to {first.contact} arrived "
                f"{intent.deliveries} times",
                *(view.op for view in intent.causes()),
                t=event.t,
            )

    def _asked_for(self, intent: Intent, now_ns: int) -> int:
        """How many deliveries the tries explain."""
        tries = intent.causes()
        if Capability.IDEMPOTENCY not in self.info.capabilities:
            return len(tries)
        keys = [view.key for view in tries]
        asked = keys.count("") + len({key for key in keys if key})
        first_ns = tries[0].op.invoked_ns
        reach_ns = self.ledger.window_ns - self.ledger.window_slack_ns
        # A try that may have come after the window is a new request, whichever was invoked first.
        late = sum((view.op.completed_ns or now_ns) - first_ns >= reach_ns for view in tries)
        return asked + min(late, len(tries) - 1)


class Arrived(Rule):
    """What was acknowledged has arrived, and what was refused has not.

    Spec: S8, K2, R. A target that says "sent" and sends nothing fails here; so does one that answers
    "refused", which means it never happens, and sends. An acknowledged replay stands for the message
    of the call it replays.

    Legal::

        sales-01 send -> sent        (delivered)

    Illegal::

        sales-01 send -> sent        (nothing arrives)
    """

    name = "sends.arrived"
    spec = ("S8", "K2", "R")
    needs = frozenset({Capability.SEND})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._arrived: set[str] = set()

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        self._arrived.add(event.message_id)
        return ()

    def state(self) -> object:
        """Ids of what arrived."""
        return frozenset(self._arrived)

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        for intent in self.ledger.intents.values():
            accepted = [view.op for view in intent.tries if view.op.type is OpType.OK]
            self.exercised += len(accepted)
            if intent.deliveries and _all_refused(intent):
                yield self._refused(intent)
            if intent.deliveries:
                continue
            missing = [op for op in accepted if op.answer.get("message_id") not in self._arrived]
            if missing:
                op = missing[0]
                yield self.finding(
                    f"{op.agent} was told that its mail to {op.contact} was sent, "
                    f"and it never arrived (message {intent.name})",
                    *missing,
                )

    def _refused(self, intent: Intent) -> Finding:
        ops = [view.op for view in intent.tries]
        return self.finding(
            f"every try of {ops[0].agent} to send {intent.name} to {ops[0].contact} was refused, "
            f"and it arrived",
            *ops,
        )


def _all_refused(intent: Intent) -> bool:
    return all(view.op.type is OpType.FAIL for view in intent.tries)


class MessageIdArrives(Rule):
    """The message id a caller is told is the one that arrived, in a replay too.

    Spec: S8, K2. The Message-ID is fixed at authorisation and every answer names it, so that a person
    can find the mail an answer speaks of.

    Legal::

        sales-01 send -> sent <a>        (<a> is delivered)

    Illegal::

        sales-01 send -> sent <b>        (<a> is delivered)
    """

    name = "sends.message_id_arrives"
    spec = ("S8", "K2")
    needs = frozenset({Capability.SEND, Capability.MESSAGE_ID})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._arrived: dict[str, set[str]] = {}

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        if intent is not None:
            self._arrived.setdefault(intent.name, set()).add(event.message_id.strip("<> "))
        return ()

    def state(self) -> object:
        """Ids of what arrived, by intent."""
        return tuple((name, frozenset(ids)) for name, ids in self._arrived.items())

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        for name, ids in self._arrived.items():
            for view in self.ledger.intents[name].tries:
                told = view.op.answer.get("message_id") if view.op.type is OpType.OK else None
                if told is None:
                    continue
                self.exercised += 1
                if told.strip("<> ") not in ids:
                    yield self.finding(
                        f"{view.op.agent} was told that its mail to {view.op.contact} is {told}, "
                        f"but what arrived is {', '.join(f'<{each}>' for each in sorted(ids))}",
                        view.op,
                    )


class StepsInOrder(Rule):
    """In the audit log a send goes from step to step, and never back before its hand-over.

    Spec: S8, K2, K10. It is dispatched only from `authorized`, delivered only once it was dispatched,
    and authorized again only if it was withdrawn or its key's window has closed: what may have been
    handed over is never sent again by itself. All steps of one send name one Message-ID, until so long
    after its end that the key stands for another (K5). The order is the target's own, so no interval
    excuses anything.

    Legal::

        1 send     authorized  key k
        2 dispatch dispatching key k
        3 deliver  delivered   key k

    Illegal::

        1 send     authorized  key k
        2 deliver  withdrawn   key k
        3 dispatch dispatching key k
    """

    name = "sends.steps_in_order"
    spec = ("S8", "K2", "K10")
    needs = frozenset({Capability.SEND, Capability.IDEMPOTENCY, Capability.AUDIT})
    decisions = frozenset(SendState) - {SendState.ABSENT}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._last: dict[str, tuple[str, int]] = {}
        self._named: dict[str, str] = {}
        self._window_ms = self.info.settings.key_window_s * 1000

    def decided(self, event: AuditEvent) -> Iterable[Finding]:
        record = event.value
        key, decision, at_ms = record.get("idempotency_key"), record["decision"], record["at_ms"]
        if not key:
            return
        self.exercised += 1
        last, last_ms = self._last.get(key, ("", 0))
        if last in _ENDED and at_ms - last_ms >= self._window_ms:
            last = ""
            self._named.pop(key, None)
        named = (record.get("message_id") or "").strip("<> ")
        if named and self._named.setdefault(key, named) != named:
            yield self.finding(
                f"record {event.seq} of the audit log: the send under {key} of {record['actor']} "
                f"is {decision} as <{named}> and was <{self._named[key]}> before",
                t=event.t,
            )
        if last not in _BEFORE.get(decision, (last,)):
            yield self.finding(
                f"record {event.seq} of the audit log: the send under {key} of {record['actor']} "
                f"is {decision} after it was {last or 'nothing'}",
                t=event.t,
            )
        self._last[key] = (decision, at_ms)

    def state(self) -> object:
        """The last step of each send, and its Message-ID."""
        return (tuple(self._last.items()), tuple(self._named.items()))


_ENDED = frozenset({SendState.DELIVERED, SendState.WITHDRAWN})
_BEFORE = {
    SendState.AUTHORIZED: ("", SendState.AUTHORIZED, SendState.WITHDRAWN),
    SendState.DISPATCHING: (SendState.AUTHORIZED,),
    SendState.DELIVERED: (SendState.DISPATCHING, SendState.UNKNOWN),
}
"""Steps that may stand right before a step; those not named here may come at any time."""
