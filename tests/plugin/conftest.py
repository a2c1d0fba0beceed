"""What every test of the plugin needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from leaserace.harness.scenario import REGISTRY


@pytest.fixture(autouse=True)
def _without_own_scenarios() -> Iterator[None]:
    """A scenario registered by an inner session is not one of this session's."""
    before = dict(REGISTRY._scenarios)
    yield
    REGISTRY._scenarios.clear()
    REGISTRY._scenarios.update(before)
