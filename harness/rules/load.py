"""Contact load: one count for all agents, channels and teams (spec: C5)."""

from __future__ import annotations

from collections.abc import Iterable

from ..contract import Capability
from ..history import Operation, OpType
from ..verdict import Finding
from .base import Rule
from .claims import FOREVER, is_before
from .ledger import LEFT_OPEN, View

RECENT_NS = 3600 * 10**9
"""What is older than that a policy may count no more."""


class Counted(Rule):
    """A lease tells how many messages its contact got, from whomever, by whatever channel.

    Spec: C5. By intervals: what was acknowledged before the lease was granted or renewed counts, what
    may have been authorised by its answer may count, and nothing else does. A renewal without a count
    leaves its holder blind.

    Legal::

        sales-01   send -> sent
        support-01 acquire -> granted, load 1

    Illegal::

        sales-01   send -> sent
        support-01 acquire -> granted, load 0
    """

    name = "leases.load_counted"
    spec = ("C5",)
    needs = frozenset({Capability.CONTACT_LOAD, Capability.LEASE, Capability.SEND})
    hears = frozenset({"acquire", "renew"})
    outcomes = frozenset({OpType.OK})

    def settled(self, view: View) -> Iterable[Finding]:
        op = view.op
        load = op.answer.get("contact_load")
        if load is None:
            if op.f == "renew":
                yield self.finding(f"the renewal of {op.agent} on {op.contact} tells no load", op)
            return
        self.exercised += 1
        certain = [each for each in _messages(view) if self._counts(each, op)]
        if load < len(certain):
            yield self.finding(
                f"{op.agent} was told that {op.contact} got {load} messages, "
                f"and {len(certain)} had been acknowledged",
                *certain,
                op,
            )
        possible = _possible(view, op)
        if load > possible and not self.ledger.unnamed:
            yield self.finding(
                f"{op.agent} was told that {op.contact} got {load} messages, "
                f"and at most {possible} can have been sent",
                op,
            )

    def _counts(self, message: Operation, op: Operation) -> bool:
        """Whether it was acknowledged before, and not long ago."""
        if message.type is not OpType.OK or not is_before(message, op):
            return False
        asked_ns = op.completed_ns or FOREVER  # it may have stood still until then
        return not self.ledger.jumped and asked_ns - message.invoked_ns < RECENT_NS


def _messages(view: View) -> Iterable[Operation]:
    """Sends that did the work themselves, or may have, and contacts by other channels."""
    for intent in view.person.intents.values():
        for each in intent.tries:
            if not _is_replayed(each):
                yield each.op
    yield from view.person.notes


def _is_replayed(view: View) -> bool:
    return view.op.type is OpType.OK and not view.is_executed


def _possible(view: View, op: Operation) -> int:
    """How many messages may have been authorised when the lease was answered."""
    count = sum(_may_count(each, op) for each in view.person.notes)
    for intent in view.person.intents.values():
        did = sum(_may_count(each.op, op) for each in intent.tries if not _is_replayed(each))
        count += did or any(_is_under_way(each.op, op) for each in intent.tries)
    return count


def _is_under_way(message: Operation, op: Operation) -> bool:
    """A try that is told of another's message in the end may have been authorised before that one."""
    return message.begin < (op.end or FOREVER) and (message.end or FOREVER) > op.begin


def _may_count(message: Operation, op: Operation) -> bool:
    if message.begin >= (op.end or FOREVER):
        return False
    refused = message.type is OpType.FAIL and message.code not in LEFT_OPEN
    return not refused or (message.end or FOREVER) > op.begin
