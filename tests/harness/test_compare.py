"""Two runs side by side: what changed for certain, and what chance alone may have moved."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from leaserace.harness.compare import Comparison, Run, compare, quantile_interval, read
from leaserace.harness.compare_command import compare_
from leaserace.harness.contract import UsageError
from leaserace.harness.history import History, OpEvent, OpType
from leaserace.harness.outcome import Contention, RunOutcome
from leaserace.harness.verdict import RaceResult, Verdict, newcombe_interval, wilson_interval


def race(
    scenario: str = "two_spellings",
    verdict: Verdict = Verdict.VALID,
    *,
    agents: int = 2,
    rounds: int = 100,
    duplicates: int = 0,
) -> RaceResult:
    """One race's result."""
    return RaceResult(
        race=f"{scenario}[plain]/{agents}",
        scenario=scenario,
        variant="plain",
        agents=agents,
        verdict=verdict,
        expected="one lease",
        rounds=rounds,
        duplicates=duplicates,
    )


def run_of(*races: RaceResult, conflicts: int = 100, attempts: int = 1_000) -> RunOutcome:
    """A run."""
    return RunOutcome(
        target="reference",
        seed=1,
        agents=(2, 2),
        verdict=Verdict.merge(each.verdict for each in races),
        races=races,
        again="leaserace gate",
        started_at="2026-11-30T12:00:00+00:00",
        elapsed_s=1.0,
        contention=(
            Contention(race="c", agents=2, seconds=1.0, attempts=attempts, conflicts=conflicts),
        ),
    )


def compared(before: RunOutcome, after: RunOutcome) -> Comparison:
    """The two, without waits."""
    return compare(Run(name="before", outcome=before), Run(name="after", outcome=after))


def grades(comparison: Comparison) -> list[tuple[str, str]]:
    return [(change.grade, change.what) for change in comparison.changes]


def test_a_run_compared_with_itself_has_not_changed() -> None:
    comparison = compared(run_of(race()), run_of(race()))

    assert comparison.changes == ()
    assert comparison.differences == ()
    assert comparison.verdict is Verdict.VALID


@pytest.mark.parametrize(
    ("before", "after", "grade", "verdict"),
    [
        (Verdict.VALID, Verdict.INVALID, "regression", Verdict.INVALID),
        (Verdict.UNKNOWN, Verdict.INVALID, "regression", Verdict.INVALID),
        (Verdict.VALID, Verdict.UNKNOWN, "unknown", Verdict.UNKNOWN),
        (Verdict.VALID, Verdict.NOT_APPLICABLE, "unknown", Verdict.UNKNOWN),
        (Verdict.INVALID, Verdict.VALID, "better", Verdict.VALID),
        (Verdict.UNKNOWN, Verdict.NOT_RUN, "changed", Verdict.VALID),
    ],
)
def test_a_verdict_that_got_worse_is_a_regression_or_unknown(
    before: Verdict, after: Verdict, grade: str, verdict: Verdict
) -> None:
    comparison = compared(run_of(race(verdict=before)), run_of(race(verdict=after)))

    assert [change.grade for change in comparison.changes] == [grade]
    assert comparison.verdict is verdict


def test_a_race_that_came_with_another_agent_counts_and_one_that_went_is_not_known() -> None:
    """spec: T2."""
    two, three = race(), race(agents=3)

    more = compared(run_of(two), run_of(two, replace(three, verdict=Verdict.INVALID)))
    fewer = compared(run_of(two, three), run_of(two))

    assert grades(more) == [("regression", "verdict of two_spellings[plain] with 3 agents")]
    assert fewer.verdict is Verdict.UNKNOWN


def test_a_rate_has_changed_only_if_its_interval_leaves_zero_out() -> None:
    some, many = run_of(race(duplicates=1)), run_of(race(duplicates=30))

    assert grades(compared(run_of(race()), some)) == []
    assert grades(compared(run_of(race()), many)) == [("regression", "duplicates in two_spellings")]
    assert grades(compared(many, run_of(race()))) == [("better", "duplicates in two_spellings")]


def test_more_conflicts_are_a_change_and_no_regression() -> None:
    comparison = compared(run_of(race()), run_of(race(), conflicts=300))

    assert grades(comparison) == [("changed", "claims that met a conflict, 2 agents")]
    assert comparison.changes[0].interval.startswith("+16.")
    assert comparison.verdict is Verdict.VALID


def test_what_differed_from_the_start_is_said() -> None:
    after = replace(run_of(race()), agents=(2, 3), policy={"lease_s": 60})

    assert compared(run_of(race()), after).differences == (
        "agents: 2..2 before, 2..3 now",
        "policy lease_s: None before, 60 now",
    )


@pytest.mark.parametrize(
    ("before", "after", "interval"),
    [
        # Newcombe 1998, table II, method 10, and the same turned round.
        ((48, 80), (56, 70), (0.0524, 0.3339)),
        ((56, 70), (48, 80), (-0.3339, -0.0524)),
        ((0, 10), (0, 20), (-0.2775, 0.1611)),
        ((10, 10), (0, 20), (-1.0, -0.6791)),
    ],
)
def test_the_interval_of_a_difference_is_newcombes(
    before: tuple[int, int], after: tuple[int, int], interval: tuple[float, float]
) -> None:
    assert newcombe_interval(before, after) == pytest.approx(interval, abs=5e-4)
    low, high = wilson_interval(*before)
    assert low <= before[0] / before[1] <= high


def test_the_interval_of_a_quantile_holds_the_true_one_nearly_always() -> None:
    rng = random.Random(5)
    hits = 0
    for _ in range(300):
        values = sorted(int(rng.expovariate(1.0) * 1e6) for _ in range(200))
        low, _, high = quantile_interval(values, 0.5)
        hits += low <= 693_147 <= high

    assert hits > 0.92 * 300


def save(folder: Path, outcome: RunOutcome, wait_ms: int, count: int = 60) -> Path:
    """A run's folder, whose grants were each waited for so long, more or less."""
    rng = random.Random(wait_ms)
    events = []
    for number in range(count):
        t = number * 10**9
        for kind, at_ns in (
            (OpType.INVOKE, t),
            (OpType.OK, t + int(wait_ms * rng.uniform(0.9, 1.1) * 1e6)),
        ):
            event = OpEvent(
                t=at_ns,
                race=outcome.races[0].race,
                agent="a",
                process=f"a#{number}",
                op=f"{number}",
                type=kind,
                f="acquire",
                contact="c",
            )
            events.append(event)
    folder.mkdir()
    (folder / "verdict.json").write_bytes(outcome.to_json())
    History(events).save(folder / "history.jsonl")
    return folder


def test_waits_are_read_from_the_histories_and_compared_by_quantile(tmp_path: Path) -> None:
    fast = read(save(tmp_path / "fast", run_of(race()), 10))
    slow = read(save(tmp_path / "slow", run_of(race()), 40))
    same = read(save(tmp_path / "same", run_of(race()), 10))

    assert grades(compare(fast, slow)) == [
        ("regression", "50% of waits for a lease, 2 agents"),
        ("regression", "95% of waits for a lease, 2 agents"),
    ]
    assert {change.grade for change in compare(slow, fast).changes} == {"better"}
    assert compare(fast, same).changes == ()
    assert {each.grade for each in compare(fast, slow, tolerance=9.0).changes} == {"changed"}


def test_few_waits_say_nothing(tmp_path: Path) -> None:
    few = read(save(tmp_path / "few", run_of(race()), 10, count=5))
    slow = read(save(tmp_path / "slow", run_of(race()), 900))

    assert compare(few, slow).changes == ()


def run(*arguments: object) -> Result:
    """Run the command; errors come through."""
    return CliRunner().invoke(
        compare_, [str(each) for each in arguments], catch_exceptions=False, standalone_mode=False
    )


def test_a_regression_exits_with_1_only_against_a_baseline(tmp_path: Path) -> None:
    good = save(tmp_path / "good", run_of(race()), 10)
    bad = save(tmp_path / "bad", run_of(race(verdict=Verdict.INVALID)), 10)

    assert run(good, bad).return_value == 0
    assert run(bad, "--baseline", good).return_value == 1
    assert run(good, "--baseline", bad / "verdict.json").return_value == 0
    assert "REGRESSION: verdict of two_spellings[plain] with 2 agents" in run(good, bad).output


def test_the_comparison_comes_as_json(tmp_path: Path) -> None:
    good = save(tmp_path / "good", run_of(race()), 10)
    (tmp_path / "latest").write_text("good", encoding="utf-8")

    value = json.loads(run(good, tmp_path / "latest", "--json").stdout)

    assert value["changes"] == []
    assert value["same"] > 0


def test_a_number_of_runs_that_is_wrong_is_refused(tmp_path: Path) -> None:
    good = save(tmp_path / "good", run_of(race()), 10)

    with pytest.raises(UsageError, match="give two runs"):
        run(good)
    with pytest.raises(UsageError, match="give one run, not 2"):
        run(good, good, "--baseline", good)


@pytest.mark.parametrize(
    "text", [None, "", "{}", "\x00"], ids=["none", "empty", "other", "rubbish"]
)
def test_what_is_no_run_is_one_clear_line(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    if text is not None:
        (path / "verdict.json").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"verdict\.json") as caught:
        read(path)

    assert "\n" not in str(caught.value)
