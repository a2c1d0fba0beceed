"""Fixtures: one desk over each kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leaserace.harness import points
from leaserace.harness.clocks import ManualClock
from leaserace.reference_impl.stores.protocol import Store
from tests.reference_impl.desk import COOLING, STORES, Desk, make_store


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    store = make_store(request.param, tmp_path, clock)
    yield store
    store.close()


@pytest.fixture
def desk(store: Store, clock: ManualClock) -> Iterator[Desk]:
    yield Desk(store, clock)
    points.listen(None)


@pytest.fixture
def cooling_desk(store: Store, clock: ManualClock) -> Iterator[Desk]:
    yield Desk(store, clock, COOLING)
    points.listen(None)
