"""Exhaustive searches from the command line: several at once, cut off, with findings, in a portfolio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leaserace.harness.simulation.catalogue import EXHAUSTIVE
from leaserace.harness.simulation.commands import explore, replay
from leaserace.harness.simulation.exhaust import Searched, Searches, exhaust
from leaserace.harness.simulation.fence import Escaped
from leaserace.harness.simulation.subjects import parse

REFERENCE = "leaserace.reference_impl.target:target"
UNFENCED = "leaserace.reference_impl.broken.without_fencing_check:target"
TOY = "tests.support.toy:toy"
QUICK = ("prog.A.A", "prog.AL.GL")
SLOW = frozenset({"prog.AS.AS", "prog.ASC.AL", "prog.ASL_0.ASL_0"})


def call(*arguments: str) -> Result:
    result = CliRunner().invoke(
        explore, ["--strategy", "exhaustive", *arguments], standalone_mode=False
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def figures(searches: Searches, workers: int) -> dict[tuple[str, str], tuple[object, ...]]:
    found: list[Searched] = []
    status = exhaust(searches, workers=workers, show=found.append)
    assert status == 0
    return {
        (each.subject, each.policy): (each.schedules, each.states, each.pruned, each.exhausted)
        for each in found
    }


def test_the_number_of_workers_changes_nothing_but_the_time() -> None:
    searches = Searches(target=REFERENCE, subjects=QUICK, policies=("plain", "cooldown"))
    alone = figures(searches, 1)
    assert len(alone) == 4
    assert figures(searches, 2) == alone


def test_shards_share_the_searches_between_them() -> None:
    searches = Searches(target=TOY, subjects=QUICK, policies=("plain",))
    seen: list[str] = []
    for number in (1, 2):
        exhaust(searches, shard=(number, 2), show=lambda each: seen.append(each.subject))
    assert sorted(seen) == sorted(QUICK)


def test_a_search_that_is_cut_off_is_not_green() -> None:
    """What was left out is not known: exit status 4, and it is named."""
    result = call(
        "--target", TOY, "--subject", "prog.AL.GL", "--variant", "plain", "--schedules", "3"
    )
    assert result.return_value == 4
    assert "exhausted: no" in result.output
    assert "0 of 1 searches came to their end" in result.output
    assert "cut off      prog.AL.GL under plain" in result.output


@pytest.mark.parametrize("workers", ["1", "2"])
def test_searches_that_did_not_begin_are_named(workers: str) -> None:
    result = call("--target", REFERENCE, "--agents", "2", "--seconds", "0.01", "--workers", workers)
    assert result.return_value == 4
    assert "not begun" in result.output
    assert "more" in result.output


def test_a_finding_is_on_disk_and_can_be_run_again(tmp_path: Path) -> None:
    result = call(
        "--target", UNFENCED, "--subject", "prog.AT.@GT", "--variant", "plain",
        "--schedules", "2000", "--json", "--report", str(tmp_path),
    )  # fmt: skip
    assert result.return_value == 1
    found = json.loads(result.output)
    assert found["hits"]
    for hit in found["hits"]:
        (file,) = tmp_path.glob(f"*/schedules/{hit['rule']}-prog.AT.@GT-plain.txt")
        again = CliRunner().invoke(replay, ["--target", UNFENCED, str(file)], standalone_mode=False)
        assert again.return_value == 1
        assert hit["rule"] in again.output


def test_a_target_that_sleeps_is_refused() -> None:
    with pytest.raises(Escaped, match="sleeps"):
        call("--target", "tests.support.sim_targets:sleeping", "--subject", "prog.A.A")


def test_only_what_has_so_many_agents_is_searched() -> None:
    result = call("--target", TOY, "--agents", "1", "--json")
    assert result.return_value == 0
    assert not result.output


def test_a_portfolio_bounded_by_time_begins_with_small_searches(tmp_path: Path) -> None:
    arguments = ["--target", REFERENCE, "--seconds", "3", "--json", "--report", str(tmp_path)]
    result = CliRunner().invoke(explore, arguments, standalone_mode=False)
    assert result.return_value == 0
    found = json.loads(result.stdout)
    assert found["searches"][0]["subject"] == "prog.A.A"
    assert found["searches"][0]["exhausted"]
    assert found["schedules"]


def test_a_small_search_that_finds_something_ends_a_portfolio(tmp_path: Path) -> None:
    twin = "leaserace.reference_impl.broken.without_atomic_acquire:target"
    arguments = ["--target", twin, "--seconds", "30", "--report", str(tmp_path)]
    result = CliRunner().invoke(explore, arguments, standalone_mode=False)
    assert result.return_value == 1
    assert "leases.one_live" in result.output
    assert "leaserace replay --target" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for text in EXHAUSTIVE if text not in SLOW])
def test_the_reference_has_no_finding_within_the_bound(text: str) -> None:
    """Every schedule of two agents with one fault and one deadline keeps every rule."""
    assert len(parse(text).seats) == 2
    found: list[Searched] = []
    exhaust(Searches(target=REFERENCE, subjects=(text,), policies=("plain",)), show=found.append)
    (searched,) = found
    assert searched.exhausted
    assert not searched.hits
    assert not searched.problems
