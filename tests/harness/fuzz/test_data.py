"""Property tests over one value; the interleavings are drawn inside."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from leaserace.harness.fuzz.data import Value, explore, hold, letters_for, values
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.schedule import Schedule
from leaserace.harness.targets import load_target
from tests.harness.fuzz.support import EXPLICIT, REFERENCE, twin
from tests.support.toy import ToyTarget


@settings(EXPLICIT, max_examples=25)
@given(values())
def test_the_reference_holds(value: Value) -> None:
    hold(value, REFERENCE)


def test_a_twin_does_not_and_the_message_replays() -> None:
    """The schedule stands in the message (spec: S3)."""
    value = Value(("AWXS", "WAS"), "short-lease")

    with pytest.raises(AssertionError, match=r"leaserace replay --target \S+ lr1/prog") as caught:
        hold(value, twin("fencing_check"), interleavings=400)

    assert Schedule.from_text(str(caught.value).split()[-1]).subject == value.subject


def test_a_value_always_comes_out_the_same() -> None:
    """Nothing but the value decides what is drawn inside."""
    value = Value(("ASR", "AS"), "plain")
    with Runner(load_target(twin("unknown_state"))) as runner:
        outcomes = [explore(runner, value, interleavings=200) for _ in range(2)]

    assert outcomes[0] is not None
    assert outcomes[1] is not None
    assert outcomes[0].trace_hash() == outcomes[1].trace_hash()


def test_only_letters_a_target_can_follow_are_drawn() -> None:
    assert set(letters_for(ToyTarget())) & set("OUV") == set()
    assert "S" in letters_for(ToyTarget())
