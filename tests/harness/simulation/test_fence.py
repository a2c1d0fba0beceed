"""What can't be simulated is refused, naming what escaped and where."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from leaserace.harness.simulation.exhaust import Searched, Searches, exhaust
from leaserace.harness.simulation.explore import Explorer, Nondeterministic, Plan
from leaserace.harness.simulation.fence import Escaped
from tests.support.sim_targets import EscapingTarget


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("sleeps", "sleeps"),
        ("thread", "starts a thread"),
        ("clock", r"reads the machine's clock \(time.time\)"),
        ("monotonic", r"time.monotonic"),
        ("datetime", r"datetime.now"),
    ],
)
def test_what_escapes_is_named_with_its_place(what: str, named: str) -> None:
    with pytest.raises(Escaped, match=named) as caught:
        Explorer(EscapingTarget(what), Plan(target="", schedules=3, seed=1)).run()
    assert "sim_targets.py:" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_library_is_as_it_was_afterwards() -> None:
    kept = (time.sleep, threading.Thread.start)
    with pytest.raises(Escaped):
        Explorer(EscapingTarget("sleeps"), Plan(target="", schedules=3, seed=1)).run()
    assert (time.sleep, threading.Thread.start) == kept
    time.sleep(0)


def test_who_is_called_when_garbage_is_collected_is_no_part_of_the_target() -> None:
    heard: list[float] = []

    def hear(*_: object) -> None:
        heard.append(time.perf_counter())

    searches = Searches(
        target="tests.support.sim_targets:littering", subjects=("prog.A.A",), policies=("plain",)
    )
    found: list[Searched] = []
    gc.callbacks.append(hear)
    try:
        exhaust(searches, show=found.append)
    finally:
        gc.callbacks.remove(hear)
    assert heard
    assert found[0].exhausted


def test_draws_of_the_targets_own_are_hidden_nondeterminism() -> None:
    plan = Plan(target="", schedules=600, seed=1, subjects=("prog.AAA.AAA",))
    with pytest.raises(Nondeterministic, match="hidden nondeterminism"):
        Explorer(EscapingTarget("draws"), plan).run()
