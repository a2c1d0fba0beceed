"""How far each agent's clock was ahead, from calls that carry both times (spec: L5)."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.judge.skew import Skews, told

SECOND = 10**9


@given(
    ahead_ms=st.integers(-(10**6), 10**6),
    calls=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=30),
)
def test_the_true_offset_lies_inside_what_is_said(
    ahead_ms: int, calls: list[tuple[int, int]]
) -> None:
    skews = Skews()
    for number, (there_ms, back_ms) in enumerate(calls):
        store_ms = 1_000_000 + 10_000 * number
        begin, end = store_ms - there_ms + ahead_ms, store_ms + back_ms + ahead_ms
        skews.begin("a", (str(number),), begin * 10**6)
        skews.end("a", (str(number),), end * 10**6, store_ms * 10**6)

    offset = skews.offsets({})["a"]

    assert abs(offset.ahead_ns - ahead_ms * 10**6) <= offset.either_ns
    assert offset.either_ns <= min(there + back for there, back in calls) * 10**6 // 2 + 2
    assert not offset.stepped


def test_a_clock_that_was_stepped_contradicts_itself() -> None:
    skews = Skews()
    for number, ahead in enumerate((0, 0, 3_600)):
        store_ns = (1_000 + number) * SECOND
        skews.begin("a", (str(number),), store_ns + (ahead - 1) * SECOND)
        skews.end("a", (str(number),), store_ns + (ahead + 1) * SECOND, store_ns)

    offset = skews.offsets({})["a"]

    assert offset.stepped
    assert "it was stepped meanwhile" in next(told({"a": offset}))


def test_what_the_mapping_tells_counts_more() -> None:
    skews = Skews()
    skews.end("a", ("1",), 5 * SECOND, 0)

    assert skews.offsets({})["a"].ahead_ns == 5 * SECOND
    assert skews.offsets({"a": 2.5})["a"].ahead_ns == int(2.5 * SECOND)


def test_calls_that_never_end_do_not_pile_up() -> None:
    skews = Skews()
    rng = random.Random(1)
    for number in range(250_000):
        skews.begin("a", (str(number), str(rng.random())), number)

    assert len(skews._begun) <= 100_000
