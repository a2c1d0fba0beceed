"""Times as logs write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.judge.times import NoTime, Zones, parser

NOON_NS = 1_796_040_000 * 10**9
"""2026-11-30T12:00:00Z."""


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("unix_s", 1_796_040_000),
        ("unix_s", "1796040000"),
        ("unix_s", 1_796_040_000.0),
        ("unix_ms", 1_796_040_000_000),
        ("unix_us", 1_796_040_000_000_000),
        ("unix_ns", NOON_NS),
        ("iso", "2026-11-30T12:00:00Z"),
        ("iso", "2026-11-30T12:00:00.000Z"),
        ("iso", "2026-11-30T14:00:00+02:00"),
        ("iso", "2026-11-30 07:00:00.000000-05:00"),
        ("iso", "2026-11-30T12:00:00.000000000Z"),
        ("iso", " 2026-11-30 12:00:00 UTC"),
        ("%d/%b/%Y:%H:%M:%S %z", "30/Nov/2026:13:00:00 +0100"),
    ],
    ids=repr,
)
def test_one_instant_is_read_from_every_form(form: str, value: Any) -> None:
    assert parser(form, Zones())(value) == NOON_NS


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("unix_s", float("nan")),
        ("unix_s", "NaN"),
        ("unix_s", float("inf")),
        ("unix_s", "-inf"),
        ("unix_s", None),
        ("unix_s", True),
        ("unix_s", []),
        ("unix_s", 0),
        ("unix_s", -5),
        ("unix_s", 10**40),
        ("iso", "yesterday"),
        ("iso", ""),
        ("iso", 5),
        ("iso", None),
        ("iso", "2026-13-30T12:00:00Z"),
        ("iso", "2026-11-30T12:00:61Z"),
        ("iso", "9999-12-31T23:59:59-23:59"),
        ("%d.%m.%Y", "2026-11-30"),
    ],
    ids=repr,
)
def test_what_is_no_time_is_refused(form: str, value: Any) -> None:
    with pytest.raises(NoTime):
        parser(form, Zones())(value)


def test_a_wrong_unit_is_named() -> None:
    with pytest.raises(NoTime, match="as unix_ms it would be one"):
        parser("unix_s", Zones())(1_796_040_000_000)


@given(seconds=st.floats(347_155_200, 4_070_908_800))
def test_the_fast_way_agrees_with_the_slow_one(seconds: float) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    parse = parser("iso", Zones())
    exact = round(moment.timestamp()) * 10**9

    text = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    same = moment.isoformat(timespec="milliseconds")

    assert parse(text) == parse(same)
    assert abs(parse(text) - exact) <= 10**9


def test_times_without_a_zone_are_counted_and_taken_as_the_mapping_says() -> None:
    assumed, told = Zones(), Zones("Europe/Berlin")

    assert parser("iso", assumed)("2026-11-30T12:00:00") == NOON_NS
    assert parser("iso", told)("2026-11-30T13:00:00") == NOON_NS
    assert (assumed.without, told.without) == (1, 1)


def test_the_hour_that_comes_twice_and_the_one_that_never_comes_are_counted() -> None:
    zones = Zones("Europe/Berlin")
    parse = parser("iso", zones)

    parse("2026-10-25T02:30:00")
    parse("2026-03-29T02:30:00")
    parse("2026-07-01T02:30:00")

    assert (zones.twice, zones.never) == (1, 1)
