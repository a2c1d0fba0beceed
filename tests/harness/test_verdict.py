"""The three-valued verdict, how verdicts merge, and what counts of green runs allow to say."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.verdict import (
    Finding,
    RaceResult,
    Verdict,
    rate_upper_bound,
    runs_still_needed,
    wilson_interval,
)

VERDICTS = st.lists(st.sampled_from(Verdict))


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ([], Verdict.NOT_APPLICABLE),
        ([Verdict.NOT_APPLICABLE], Verdict.NOT_APPLICABLE),
        ([Verdict.NOT_APPLICABLE, Verdict.NOT_RUN], Verdict.NOT_RUN),
        ([Verdict.NOT_RUN, Verdict.VALID, Verdict.NOT_APPLICABLE], Verdict.VALID),
        ([Verdict.VALID, Verdict.UNKNOWN], Verdict.UNKNOWN),
        ([Verdict.UNKNOWN, Verdict.INVALID, Verdict.VALID], Verdict.INVALID),
    ],
)
def test_invalid_beats_unknown_beats_valid(verdicts: list[Verdict], whole: Verdict) -> None:
    for order in itertools.permutations(verdicts):
        assert Verdict.merge(order) is whole


@given(VERDICTS, VERDICTS)
def test_it_does_not_matter_in_which_groups_verdicts_are_merged(
    one: list[Verdict], two: list[Verdict]
) -> None:
    grouped = Verdict.merge([Verdict.merge(one), Verdict.merge(two)])
    assert grouped is Verdict.merge(one + two)


@given(VERDICTS)
def test_an_unknown_is_never_folded_into_valid(verdicts: list[Verdict]) -> None:
    assert Verdict.merge([*verdicts, Verdict.UNKNOWN]) in {Verdict.UNKNOWN, Verdict.INVALID}


def test_each_verdict_has_its_exit_status() -> None:
    assert {verdict: verdict.exit_status for verdict in Verdict} == {
        Verdict.VALID: 0,
        Verdict.INVALID: 1,
        Verdict.UNKNOWN: 4,
        Verdict.NOT_RUN: 4,
        Verdict.NOT_APPLICABLE: 5,
    }


def test_a_result_holds_no_findings_unless_told() -> None:
    result = RaceResult(
        race="a[b]/2", scenario="a", variant="b", agents=2, verdict=Verdict.VALID, expected="x"
    )
    assert (result.findings, result.duplicates, result.figures) == ((), 0, {})
    assert Finding(rule="r", spec=("S1",), message="m").ops == ()


# -- statistics -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("trials", "bound"), [(1, 0.95), (100, 0.02951), (1_000_000, 2.9957e-06)])
def test_nothing_seen_in_many_runs_bounds_the_rate(trials: int, bound: float) -> None:
    """About three in the number of runs: the rule of three."""
    assert rate_upper_bound(trials) == pytest.approx(bound, rel=1e-3)


@given(st.integers(1, 10_000), st.floats(0.01, 0.999))
def test_at_the_bound_nothing_is_seen_with_the_chance_that_is_left(
    trials: int, confidence: float
) -> None:
    rate = rate_upper_bound(trials, confidence)
    assert (1 - rate) ** trials == pytest.approx(1 - confidence, rel=1e-6)


@pytest.mark.parametrize(
    ("rate", "runs"), [(0.5, 7), (0.1, 44), (0.01, 459), (1e-12, 4605170185989)]
)
def test_a_rare_finding_needs_many_green_runs(rate: float, runs: int) -> None:
    assert runs_still_needed(rate) == pytest.approx(runs, rel=1e-9)


@given(st.floats(0.001, 0.999), st.floats(0.01, 0.999))
def test_so_many_green_runs_are_just_enough(rate: float, confidence: float) -> None:
    runs = runs_still_needed(rate, confidence)
    assert (1 - rate) ** runs <= (1 - confidence) * (1 + 1e-9)
    assert runs == 1 or (1 - rate) ** (runs - 1) > (1 - confidence) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("seen", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (1, 10, 0.0179, 0.4042), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)],
)
def test_some_seen_in_some_runs_gives_an_interval(
    seen: int, trials: int, low: float, high: float
) -> None:
    """Figures from the usual tables of Wilson's score interval."""
    assert wilson_interval(seen, trials) == pytest.approx((low, high), abs=1e-4)


@given(st.data())
def test_an_interval_holds_the_share_that_was_seen(data: st.DataObject) -> None:
    trials = data.draw(st.integers(1, 5000))
    seen = data.draw(st.integers(0, trials))
    low, high = wilson_interval(seen, trials)
    assert 0.0 <= low <= seen / trials <= high <= 1.0
    wide = wilson_interval(seen, trials, 0.999)
    assert wide[0] <= low
    assert wide[1] >= high


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rate_upper_bound(0), "trials=0"),
        (lambda: rate_upper_bound(5, 1.0), "confidence=1.0"),
        (lambda: runs_still_needed(0.0), "rate=0.0"),
        (lambda: runs_still_needed(0.5, 0.0), "confidence=0.0"),
        (lambda: runs_still_needed(math.nan), "rate=nan"),
        (lambda: wilson_interval(1, -1), "trials=-1"),
        (lambda: wilson_interval(-1, 5), "seen=-1"),
        (lambda: wilson_interval(6, 5), "seen=6"),
        (lambda: wilson_interval(1, 5, 2.0), "confidence=2.0"),
    ],
)
def test_figures_that_make_no_sense_are_refused_by_name(
    call: Callable[[], object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        call()
