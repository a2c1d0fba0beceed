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
        answers: Begin and end of calls in nanoseconds, and the store's now each answer tells.
    """

    def __init__(self, answers: Iterable[tuple[int, int, int | None]]) -> None:
        low, high = None, None
        for begin_ns, end_ns, now_ms in answers:
            if now_ms is None:
                continue
            least, most = begin_ns - (now_ms + 1) * MS, end_ns - now_ms * MS
            low = least if low is None else max(low, least)
            high = most if high is None else min(high, most)
        self.offset_ns: int | None = None
        """What to add to the store's nanoseconds, or None if no one number fits."""
        if low is not None and high is not None and low <= high:
            self.offset_ns = (low + high) // 2

    def of_answer(self, begin_ns: int, end_ns: int, now_ms: int | None) -> int:
        """When the store made an answer; always between the call's begin and end."""
        if now_ms is None or self.offset_ns is None:
            return end_ns
        return max(begin_ns, min(end_ns, now_ms * MS + self.offset_ns))
