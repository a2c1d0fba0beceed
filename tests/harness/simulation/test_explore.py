"""Exploring: the same seed draws the same, whoever runs it; findings are kept, shrunk and told."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leaserace.harness.simulation.again import run_schedule
from leaserace.harness.simulation.choices import AFTER
from leaserace.harness.simulation.explore import Explorer, Plan, Statistics
from leaserace.harness.simulation.fence import Escaped
from leaserace.harness.simulation.run import Runner
from leaserace.harness.simulation.schedule import Schedule, load
from leaserace.harness.simulation.shrink import Shrinker, smaller_choices, smaller_subjects
from leaserace.harness.simulation.sketch import SIZE, Sketch
from leaserace.harness.simulation.story import steps_of, tell
from leaserace.harness.simulation.workers import SLICE, explore_all, slices
from leaserace.harness.simulation.world import World
from leaserace.harness.targets import load_target
from tests.support.toy import ToyTarget

REFERENCE = "leaserace.reference_impl.target:target"
UNFENCED = "leaserace.reference_impl.broken.without_fencing_check:target"


def figures(found: Statistics) -> tuple[object, ...]:
    return found.schedules, found.steps, found.by_policy, found.by_rule, found.sketch


def test_the_reference_has_no_finding() -> None:
    found = Explorer(load_target(REFERENCE), Plan(target=REFERENCE, schedules=400, seed=8)).run()
    assert found.schedules == 400
    assert not found.hits
    assert not found.problems
    assert found.twice >= 1


@pytest.mark.parametrize("strategy", ["random", "pct", "portfolio"])
def test_every_strategy_finds_a_missing_fence(strategy: str) -> None:
    """A stale token that is not checked is found within a thousand runs (spec: S3)."""
    plan = Plan(target=UNFENCED, strategy=strategy, schedules=1000, seed=4)
    found = Explorer(load_target(UNFENCED), plan).run()
    assert found.hits
    assert found.hits[0].strategy in {"random", "pct"}


def test_a_seed_draws_the_same_again() -> None:
    runs = [
        Explorer(ToyTarget(), Plan(target="", schedules=120, seed=seed)).run() for seed in (1, 1, 2)
    ]
    assert figures(runs[0]) == figures(runs[1])
    assert figures(runs[0]) != figures(runs[2])


def test_shards_share_the_slices_of_the_whole_between_them() -> None:
    plan = Plan(target="", schedules=2 * SLICE + 10)
    whole = list(slices(plan, (1, 1)))
    parts = [item for number in (1, 2, 3) for item in slices(plan, (number, 3))]
    assert sorted(parts) == whole == [(0, SLICE), (1, SLICE), (2, 10)]


def test_any_executor_gives_the_figures_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of workers changes nothing but the time."""
    monkeypatch.setattr("leaserace.harness.simulation.workers.SLICE", 40)
    plan = Plan(target=REFERENCE, schedules=100, seed=2)
    alone = explore_all(plan)
    with ThreadPoolExecutor(1) as executor:
        shared = explore_all(plan, executor=executor, workers=1)
    assert figures(alone) == figures(shared)
    assert alone.schedules == 100


@pytest.mark.process
def test_workers_of_our_own_give_the_figures_of_one_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leaserace.harness.simulation.workers.SLICE", 40)
    plan = Plan(target=REFERENCE, schedules=100, seed=2)
    assert figures(explore_all(plan, workers=2)) == figures(explore_all(plan))


@pytest.mark.process
def test_what_a_worker_can_not_do_is_raised_here() -> None:
    """The same error, whoever ran the slice."""
    plan = Plan(target="tests.support.sim_targets:sleeping", schedules=10)
    with pytest.raises(Escaped, match="sleeps"):
        explore_all(plan, workers=2)


def test_statistics_survive_json() -> None:
    found = Explorer(ToyTarget("no key"), Plan(target="", schedules=200, seed=1)).run()
    assert found.hits
    again = Statistics.from_json(found.to_json())
    assert again == found


def test_a_finding_is_on_disk_with_its_schedule(tmp_path: Path) -> None:
    plan = Plan(target="x:y", schedules=500, seed=1, folder=str(tmp_path), keep_going=True)
    found = Explorer(ToyTarget("no key"), plan).run()
    assert len(found.hits) == len(list(tmp_path.iterdir())) >= 1
    for path in tmp_path.iterdir():
        recorded = load(str(path))
        with Runner(ToyTarget("no key")) as runner:
            outcome = run_schedule(runner, recorded.schedule)
        assert outcome.findings[0].rule == recorded.rule == path.name.rpartition("-")[0]
        assert outcome.trace_hash() == recorded.trace


def test_a_finding_shrinks_to_a_story_of_a_few_lines() -> None:
    target = load_target(UNFENCED)
    hit = Explorer(target, Plan(target=UNFENCED, schedules=1000, seed=5)).run().hits[0]
    schedule = Schedule.from_text(hit.schedule)
    with Runner(target) as runner:
        shrunk = Shrinker(runner, schedule, hit.rules[0]).shrink()
        again = run_schedule(runner, shrunk.schedule)
    assert len(shrunk.schedule.choices) <= len(schedule.choices)
    assert again.trace_hash() == shrunk.outcome.trace_hash()
    assert len(steps_of(shrunk.outcome.events)) <= 10
    story = tell(shrunk.outcome.events, shrunk.outcome.findings, again="leaserace replay X")
    lines = story.splitlines()
    assert lines[0].startswith(shrunk.outcome.findings[0].message)
    assert sum("▲" in line for line in lines) == 1
    assert lines[-1] == "leaserace replay X"


def test_what_is_tried_when_shrinking_is_never_longer_than_it_was() -> None:
    texts = [text for text, _ in smaller_subjects("prog.ASL.@GS", [0, 0, 1, 17, 0])]
    assert "prog.ASL" in texts
    assert "prog.AS.@GS" in texts
    assert "prog.ASL.@S" in texts
    assert all(len(text) < len("prog.ASL.@GS") for text in texts)
    assert [0, 0, 0] in list(smaller_choices([0, 0, 1, 0]))


def test_an_agent_that_is_gone_takes_its_choices_with_it() -> None:
    """Agents behind it move up; time stays."""
    left = dict(smaller_subjects("prog.A.S.L", [0, 1, 2, 17, 18, AFTER]))
    assert left["prog.A.L"] == [0, 1, 17, AFTER]


def test_no_more_schedules_are_called_distinct_than_were_run() -> None:
    """The estimate may lie above; what was run is a bound."""
    smallest = list(range(SIZE))  # so close together that they look like very many
    assert Sketch(smallest).estimate() > SIZE
    total = Statistics()
    total.add(Statistics(schedules=SIZE, sketch=smallest))
    assert total.distinct == SIZE


def test_a_sketch_counts_exactly_at_first_and_about_right_later() -> None:
    sketch = Sketch()
    for number in range(300):
        sketch.add(number)
        sketch.add(number)
    assert sketch.estimate() == 300
    for number in range(100_000):
        sketch.add(number)
    assert abs(sketch.estimate() - 100_000) < 15_000
    assert len(sketch.kept()) == SIZE
    other = Sketch(sketch.kept())
    assert other.estimate() == sketch.estimate()


def test_nothing_of_a_slice_is_kept_when_it_is_over() -> None:
    """Greenlets that stand still keep all they see alive; memory would grow with every slice."""
    target = load_target(REFERENCE)
    before = worlds()
    for slice_ in range(3):
        Explorer(target, Plan(target=REFERENCE, schedules=3, seed=1), slice_).run()
    assert worlds() <= before


def worlds() -> int:
    gc.collect()
    return sum(type(thing) is World for thing in gc.get_objects())
