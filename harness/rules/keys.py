"""Idempotency keys: a retry gets the original answer, another payload gets none (spec: K2, K4)."""

from __future__ import annotations

from collections.abc import Iterable

from ..contract import Capability, Code, SendState
from ..history import Operation, OpType
from ..verdict import Finding
from .base import Rule
from .claims import FOREVER, is_before, may_precede
from .ledger import View

_NEEDS = frozenset({Capability.SEND, Capability.IDEMPOTENCY})
_NEVER_LEFT = frozenset(
    {SendState.ABSENT, SendState.AUTHORIZED, SendState.WITHDRAWN, SendState.CANCELLED}
)
_RETRY_MAY_BE_TOLD = frozenset({Code.SEND_IN_PROGRESS, Code.STORE_BUSY, Code.NOT_AUTHORISED})


class _Keyed(Rule):
    """What both rules about keys share: the window, judged so that doubt excuses."""

    def _in_window(self, view: View, tries: Iterable[View]) -> bool:
        """Whether a call certainly lies inside the window that the first of these opened (K5)."""
        ledger, op = self.ledger, view.op
        begun_ns = [each.op.invoked_ns for each in tries if each.op.type is not OpType.FAIL]
        first_ns = min((*begun_ns, op.invoked_ns))
        lasts_ns = (op.completed_ns or op.invoked_ns) - first_ns
        return lasts_ns < ledger.window_ns - ledger.window_slack_ns

    def _others(self, view: View) -> list[View]:
        """The other sends under the same key."""
        sends = self.ledger.keys.get(view.key, ()) if view.key else ()
        return [each for each in sends if each.op is not view.op]


class ReplayIsOriginal(_Keyed):
    """Inside its window a key is executed once; every further answer repeats the first one.

    Spec: K2, K3, K5, K6, K10, S2. Message id and status are the original's, marked as a replay, for
    whoever asks and before any other check: a retry of a completed send is not refused because of a
    lease, a cooldown or a suppression. A message id told with an unknown outcome stays. A look-up
    agrees, and never says that nothing left once the message has arrived. Where the history's clock
    is the store's own, a replay after the window is a finding too.

    Legal::

        sales-01 send key k -> 201 <a>
        sales-01 send key k -> 201 <a>, a replay

    Illegal::

        sales-01 send key k -> 201 <a>
        sales-01 send key k -> 200 <b>, a replay
    """

    name = "keys.replay_is_original"
    spec = ("K2", "K10", "S2")
    needs = _NEEDS
    hears = frozenset({"send", "lookup"})
    seen_through = ("cooldown",)

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.f == "lookup":
            return self._looked_up(view)
        same = [each for each in self._others(view) if each.payload == view.payload]
        self.exercised += bool(same)
        if op.type is OpType.OK:
            return self._answered(view, same)
        if op.type is OpType.FAIL or op.code == Code.SEND_STATUS_UNKNOWN:
            return [*self._refused(view, same), *self._renamed(view, same)]
        return ()

    def settled(self, view: View) -> Iterable[Finding]:
        """A replay needs an original: now every call that can be one is known."""
        op = view.op
        if op.f != "send" or op.type is not OpType.OK or not op.answer.get("replay"):
            return
        originals = [each for each in self._others(view) if _may_be_original(each, op)]
        if not originals:
            yield self.finding(
                f"{op.agent} was given a replay for key {view.key}, but no call can be its original",
                op,
            )
        elif self._is_after_window(view, originals):
            yield self.finding(
                f"{op.agent} was given a replay for key {view.key} after its window had ended",
                *(each.op for each in originals),
                op,
            )

    def _is_after_window(self, view: View, originals: Iterable[View]) -> bool:
        """Whether the window of each was certainly over when the call was made, to the millisecond."""
        if self.info.clock != "virtual" or self.ledger.jumped:
            return False
        return all(
            each.op.type is OpType.OK
            and view.op.invoked_ns - (each.op.completed_ns or FOREVER) >= self.ledger.window_ns
            for each in originals
        )

    def _answered(self, view: View, same: list[View]) -> Iterable[Finding]:
        if not self._in_window(view, same):
            return
        for first in (each for each in same if each.op.type is OpType.OK):
            problem = _difference(first, view)
            if problem:
                yield self.finding(f"key {view.key}: {problem}", first.op, view.op)
                return
        yield from self._renamed(view, same)

    def _renamed(self, view: View, same: list[View]) -> Iterable[Finding]:
        """A message id told with an unknown outcome is fixed (spec: S8)."""
        told = view.op.answer.get("message_id")
        if not self._in_window(view, same):
            return
        for other in same:
            known = other.op.answer.get("message_id")
            unknown = Code.SEND_STATUS_UNKNOWN in {other.op.code, view.op.code}
            if unknown and told and known and told != known:
                yield self.finding(
                    f"key {view.key}: message id {known} while its outcome was unknown, "
                    f"and {told} in another answer",
                    other.op,
                    view.op,
                )
                return

    def _refused(self, view: View, same: list[View]) -> Iterable[Finding]:
        if view.op.code in _RETRY_MAY_BE_TOLD:
            return
        done = [each for each in same if each.op.type is OpType.OK and is_before(each.op, view.op)]
        if done and self._in_window(view, same):
            yield self.finding(
                f"{view.op.agent} tried key {view.key} again after it was completed and was told "
                f"{view.op.code} instead of the original answer",
                done[0].op,
                view.op,
            )

    def _looked_up(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.type is not OpType.OK:
            return
        tries = self._others(view)
        if not self._in_window(view, tries):
            return
        left = [each for each in tries if self._had_arrived(each, op)]
        if left and op.answer.get("state") in _NEVER_LEFT:
            yield self.finding(
                f"{op.agent} looked key {view.key} up and was told {op.answer.get('state')}, "
                f"but the message had arrived by then",
                left[0].op,
                op,
            )
            return
        for first in tries:
            if first.op.type is not OpType.OK or not is_before(first.op, op):
                continue
            self.exercised += 1
            wanted = first.op.answer.get("message_id")
            if op.answer.get("state") == SendState.ABSENT or op.answer.get("message_id") != wanted:
                yield self.finding(
                    f"{op.agent} looked key {view.key} up and was told "
                    f"{op.answer.get('state')} {op.answer.get('message_id')}, "
                    f"but {wanted} had been sent",
                    first.op,
                    op,
                )
            return

    def _had_arrived(self, view: View, asked: Operation) -> bool:
        """Whether the message of this try, and of no other key, was there before somebody asked."""
        intent = self.ledger.intents.get(view.intent)
        return (
            intent is not None
            and 0 < intent.delivered_ns < asked.invoked_ns
            and all(each.key == view.key for each in intent.tries)
        )


def _difference(first: View, second: View) -> str | None:
    """What two acknowledgements of one send contradict each other in, or None."""
    one, two = first.op.answer, second.op.answer
    if first.is_executed and second.is_executed:
        return "it was executed twice"
    for name in ("message_id", "status"):
        if one.get(name) != two.get(name):
            return f"{name} {one.get(name)} at first, then {two.get(name)}"
    return None


def _may_be_original(view: View, replay: Operation) -> bool:
    op = view.op
    executed = view.is_executed or op.type in {OpType.INFO, OpType.INVOKE}
    return executed and may_precede(op, replay)


class PayloadBound(_Keyed):
    """A key stands for one payload: the same key with another one is not acknowledged.

    Spec: K4, K8, X7. The payload is the contact, the subject, the body, the endpoint and what a reply
    or forward refers to; a token or a spelling is not part of it.

    Legal::

        sales-01 send key k "hello"   -> sent
        sales-01 send key k "goodbye" -> key_reused

    Illegal::

        sales-01 send key k "hello"   -> sent
        sales-01 send key k "goodbye" -> sent
    """

    name = "keys.payload_bound"
    spec = ("K4",)
    needs = _NEEDS
    hears = frozenset({"send"})

    def completed(self, view: View) -> Iterable[Finding]:
        other = [each for each in self._others(view) if each.payload != view.payload]
        self.exercised += bool(other)
        if view.op.type is not OpType.OK:
            return
        for first in other:
            same = [each for each in other if each.payload == first.payload]
            if self._was_executed(first) and self._in_window(view, same):
                yield self.finding(
                    f"key {view.key} was acknowledged for two payloads, "
                    f"by {first.op.agent} and by {view.op.agent}",
                    first.op,
                    view.op,
                )
                return

    def _was_executed(self, view: View) -> bool:
        """Whether the try sent its message for certain; another key or endpoint may have (K8, K9)."""
        if view.op.type is OpType.OK:
            return True
        intent = self.ledger.intents.get(view.intent)
        if view.op.type is OpType.FAIL or intent is None:
            return False
        others: dict[tuple[str, int], list[View]] = {}
        for each in intent.causes():
            if (each.key, each.payload) != (view.key, view.payload):
                others.setdefault((each.key, each.payload), []).append(each)
        return intent.deliveries > sum(self._executions(tries) for tries in others.values())

    def _executions(self, tries: list[View]) -> int:
        """How often one key may have been executed: once inside a window (K5)."""
        first = min(tries, key=lambda each: each.op.invoked_ns)
        within = all(self._in_window(each, (first,)) for each in tries)
        return 1 if within else len(tries)
