"""Exhaustive search: what it leaves out changes no finding, and it says what it did."""

from __future__ import annotations

import random

import pytest

from leaserace.harness.contract import Target
from leaserace.harness.simulation.driver import Bounds
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.search import KINDS, SearchResult, search
from leaserace.harness.simulation.strategies.pct import Pct
from leaserace.harness.simulation.strategies.uniform import Uniform
from leaserace.harness.simulation.subjects import parse
from leaserace.harness.targets import load_target
from tests.support.toy import ToyTarget

BROKEN = "leaserace.reference_impl.broken."


def searched(
    target: Target, subject: str, faults: int, deadlines: int, *, reduce: bool = True
) -> SearchResult:
    bounds = Bounds(faults=faults, time_steps=deadlines, kinds=KINDS)
    with Runner(target) as runner:
        return search(runner, parse(subject), "plain", bounds, reduce=reduce, stop_at_finding=False)


def rules_of(result: SearchResult) -> set[str]:
    return {finding.rule for outcome in result.found for finding in outcome.findings}


@pytest.mark.parametrize("broken", ["", "fence", "expiry", "two steps", "no key"])
@pytest.mark.parametrize(
    ("subject", "faults", "deadlines"),
    [("prog.A.A", 0, 0), ("prog.A.GS", 0, 1), ("prog.AS.GR", 0, 0)],
)
def test_reduced_and_unreduced_search_of_the_toy_agree(
    broken: str, subject: str, faults: int, deadlines: int
) -> None:
    reduced = searched(ToyTarget(broken), subject, faults, deadlines)
    whole = searched(ToyTarget(broken), subject, faults, deadlines, reduce=False)
    assert reduced.exhausted
    assert whole.exhausted
    assert rules_of(reduced) == rules_of(whole)
    assert reduced.schedules <= whole.schedules


@pytest.mark.slow
@pytest.mark.parametrize(
    "twin",
    ["reference", "without_atomic_acquire", "without_case_folding", "without_lasting_counter"],
)
def test_reduced_and_unreduced_search_of_real_code_agree(twin: str) -> None:
    name = "leaserace.reference_impl.target" if twin == "reference" else BROKEN + twin
    target = load_target(f"{name}:target")
    reduced = searched(target, "prog.A.A", 0, 0)
    whole = searched(target, "prog.A.A", 0, 0, reduce=False)
    assert whole.exhausted
    assert rules_of(reduced) == rules_of(whole)


@pytest.mark.parametrize("broken", ["fence", "expiry", "two steps", "no key"])
def test_draws_find_nothing_that_the_search_did_not(broken: str) -> None:
    target, subject = ToyTarget(broken), parse("prog.AS.AR")
    found = rules_of(searched(target, "prog.AS.AR", 1, 1))
    rng = random.Random(11)
    bounds = Bounds(faults=1, time_steps=1, kinds=KINDS)
    with Runner(target) as runner:
        for chooser in (Uniform(rng), Pct(rng)):
            for _ in range(150):
                outcome = runner.run(subject, "plain", chooser, bounds)
                assert {finding.rule for finding in outcome.findings} <= found


def test_time_to_a_deadline_is_searched_on_both_its_sides() -> None:
    """An expiry check that is off by one is found (spec: L3)."""

    assert not rules_of(searched(ToyTarget(), "prog.A.A", 0, 1))
    assert "leases.one_live" in rules_of(searched(ToyTarget("off by one"), "prog.A.A", 0, 1))


def test_clients_of_one_kind_are_exchanged_for_one_another() -> None:
    apart = searched(ToyTarget(), "prog.AS_0.AS_1", 0, 0)
    alike = searched(ToyTarget(), "prog.AS_0.AS_0", 0, 0)
    assert alike.exhausted
    assert alike.states < apart.states


def test_agents_on_different_contacts_are_not_interleaved() -> None:
    """Steps that touch different contacts commute: sleep sets leave one order of each."""
    apart = searched(ToyTarget(), "prog.AS_0.AS_3", 0, 0)
    shared = searched(ToyTarget(), "prog.AS_0.AS_1", 0, 0)
    assert apart.asleep > 0
    assert apart.schedules < shared.schedules


def test_a_target_without_content_is_searched_without_comparing_states() -> None:
    class Opaque(ToyTarget):
        content = None  # type: ignore[assignment]

    result = searched(Opaque(), "prog.A.A", 0, 0)
    assert result.exhausted
    assert not result.is_pruning
    assert result.states == 0


def test_a_search_that_is_cut_off_is_not_exhausted() -> None:
    with Runner(ToyTarget()) as runner:
        result = search(
            runner, parse("prog.ASR.ASR"), "plain", Bounds(faults=1, kinds=KINDS), schedules=5
        )
    assert result.schedules == 5
    assert not result.exhausted
