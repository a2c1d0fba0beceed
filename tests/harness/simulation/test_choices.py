"""Choices as text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.simulation.choices import (
    AFTER,
    AT,
    BEFORE,
    MARKS,
    BadChoices,
    decode,
    encode,
    faults,
    switches,
)

KINDS = list(MARKS)
ANY_CHOICE = st.one_of(
    st.sampled_from([BEFORE, AT, AFTER]),
    st.builds(lambda kind, agent: kind + agent, st.sampled_from(KINDS), st.integers(0, 15)),
)


@given(st.lists(ANY_CHOICE, max_size=200))
def test_text_gives_back_the_choices(choices: list[int]) -> None:
    assert decode(encode(choices)) == choices


def test_repeats_are_counted_and_faults_marked() -> None:
    assert encode([0, 0, 0, 1, 17, AFTER, 0]) == "a3bCb+a"


def test_text_needs_no_quoting_in_a_shell() -> None:
    every = [kind + agent for kind in KINDS for agent in range(16)] + [BEFORE, AT, AFTER]
    assert set(encode(every)) <= set("abcdefghijklmnopABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-=+")


@pytest.mark.parametrize(("text", "where"), [("a3!b", "'!b'"), ("a0", "0 times"), ("z", "'z'")])
def test_what_is_no_choice_is_named_with_its_place(text: str, where: str) -> None:
    with pytest.raises(BadChoices, match=where):
        decode(text)


def test_a_huge_repeat_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(BadChoices, match="repeats 999999999999 times"):
        decode("a999999999999")


def test_switches_and_faults_are_counted() -> None:
    choices = decode("a3b2Cba+b")
    assert switches(choices) == 3
    assert faults(choices) == 1
