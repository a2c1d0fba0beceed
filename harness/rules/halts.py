"""The circuit breaker: a halt has a cause and binds everybody (spec: O5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..contract import Capability, Code
from ..history import DeliveryEvent, Operation
from ..verdict import Finding
from .base import Rule
from .claims import FOREVER
from .ledger import Intent, View

_CAUSES = frozenset({"bounce", "complaint"})


class Halted(Rule):
    """While sending is halted nobody sends, and it is halted only after bounces or complaints.

    Spec: O5. Between two sends that were refused with `sending_halted` none is accepted, by whomever,
    unless a bounce or complaint was told, or a person resumed, in between. Where the history tells
    everything (virtual time, a mailbox started afresh) the first such refusal needs a bounce or
    complaint that may have been told before, and as many deliveries as were asked for.

    Legal::

        digest-01 suppress, bounce -> noted
        sales-01   send -> sending_halted
        support-01 send -> sending_halted

    Illegal::

        sales-01   send -> sending_halted
        support-01 send -> sent
        sales-01   send -> sending_halted
    """

    name = "sends.halted"
    spec = ("O5",)
    needs = frozenset({Capability.SEND, Capability.SUPPRESS})
    hears = frozenset({"send", "suppress", "resume"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._told = 0
        """Bounces and complaints."""
        self._delivered = 0
        self._first: Operation | None = None
        self._passed: Operation | None = None

    def invoked(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.f == "send":
            return ()
        if op.f == "resume" or op.args.get("reason") in _CAUSES:
            self._told += op.f == "suppress"
            self._first = self._passed = None
        return ()

    def delivered(self, event: DeliveryEvent, intent: Intent | None) -> Iterable[Finding]:
        self._delivered += 1
        return ()

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        if op.f != "send":
            return
        if op.code == Code.SENDING_HALTED:
            self.exercised += 1
            yield from self._refused(op)
        elif self._first is not None and view.is_executed and _is_over(self._first, op):
            self._passed = self._passed or op

    def _refused(self, op: Operation) -> Iterable[Finding]:
        problem = self._without_cause()
        if problem:
            yield self.finding(f"the send of {op.agent} was refused as halted, but {problem}", op)
        passed = self._passed
        if self._first is None:
            self._first = op
        elif passed is not None and _is_over(passed, op):
            yield self.finding(
                f"{passed.agent} sent while sending was halted for {op.agent}",
                self._first,
                passed,
                op,
            )

    def _without_cause(self) -> str:
        if self.info.clock != "virtual":
            return ""
        if not self._told:
            return "no bounce or complaint was told"
        least = self.info.settings.breaker_minimum or 0
        if self._delivered < least:
            return f"{self._delivered} messages had been delivered, of at least {least:g}"
        return ""


def _is_over(first: Operation, second: Operation) -> bool:
    """Whether the first call had been answered before the second was made."""
    return (first.end or FOREVER) < second.begin
