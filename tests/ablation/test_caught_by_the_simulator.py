"""Every twin is caught in the simulator, by a rule it names; twins that hide each other are too."""

from __future__ import annotations

from itertools import product

import pytest

from leaserace.harness.rules import BY_NAME
from leaserace.harness.simulation.pairs import MASKS, PAIRS, Pair, check_pair, pairs_with
from leaserace.harness.simulation.subjects import POLICIES, parse
from leaserace.harness.simulation.twins import TwinCheck, check, load_twins, masked
from leaserace.harness.targets import load_target
from leaserace.reference_impl.broken.pairs import together
from leaserace.reference_impl.target import ReferenceTarget

TWINS = {twin.name: twin for twin in load_twins(())}
PATIENCE_S = (1.0, 10.0)
QUICKEST_FIRST = ("races", "exhaustive", "programs", "random", "pct")
PAIR_IDS = [" and ".join(pair.names) for pair in PAIRS]


@pytest.mark.parametrize("name", TWINS)
def test_the_twin_is_caught_by_a_rule_it_names(name: str) -> None:
    twin = TWINS[name]
    found: set[str] = set()
    for seconds, way in product(PATIENCE_S, QUICKEST_FIRST):
        found |= check(twin, TwinCheck(seconds=seconds, soon_s=seconds), (way,)).rules
        if found & set(twin.caught_by):
            return
    pytest.fail(f"{name} is not caught by {twin.caught_by}, only by {found}")


@pytest.mark.parametrize("pair", PAIRS, ids=PAIR_IDS)
def test_neither_twin_of_a_pair_shows_alone_and_both_together_do(pair: Pair) -> None:
    """Every schedule of the bound is run, with the rule that must see through the mask."""
    found = check_pair(pair, seconds=60.0)
    assert found.is_masked, {name: each.found for name, each in found.alone.items()}
    assert found.is_caught
    assert {each.rule for each in found.both.found[0].findings} == {pair.rule}


def test_the_tables_name_what_there_is() -> None:
    assert set(MASKS) <= set(TWINS)
    assert {policy for policy, _ in MASKS.values()} <= set(POLICIES)
    for pair in PAIRS:
        assert set(pair.names) <= set(TWINS)
        assert pair.rule in BY_NAME
        assert pair.policy in POLICIES
        assert parse(pair.subject).seats
        assert isinstance(load_target(pair.target), ReferenceTarget)
    assert len({pair.names for pair in PAIRS}) == len(PAIRS)


def test_a_pair_is_asked_for_by_either_twin() -> None:
    assert pairs_with(()) == list(PAIRS)
    for name in PAIRS[0].names:
        assert PAIRS[0] in pairs_with([name])
    assert pairs_with(["without_delivery"]) == []


def test_a_masked_twin_runs_under_what_masks_it() -> None:
    (twin,) = masked([TWINS["without_fencing_check"], TWINS["without_delivery"]])
    assert twin.policies == ("cooldown",)
    assert twin.masks


def test_a_pair_lacks_what_either_twin_lacks_and_nothing_else() -> None:
    pair = together("without_lookup_of_unknown", "without_unknown_state")
    mailbox, keys = (load_target(f"leaserace.reference_impl.broken.{name}:target") for name in
                     ("without_lookup_of_unknown", "without_unknown_state"))  # fmt: skip
    assert isinstance(mailbox, ReferenceTarget)
    assert isinstance(keys, ReferenceTarget)
    assert pair.mailbox is mailbox.mailbox
    assert pair.parts == keys.parts
    assert pair.name == "without_lookup_of_unknown_and_without_unknown_state"


def test_two_twins_that_replace_one_part_make_no_pair() -> None:
    with pytest.raises(ValueError, match="replace the same part"):
        together("without_fingerprint", "without_unknown_state")


@pytest.mark.parametrize("name", ["without_delivery", "with_a_and_with_b"])
def test_what_is_no_pair_is_none(name: str) -> None:
    from leaserace.reference_impl.broken import pairs

    with pytest.raises(AttributeError, match="no pair of twins"):
        getattr(pairs, name)
