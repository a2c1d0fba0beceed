"""Races as test items: listed, chosen, run, reported."""

from __future__ import annotations

import json
import re

import pytest

from leaserace.harness.outcome import RunOutcome
from tests.plugin.support import ITEMS, run

pytest_plugins = ["pytester"]

SIMULATED = ("--leaserace-engine", "simulation")
BROKEN = "inbox:toy_without_fence"


def test_a_folder_with_only_a_target_file_lists_every_race(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--collect-only", "-q")

    result.stdout.fnmatch_lines(
        [
            "leaserace::two_spellings[[]at once[]]",
            "leaserace::stale_token[[]before the call[]]",
            "leaserace::retry_after_timeout[[]reply lost[]]",
        ]
    )


def test_a_broken_target_ends_with_status_1_and_its_story(pytester: pytest.Pytester) -> None:
    """The failure is told in the words of the domain (spec: S3)."""
    result = run(pytester, *SIMULATED, "-k", "stale_token and before", target=BROKEN)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*stale_token[[]before the call[]]*",
            "sales-01 sent*",
            "*pytest 'leaserace::stale_token[[]before the call[]]' --leaserace-target inbox*",
        ]
    )
    assert "in_pytest" not in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_a_correct_target_passes(pytester: pytest.Pytester) -> None:
    result = run(pytester, *SIMULATED, "-k", "two_spellings or (stale_token and not renewal)")

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=8, skipped=2, deselected=ITEMS - 10)


@pytest.mark.process
def test_two_workers_say_the_same(pytester: pytest.Pytester) -> None:
    alone = run(pytester, *SIMULATED, "-k", "stale_token", target=BROKEN, apart=True)
    shared = run(pytester, *SIMULATED, "-k", "stale_token", "-n", "2", target=BROKEN, apart=True)

    assert alone.ret == shared.ret == pytest.ExitCode.TESTS_FAILED
    counted = alone.parseoutcomes()
    counted.pop("deselected", None)
    assert shared.parseoutcomes() == counted
    assert _failed(alone) == _failed(shared)


def _failed(result: pytest.RunResult) -> set[str]:
    return set(re.findall(r"^FAILED (.*?\])", result.stdout.str(), re.MULTILINE))


@pytest.mark.process
def test_real_processes_are_the_engine_unless_another_is_named(pytester: pytest.Pytester) -> None:
    """Each agent has a process of its own, in which the toy has a store of its own (spec: T3)."""
    result = run(pytester, "leaserace::two_spellings[one after the other]", apart=True)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["leaserace: target inbox:toy, engine processes, seed 7"])


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        (("-k", "two_spellings"), 5),
        (("-k", "six and stale_token"), 6),
        (("-m", "leaserace(number=1)"), 5),
        (("-m", "leaserace(scenario='stale_token')"), 6),
        (("-m", "not leaserace"), 0),
        (("leaserace::stale_token",), 6),
        (("leaserace::stale_token[call under way]",), 1),
        (("leaserace",), ITEMS),
    ],
)
def test_races_are_chosen_like_any_test(
    pytester: pytest.Pytester, choice: tuple[str, ...], count: int
) -> None:
    result = run(pytester, "--collect-only", "-q", *choice)

    listed = [line for line in result.outlines if line.startswith("leaserace::")]
    assert len(listed) == count


def test_both_engines_make_two_items_of_a_variant(pytester: pytest.Pytester) -> None:
    result = run(
        pytester, "--collect-only", "-q", "--leaserace-engine", "both", "-k", "stale_token and way"
    )

    assert [line for line in result.outlines if line.startswith("leaserace::")] == [
        "leaserace::stale_token[call under way, processes]",
        "leaserace::stale_token[call under way, simulation]",
    ]


def test_what_a_target_lacks_is_skipped_and_counted(pytester: pytest.Pytester) -> None:
    """Never passed; where nothing at all applies the status says so."""
    result = run(pytester, *SIMULATED, "-rs", "-k", "suppressed_while_leased")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(
        ["3 not applicable", "SKIPPED*suppressed_while_leased.py*: not applicable: the target*"]
    )


def test_a_scenario_that_never_entered_its_window_fails_as_unknown(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        race_ours="""
        from leaserace.harness import Settings, scenario

        @scenario(number=60, title="t", spec=[], expected="e", needs=(), settings=Settings(),
                  windows=("it rained",))
        def dry(race):
            race.agents[0].acquire(race.contact())
        """
    )
    result = run(pytester, *SIMULATED, "race_ours.py", "-k", "dry")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["unknown: never entered its window: it rained"])


def test_the_runs_folder_is_attached(pytester: pytest.Pytester) -> None:
    result = run(
        pytester, *SIMULATED, "-k", "stale_token and before", "--junitxml", "out.xml", target=BROKEN
    )

    folder = next((pytester.path / ".leaserace").glob("*-pytest-7"))
    race = folder / "stale_token-before-the-call"
    assert {"history.jsonl", "verdict.json", "summary.md"} <= {p.name for p in race.iterdir()}
    assert f'name="leaserace_run" value="{race}"' in (pytester.path / "out.xml").read_text()
    result.stdout.fnmatch_lines([f"run folder: {race}"])


def test_the_session_leaves_one_outcome_of_all_races(pytester: pytest.Pytester) -> None:
    run(pytester, *SIMULATED, "-k", "two_spellings")

    latest = pytester.path / ".leaserace" / "latest"
    outcome = RunOutcome.from_json((latest / "verdict.json").read_bytes())
    assert outcome.command == "pytest"
    assert len(outcome.races) == 4
    assert json.loads((latest / "history.jsonl").read_text().splitlines()[0])["race"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--leaserace-target", "nowhere:toy"), "*importing 'nowhere' failed*"),
        (("--leaserace-target", "inbox:lost"), "*module 'inbox' has no 'lost'*"),
        (("--leaserace-target", "inbox"), "*no target is called 'inbox'*"),
        (("--leaserace-agents", "9"), "*leaserace_agents=9: at least 2 agents race, at most 5*"),
        (("--leaserace-policy", "no.toml"), "*no policy file*no.toml*"),
        (("leaserace::stale",), "*no race is called 'stale'; there are two_spellings*"),
    ],
)
def test_wrong_usage_is_one_line_and_status_4(
    pytester: pytest.Pytester, options: tuple[str, ...], said: str
) -> None:
    result = run(pytester, *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])


def test_an_answer_that_breaks_the_contract_is_named_with_its_field(
    pytester: pytest.Pytester,
) -> None:
    """Never a pass, never a crash."""
    pytester.makepyfile(
        wrong="""
        from dataclasses import replace
        from inbox import ToyMailbox, ToyTarget

        class Mailbox(ToyMailbox):
            def acquire(self, address):
                return replace(super().acquire(address), token="41")

        class Target(ToyTarget):
            def connect(self, agent):
                return Mailbox(self, agent.id)
        """
    )
    result = run(pytester, *SIMULATED, "-k", "two_spellings and once", target="wrong:Target")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.re_match_lines([r".*acquire returned Lease with token='41'"])
