"""Users' own races: fixtures, decorated functions, and how the target is named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.own_scenarios import is_path, load_scenarios_from
from tests.plugin.support import ITEMS, OWN, run

pytest_plugins = ["pytester"]

SIMULATED = ("--leaserace-engine", "simulation")
HEAVY = (
    "hypothesis",
    "pandas",
    "matplotlib",
    "rich",
    "greenlet",
    "freezegun",
    "click",
    "multiprocess",
)


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_a_file_of_scenarios_is_found(pytester: pytest.Pytester, mode: str) -> None:
    pytester.makepyfile(race_ours=OWN)
    result = run(pytester, *SIMULATED, "--import-mode", mode, "-v", "-k", "two_tabs")

    result.assert_outcomes(passed=2, deselected=ITEMS)
    result.stdout.fnmatch_lines(["race_ours.py::two_tabs[[]at once[]] PASSED*"])


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_a_scenario_beside_tests_is_found(pytester: pytest.Pytester, mode: str) -> None:
    pytester.makepyfile(test_ours=OWN + "\n\ndef test_plain():\n    pass\n")
    result = run(pytester, *SIMULATED, "--import-mode", mode, "test_ours.py", "-k", "test_ours")

    result.assert_outcomes(passed=3, deselected=ITEMS)


def test_a_scenario_without_a_target_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(race_ours=OWN)
    result = run(pytester, "race_ours.py", target=None)

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["leaserace: no mailbox is named: give --leaserace-target*"])


def test_files_of_scenarios_are_left_alone_where_no_target_is_named(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(race_ours="raise RuntimeError('nobody asked')", test_a="def test(): pass")

    run(pytester, target=None).assert_outcomes(passed=1)


def test_conftest_names_the_target_once(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_leaserace_target(config):\n    return 'inbox:toy'\n")
    result = run(pytester, *SIMULATED, "-k", "two_spellings and order", target=None)

    result.assert_outcomes(passed=1, deselected=ITEMS - 1)


def test_the_ini_file_names_the_target_and_the_engine(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nleaserace_target = inbox:toy\nleaserace_engine = simulation\n")
    result = run(pytester, "-k", "two_spellings and order", target=None)

    result.assert_outcomes(passed=1, deselected=ITEMS - 1)


def test_one_file_is_run_without_the_races_where_the_target_is_only_configured(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\nleaserace_target = inbox:toy\n")
    pytester.makepyfile(test_a="def test(): pass")

    run(pytester, "test_a.py", target=None).assert_outcomes(passed=1)


def test_the_simulation_fixture_is_a_race(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_ours="""
        import pytest
        from leaserace.harness import Code, Lease, Settings

        @pytest.fixture
        def person(simulation):
            return lambda: simulation.contact()

        @pytest.mark.leaserace(agents=3, rounds=4, settings=Settings(lease_s=5.0))
        def test_one_holder(simulation, person):
            assert len(simulation.agents) == 3
            who = person()
            answers = simulation.together(*(a.later.acquire(who) for a in simulation.agents))
            assert sum(isinstance(answer, Lease) for answer in answers) == 1
        """
    )
    result = run(pytester, "test_ours.py", "-k", "one_holder")

    result.assert_outcomes(passed=1, deselected=ITEMS)


def test_a_finding_fails_a_test_that_asserts_nothing(pytester: pytest.Pytester) -> None:
    """The rules judge what was recorded (spec: S3)."""
    pytester.makepyfile(
        test_ours="""
        def test_stale(simulation):
            first, second = simulation.agents
            who = simulation.contact()
            lease = first.acquire(who)
            simulation.pass_store_time(lease.expires_at_ms)
            second.acquire(who)
            first.send(who, simulation.message(who, lease=lease))
        """
    )
    result = run(pytester, "test_ours.py", "-k", "test_stale", target="inbox:toy_without_fence")

    result.assert_outcomes(failed=1, deselected=ITEMS)
    result.stdout.fnmatch_lines(["sales-01 sent*", "*rule tokens.stale_never_sends*"])
    assert "in_pytest" not in result.stdout.str()


def test_the_tests_own_assertion_is_shown_where_it_stands(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_ours="""
        def test_wrong(simulation):
            leases = [simulation.agents[0].acquire(simulation.contact())]
            assert len(leases) == 2
        """
    )
    result = run(pytester, "test_ours.py", "-k", "test_wrong")

    result.assert_outcomes(failed=1, deselected=ITEMS)
    result.stdout.fnmatch_lines([">*assert len(leases) == 2", "test_ours.py:*: AssertionError"])


@pytest.mark.process
def test_the_race_fixture_starts_real_processes(pytester: pytest.Pytester) -> None:
    """The holder is stopped by a signal; its stale send is found (spec: S3, T3)."""
    pytester.makepyfile(
        test_ours="""
        import pytest
        from leaserace.harness import Settings

        @pytest.mark.leaserace(settings=Settings(lease_s=0.2))
        def test_stale(race):
            first, second = race.agents
            who = race.contact()
            lease = first.acquire(who)
            stop = first.pause_at("send.think")
            sending = first.start(first.later.send(who, race.message(who, lease=lease)))
            stop.wait()
            race.pass_store_time(lease.expires_at_ms)
            second.acquire(who)
            stop.resume()
            sending.answer()
        """
    )
    result = run(pytester, "test_ours.py", "-k", "test_stale", target="outbox:Toy", apart=True)

    result.assert_outcomes(failed=1, deselected=ITEMS)
    result.stdout.fnmatch_lines(["*rule tokens.stale_never_sends*", "*goes on*"])


def test_the_plugin_pulls_in_nothing_heavy() -> None:
    code = (
        "import sys, leaserace.harness.pytest_plugin;"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_scenario_is_loaded_by_its_path(
    monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester
) -> None:
    path = pytester.makepyfile(ours_by_path=OWN)
    monkeypatch.setattr(sys, "path", list(sys.path))

    assert is_path(f"{path}::two_tabs")
    assert [each.id for each in load_scenarios_from(f"{path}::two_tabs")] == ["two_tabs"]
    with pytest.raises(UsageError, match="has no scenario 'three_tabs'; there are two_tabs"):
        load_scenarios_from(f"{path}::three_tabs")


def test_a_file_that_is_not_there_or_broken_is_named(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = pytester.makepyfile(ours_broken="import nothing_of_this_name")
    empty = pytester.makepyfile(ours_empty="x = 1")

    with pytest.raises(UsageError, match=r"no file 'lost\.py'"):
        load_scenarios_from("lost.py")
    with pytest.raises(UsageError, match="can't be imported: ModuleNotFoundError"):
        load_scenarios_from(str(path))
    with pytest.raises(UsageError, match="defines no scenario"):
        load_scenarios_from(str(empty))
