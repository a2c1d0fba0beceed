"""Where the store's clock stood on the history's clock.

Answers carry the store's milliseconds, events the history's nanoseconds. Each answer that tells the
store's now was made between its invoke and its completion; all of them together leave a narrow
place for the difference of the two clocks. Where nothing fits them all (the store's clock jumped, or
time is virtual), each answer is placed by its own bounds.
"""

from __future__ import annotations

from collections.abc import Iterable

from leaserace.harness.history import Operation

MS = 1_000_000
_TOLD = ("granted_at_ms", "at_ms")
_ACQUIRED = (*_TOLD, "acquired_at_ms")


def store_now_ms(op: Operation) -> int | None:
    """The store's now when an answer was made, if the answer tells it."""
    for name in _ACQUIRED if op.f == "acquire" else _TOLD:
        value = op.answer.get(name)
        if isinstance(value, int):
            return value
    return None


class StoreTime:
    """Places the store's times on the history's clock.

    Args:
        operations: Of one race.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        low, high = None, None
        for op in operations:
            now_ms = store_now_ms(op)
            if now_ms is None or op.completed_ns is None:
                continue
            least = op.invoked_ns - (now_ms + 1) * MS
            most = op.completed_ns - now_ms * MS
            low = least if low is None else max(low, least)
            high = most if high is None else min(high, most)
        self.offset_ns: int | None = None
        """What to add to the store's nanoseconds, or None if no one number fits."""
        if low is not None and high is not None and low <= high:
            self.offset_ns = (low + high) // 2

    def of_answer(self, op: Operation) -> int:
        """When the store made an answer; always between invoke and completion."""
        end_ns = op.invoked_ns if op.completed_ns is None else op.completed_ns
        now_ms = store_now_ms(op)
        if now_ms is None or self.offset_ns is None:
            return end_ns
        return max(op.invoked_ns, min(end_ns, now_ms * MS + self.offset_ns))

    def expiry_ns(self, op: Operation, lease_s: float) -> int:
        """When the lease of an answer ends.

        Args:
            op: A granted acquire or renewal.
            lease_s: Length to assume where the answer does not tell the store's now.
        """
        now_ms = store_now_ms(op)
        expires_ms = op.answer.get("expires_at_ms")
        if not isinstance(expires_ms, int):
            return self.of_answer(op) + round(lease_s * 1e9)
        if now_ms is None:
            if self.offset_ns is None:
                return self.of_answer(op) + round(lease_s * 1e9)
            return expires_ms * MS + self.offset_ns
        return self.of_answer(op) + (expires_ms - now_ms) * MS
