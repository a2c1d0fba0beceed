"""Stops what goes wrong on a large scale: a circuit breaker and an effect budget (spec: O5).

Both are read in the transaction that authorises a send, so that agents who ask at once can't all
pass (spec: S6, X5). Neither lets anything go on by itself: a person does.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from leaserace.harness.contract import Refused

from .outcomes import budget_spent, sending_halted
from .policy import Policy, ms
from .records import Bucket, BudgetRow, HaltRow, Spent, TrafficRow
from .stores.protocol import Transaction

ALL = "all"
"""The one key of the breaker's rows: it is the mailbox's, not an agent's."""
STEPS = 24
"""In how many steps the breaker's window moves on."""
BOUNCE, COMPLAINT = "bounce", "complaint"


class Breaker:
    """Halts all sending when too many messages bounce or bring complaints (spec: O5).

    Args:
        policy: Window, rates and the least number of deliveries they are judged on; 0 for no breaker.
    """

    __slots__ = ("_minimum", "_rates", "_step_ms", "_window_ms")

    def __init__(self, policy: Policy) -> None:
        self._minimum = policy.breaker_minimum
        self._rates = {BOUNCE: policy.bounce_rate, COMPLAINT: policy.complaint_rate}
        self._window_ms = ms(policy.breaker_window_s)
        self._step_ms = max(1, self._window_ms // STEPS)

    def delivered(self, tx: Transaction) -> None:
        """Count a delivery."""
        if self._minimum:
            self._count(tx, tx.now_ms, Bucket(start_ms=0, delivered=1))

    def failed(self, tx: Transaction, reason: str, event_at_ms: int) -> None:
        """Count a bounce or complaint, and halt sending if that makes too many.

        Args:
            tx: The transaction that puts the contact on the list.
            reason: Why it is put there; other reasons than these two count for nothing.
            event_at_ms: When it happened; before the window it counts for nothing.
        """
        if not self._minimum or reason not in self._rates:
            return
        one = Bucket(start_ms=0, bounced=reason == BOUNCE, complained=reason == COMPLAINT)
        row = self._count(tx, event_at_ms, one)
        why = self._too_many(row.buckets)
        if why and self.halted(tx) is None:
            tx.put(HaltRow(key=ALL, reason=why, at_ms=tx.now_ms))

    def halted(self, tx: Transaction) -> HaltRow | None:
        """Why sending is halted, or None."""
        return tx.get(HaltRow, ALL)

    def check(self, halt: HaltRow | None) -> Refused | None:
        """Refuse while sending is halted."""
        return sending_halted(halt) if halt is not None else None

    def resume(self, tx: Transaction) -> None:
        """A person has seen to it: counting begins anew."""
        tx.delete(HaltRow, ALL)
        tx.delete(TrafficRow, ALL)

    def _too_many(self, buckets: Iterable[Bucket]) -> str:
        """Which rate is above its threshold, if the deliveries are enough to tell."""
        delivered = sum(each.delivered for each in buckets)
        if delivered < self._minimum:
            return ""
        counts = {
            BOUNCE: sum(each.bounced for each in buckets),
            COMPLAINT: sum(each.complained for each in buckets),
        }
        for reason, most in self._rates.items():
            if counts[reason] > most * delivered:
                return f"{counts[reason]} {reason}s in {delivered} deliveries: more than {most:.2%}"
        return ""

    def _count(self, tx: Transaction, at_ms: int, one: Bucket) -> TrafficRow:
        """Add to the step of the window it falls in, and forget what the window has left."""
        row = tx.get(TrafficRow, ALL) or TrafficRow(key=ALL)
        start_ms = at_ms - at_ms % self._step_ms
        steps = {each.start_ms: each for each in row.buckets}
        before = steps.get(start_ms, Bucket(start_ms=start_ms))
        steps[start_ms] = Bucket(
            start_ms=start_ms,
            delivered=before.delivered + one.delivered,
            bounced=before.bounced + one.bounced,
            complained=before.complained + one.complained,
        )
        since_ms = tx.now_ms - self._window_ms
        kept = (steps[start] for start in sorted(steps) if start + self._step_ms > since_ms)
        row = TrafficRow(key=ALL, buckets=tuple(kept))
        tx.put(row)
        return row


class Budget:
    """Caps what one agent may do without a person (spec: O5).

    Args:
        agent: Whose budget it is, whichever process asks.
        policy: How many sends in which window; 0 for no limit.
    """

    __slots__ = ("_agent", "_most", "_window_ms")

    def __init__(self, agent: str, policy: Policy) -> None:
        self._agent = agent
        self._most = policy.budget_sends
        self._window_ms = ms(policy.budget_window_s)

    def standing(self, tx: Transaction) -> BudgetRow | None:
        """The caller's own budget, or None where there is no limit."""
        return self.read(tx) if self._most else None

    def read(self, tx: Transaction, agent: str = "") -> BudgetRow:
        """What the agent has spent inside the window, and what a person approved beyond it."""
        key = agent or self._agent
        row = tx.get(BudgetRow, key) or BudgetRow(key=key)
        if not row.spent:
            return row
        since_ms = tx.now_ms - self._window_ms
        return msgspec.structs.replace(
            row, spent=tuple(each for each in row.spent if each.at_ms > since_ms)
        )

    def check(self, row: BudgetRow | None, send: str) -> Refused | None:
        """Refuse a send beyond the budget until a person approves it.

        Args:
            row: As read in this transaction.
            send: Its idempotency key; a retry was counted with the first try.
        """
        if row is None or self._is_counted(row, send):
            return None
        if len(row.spent) < self._most or row.approved > 0:
            return None
        return budget_spent(self._agent, self._most, self._window_ms)

    def spend(self, tx: Transaction, send: str) -> None:
        """Count a send from its authorisation on; from the approval where the budget is used up."""
        if not self._most:
            return
        row = self.read(tx)
        if self._is_counted(row, send):
            return
        beyond = len(row.spent) >= self._most
        spent = Spent(send=send, at_ms=tx.now_ms)
        tx.put(
            BudgetRow(key=row.key, spent=(*row.spent, spent), approved=row.approved - int(beyond))
        )

    def approve(self, tx: Transaction, agent: str, sends: int) -> None:
        """A person lets the agent send so many more."""
        row = self.read(tx, agent)
        tx.put(msgspec.structs.replace(row, approved=row.approved + sends))

    def _is_counted(self, row: BudgetRow, send: str) -> bool:
        return any(each.send == send for each in row.spent)
