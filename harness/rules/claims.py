"""What is known of one granted lease: who holds it, and between which instants it can end.

Two kinds of bounds stand side by side. By the history's clock a grant happened between its invoke
and its completion, so its end has an earliest and a latest instant. By the store's clock, which
wrote the answer, its end is exact; store times are compared only with store times (spec: L5, S10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..history import Operation, OpType
from ..kit import REPLY_LOST

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

MS = 1_000_000
"""Nanoseconds in a millisecond; finer than that the simulator's time only counts events."""

FOREVER = 1 << 62
"""Later than every instant and every place of a history."""


def latest_ns(op: Operation) -> int:
    """The last instant at which the operation can have taken effect.

    An answer that was made and then lost was made before the loss was recorded.
    """
    answered = op.type in {OpType.OK, OpType.FAIL} or op.code == REPLY_LOST
    if op.completed_ns is not None and answered:
        return op.completed_ns
    return FOREVER


def is_before(first: Operation, second: Operation) -> bool:
    """Whether `first` took effect before `second` was even asked for, if it did at all."""
    if first.end is None or (first.type is not OpType.OK and first.code != REPLY_LOST):
        return False
    return first.end < second.begin


def may_precede(first: Operation, second: Operation) -> bool:
    """Whether `first` may have taken effect before `second` did."""
    return first.type is not OpType.FAIL and first.begin < (second.end or FOREVER)


def store_time(answer: Mapping[str, Any]) -> int:
    """The store's now at which a lease was granted or renewed, in milliseconds; 0 if not told."""
    return answer.get("granted_at_ms") or 0


class Claim:
    """One lease, from its grant on.

    Args:
        op: The acquire that was answered with it.
        length_ms: The length that was asked for.

    Attributes:
        renewals: Renewals that happened or may have.
        releases: Releases under its token that happened or may have, whoever asked.
    """

    __slots__ = (
        "_earliest_ns",
        "_latest_ns",
        "acquired_at_ms",
        "agent",
        "expires_at_ms",
        "op",
        "owner",
        "releases",
        "renewals",
        "settled",
        "token",
    )

    def __init__(self, op: Operation, length_ms: float) -> None:
        answer = op.answer
        self.op = op
        self.agent = op.agent
        self.owner: str = answer.get("owner", "")
        self.token: int = answer.get("token", 0)
        self.acquired_at_ms: int = answer.get("acquired_at_ms", 0)
        self.expires_at_ms: int = answer.get("expires_at_ms", 0)
        self.renewals: list[Operation] = []
        self.releases: list[Operation] = []
        self.settled = False
        self._earliest_ns = 0
        self._latest_ns = 0
        self._extend(op, self.acquired_at_ms, length_ms)

    def _extend(self, op: Operation, from_ms: int, length_ms: float) -> None:
        """A grant or renewal: the lease ends no earlier and no later than its length tells."""
        shortest_ns, longest_ns = _lengths_ns(op, from_ms, length_ms)
        self._earliest_ns = max(self._earliest_ns, op.invoked_ns + shortest_ns)
        self._latest_ns = max(self._latest_ns, (op.completed_ns or 0) + longest_ns)

    def picture(self) -> Hashable:
        """What later judgements depend on, beside the operations that are still kept."""
        ends = (self._earliest_ns // MS, self._latest_ns // MS, self.expires_at_ms)
        return (self.token, self.settled, *ends)

    def fold(self, place: int, length_ms: float) -> None:
        """Count renewals that ended before `place` in for good and forget them."""
        kept = []
        for op in self.renewals:
            if op.type is OpType.OK and (op.end or FOREVER) < place:
                self._extend(op, store_time(op.answer), length_ms)
                self.expires_at_ms = max(self.expires_at_ms, op.answer.get("expires_at_ms", 0))
            else:
                kept.append(op)
        self.renewals = kept

    def earliest_end_ns(self, by: Operation, length_ms: float) -> int:
        """Earliest instant of its end, by renewals that were answered before `by` was asked."""
        earliest = self._earliest_ns
        for op in self.renewals:
            if op.type is OpType.OK and is_before(op, by):
                shortest_ns, _ = _lengths_ns(op, store_time(op.answer), length_ms)
                earliest = max(earliest, op.invoked_ns + shortest_ns)
        return earliest

    def latest_end_ns(self, by: Operation, length_ms: float) -> int:
        """Latest instant of its end, by all renewals that may precede `by`, except `by` itself."""
        latest, doubtful_ns = self._latest_ns, 0
        for op in self.renewals:
            if op is by or not may_precede(op, by):
                continue
            _, longest_ns = _lengths_ns(op, store_time(op.answer), length_ms)
            at_ns = latest_ns(op)
            if at_ns < FOREVER:
                latest = max(latest, at_ns + longest_ns)
            else:  # it can have happened only while the lease lived
                doubtful_ns += longest_ns
        return latest + doubtful_ns

    def known_end_ms(self, at_ms: int, by: Operation) -> int:
        """Its end by the store's clock, as it stood when the store's clock said `at_ms`."""
        end_ms = self.expires_at_ms
        for op in self.renewals:
            if op.type is not OpType.OK:
                continue
            renewed_at_ms = store_time(op.answer)
            counts = renewed_at_ms <= at_ms if renewed_at_ms else is_before(op, by)
            if counts:
                end_ms = max(end_ms, op.answer.get("expires_at_ms", 0))
        return end_ms

    def may_be_renewed_by(self, by: Operation) -> bool:
        """Whether a renewal of unknown outcome, or one under way, may have extended it before."""
        return any(
            op is not by and op.type is not OpType.OK and may_precede(op, by)
            for op in self.renewals
        )

    def may_be_released_by(self, by: Operation) -> bool:
        """Whether a release may have freed it before `by` took effect."""
        return any(
            op is not by
            and may_precede(op, by)
            and (op.type is OpType.OK or op.agent == self.agent)
            for op in self.releases
        )

    def is_released_before(self, by: Operation) -> bool:
        """Whether its holder's release was answered before `by` was asked."""
        return any(
            op is not by and op.type is OpType.OK and op.agent == self.agent and is_before(op, by)
            for op in self.releases
        )

    def is_newer_than(self, other: Claim) -> bool:
        """Whether it was granted after `other`, as far as tokens or the order of calls tell."""
        if self.token != other.token:
            return self.token > other.token
        return is_before(other.op, self.op)


def _lengths_ns(op: Operation, from_ms: int, length_ms: float) -> tuple[int, int]:
    """The shortest and the longest a grant or renewal can last: what was asked, what was told."""
    told_ms = op.answer.get("expires_at_ms", 0) - from_ms if from_ms else length_ms
    if told_ms <= 0:
        told_ms = length_ms
    shortest, longest = (told_ms, length_ms) if told_ms < length_ms else (length_ms, told_ms)
    return int(shortest * 1e6), int(longest * 1e6)
