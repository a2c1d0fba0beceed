"""The figures of one cell: so many agents, one lease length, one rule for cooldowns."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What came of one day.

    Args:
        agents: How many worked.
        lease: Length of a lease, as it was written.
        cooldown: Rule for cooldowns, as it was written.
        lease_s: Length of a lease in seconds.
        tasks: Things there were to do.
        attempts: Calls of `acquire`.
        conflicts: How many were refused because another lease lived, escalated ones included.
        grants: How many were granted.
        renewals: Leases extended.
        wait_s: Quantile (``p50``, ``p95``, ``p99``) to seconds from an agent's first refused ask to
            its grant, over all grants; 0 where the first ask was granted.
        waited: Grants that were refused at least once before.
        refused_wait_s: The same quantiles over those only.
        reply_s: The same quantiles of the time from a reply's arrival to its delivery.
        held_s: Lease time over all leases, from grant to release or end.
        idle_s: Part of it in which nobody worked: a call hung, a process was gone.
        delivered: Messages sent.
        replies: Replies there were to give.
        replies_blocked: Replies refused by a cooldown.
        dropped: Tasks, replies too, given up because of a cooldown that outlasts the day.
        bursts: Times a contact got more than the limit of messages within an hour.
        burst_contacts: Contacts that had one.
        escalated: Tasks handed to a person after repeated conflicts (spec: R2).
        expired: Renewals and sends refused because the lease was over or gone.
        stale: Drafts discarded after `stale_fencing_token`.
        crashes: Agents whose process ended with a lease in hand.
        unfinished: Tasks that were neither done nor given up when the day ended.
        hours: Length of the day.
    """

    agents: int
    lease: str
    cooldown: str
    lease_s: float
    tasks: int
    attempts: int
    conflicts: int
    grants: int
    renewals: int
    wait_s: Mapping[str, float]
    waited: int
    refused_wait_s: Mapping[str, float]
    reply_s: Mapping[str, float]
    held_s: float
    idle_s: float
    delivered: int
    replies: int
    replies_blocked: int
    dropped: int
    bursts: int
    burst_contacts: int
    escalated: int
    expired: int
    stale: int
    crashes: int
    unfinished: int
    hours: float

    @property
    def conflict_rate(self) -> float:
        """Share of claims that were refused."""
        return self.conflicts / self.attempts if self.attempts else 0.0

    @property
    def idle_share(self) -> float:
        """Share of the lease time in which nobody worked."""
        return self.idle_s / self.held_s if self.held_s else 0.0

    @property
    def blocked_share(self) -> float:
        """Share of the replies that a cooldown blocked."""
        return self.replies_blocked / self.replies if self.replies else 0.0

    @property
    def per_hour(self) -> float:
        """Messages sent in an hour."""
        return self.delivered / self.hours


def quantiles_s(values_ms: array[int]) -> dict[str, float]:
    """The quantiles of milliseconds, in seconds; zeros if there are none."""
    ordered = sorted(values_ms)
    if not ordered:
        return {f"p{share * 100:.0f}": 0.0 for share in QUANTILES}
    last = len(ordered) - 1
    return {
        f"p{share * 100:.0f}": ordered[min(last, int(share * len(ordered)))] / 1000
        for share in QUANTILES
    }


class Bursts:
    """Counts how often a contact gets more than so many messages within an hour.

    A burst begins with the message too many and goes on while each further one is too many as well.

    Args:
        limit: Messages in an hour that are still no burst.
    """

    HOUR_MS = 3_600_000

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._last: dict[int, list[int]] = {}
        self._open: set[int] = set()
        self.count = 0
        self.contacts: set[int] = set()

    def delivered(self, contact: int, now_ms: int) -> None:
        """A message arrived; times must not fall."""
        last = self._last.setdefault(contact, [])
        last.append(now_ms)
        if len(last) <= self._limit or now_ms - last.pop(0) >= self.HOUR_MS:
            self._open.discard(contact)
        elif contact not in self._open:
            self._open.add(contact)
            self.contacts.add(contact)
            self.count += 1
