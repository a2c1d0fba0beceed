"""One simulated run: points, sections, crashes, time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from leaserace.harness.clocks import ManualClock, OffsetClock
from leaserace.harness.contract import Settings
from leaserace.harness.history import AnyEvent, FaultEvent, OpEvent, OpType
from leaserace.harness.points import Section, listen, point
from leaserace.harness.simulation.choices import AFTER, AT, BEFORE, BUSY, CRASH, LOSE, decode
from leaserace.harness.simulation.driver import Bounds, Driver
from leaserace.harness.simulation.run import Outcome, Runner
from leaserace.harness.simulation.story import steps_of
from leaserace.harness.simulation.strategies.replay import Diverged, Replay
from leaserace.harness.simulation.subjects import parse
from leaserace.harness.simulation.task import State, Task
from leaserace.harness.simulation.world import EPOCH_MS, Impossible, World
from tests.support.toy import ToyTarget


@pytest.fixture
def events() -> list[AnyEvent]:
    return []


@pytest.fixture
def world(events: list[AnyEvent]) -> Iterator[World]:
    made = World(ToyTarget())
    listen(made)
    made.begin(Settings(), ("sales-01", "support-01"), events.append)
    yield made
    made.end()
    listen(None)


def run(subject: str, choices: str, policy: str = "plain") -> Outcome:
    with Runner(ToyTarget(), rules=()) as runner:
        return runner.run(parse(subject), policy, Replay(decode(choices)), Bounds())


def section_job(section: Section, log: list[str]) -> object:
    def job(task: Task) -> None:
        with section.held(0.25) as had:
            log.append(f"{task.id} {'in' if had else 'told busy'}")
            point("inside")
            log.append(f"{task.id} out")

    return job


def test_a_section_with_a_point_inside_excludes_the_others(world: World) -> None:
    section = Section("store")
    log: list[str] = []
    for task in world.tasks:
        task.begin(section_job(section, log))  # type: ignore[arg-type]
    world.move(world.tasks[0])
    world.move(world.tasks[1])
    assert log == ["sales-01 in"]
    assert world.moves() == [0], "a waiting agent is no choice"
    with pytest.raises(Impossible, match="waits for store"):
        world.apply(1)
    world.move(world.tasks[0])
    assert world.moves() == [1]
    world.move(world.tasks[1])
    assert log == ["sales-01 in", "sales-01 out", "support-01 in"]


def test_a_wait_ends_without_the_section_when_its_holder_stands_still(world: World) -> None:
    section = Section("store")
    log: list[str] = []
    for task in world.tasks:
        task.begin(section_job(section, log))  # type: ignore[arg-type]
    world.move(world.tasks[0])
    world.move(world.tasks[1])
    world.tasks[0].state = State.STOPPED
    driver = Driver(world, Replay([BUSY + 1]), Bounds())
    assert driver.options() == [BUSY + 1]
    assert driver.step()
    assert log[1] == "support-01 told busy"
    assert world.clock.peek_ms() == EPOCH_MS + 250, "a wait takes its time"


def test_a_crash_gives_the_section_back_and_forgets_the_job(
    world: World, events: list[AnyEvent]
) -> None:
    section = Section("store")
    log: list[str] = []
    world.tasks[0].begin(section_job(section, log))  # type: ignore[arg-type]
    world.move(world.tasks[0])
    world.apply(CRASH + 0)
    assert not world.holders
    assert log == ["sales-01 in"]
    assert world.tasks[0].state is State.DEAD
    assert [event.fault for event in events if isinstance(event, FaultEvent)] == ["crash"]


def test_a_crash_can_not_be_swallowed_into_the_history(
    world: World, events: list[AnyEvent]
) -> None:
    def job(task: Task) -> None:
        try:
            point("inside")
        except BaseException:  # noqa: BLE001 - what a careless target does
            task.world.mark("after its death")

    world.tasks[0].begin(job)
    world.move(world.tasks[0])
    world.apply(CRASH + 0)
    assert [event for event in events if not isinstance(event, FaultEvent)] == []


def test_virtual_time_is_what_the_store_said(world: World) -> None:
    before = world.now_ns()
    world.set_time(EPOCH_MS + 60_000)
    after = world.now_ns()
    assert before // 1_000_000 == EPOCH_MS
    assert after // 1_000_000 == EPOCH_MS + 60_000
    assert after - before > 60_000 * 1_000_000, "one lease later is never less than one lease later"


def test_time_passes_to_just_before_at_and_just_after_a_deadline(world: World) -> None:
    world.deadlines.add(EPOCH_MS + 10)
    for choice, expected in ((BEFORE, 9), (AT, 10)):
        world.apply(choice)
        assert world.clock.peek_ms() == EPOCH_MS + expected
    world.deadlines.add(EPOCH_MS + 20)
    world.apply(AFTER)
    assert world.clock.peek_ms() == EPOCH_MS + 21


def test_a_crashed_agent_starts_again_as_its_next_incarnation() -> None:
    outcome = run("prog.AS", "a3Caa20")
    ops = [event for event in outcome.events if isinstance(event, OpEvent)]
    assert [event.op for event in ops if event.type is OpType.INVOKE] == [
        "sales-01.0:1",
        "sales-01.1:1",
        "sales-01.1:2",
    ]


def test_a_lost_reply_is_executed_and_dropped() -> None:
    with Runner(ToyTarget(), rules=()) as runner:
        world = runner.world
        runner.begin(parse("prog.A"), "plain")
        while not world.tasks[0].point.endswith(".returned"):
            world.move(world.tasks[0])
        world.apply(LOSE + 0)
        assert runner.target.leases  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("mark", "wanted_ms", "said"),
    [
        ("K", -90_000, "-90 s off"),
        ("A", 90_000, "+90 s off"),
        ("D", -10_000, "at 0.5 of the speed"),
    ],
)
def test_an_agents_clock_steps_and_drifts_and_the_stores_does_not(
    mark: str, wanted_ms: int, said: str
) -> None:
    """spec: L5: it is the agent's own clock that is wrong; 20 s pass here."""
    with Runner(ToyTarget(), rules=()) as runner:
        world = runner.world
        runner.begin(parse("prog.AS"), "plain")
        task = world.tasks[0]
        world.move(task)
        (strike,) = decode(f"{mark}a")
        world.apply(strike)
        assert task.clock is not None
        world.set_time(EPOCH_MS + 20_000)
        assert task.clock.now_ms() - world.clock.peek_ms() == wanted_ms
        assert world.clock.peek_ms() == EPOCH_MS + 20_000
    outcome = run("prog.AS", f"a{mark}aa20")
    assert any(said in step.text for step in steps_of(outcome.events))


def test_a_clock_that_drifts_goes_on_from_what_it_shows() -> None:
    """spec: L5"""
    base = ManualClock(1_000)
    clock = OffsetClock(base, offset_ms=500)
    clock.drift_from_now(-0.5)
    base.set_ms(2_000)
    assert clock.now_ms() == 2_000
    clock.drift_from_now(0.0)
    base.set_ms(3_000)
    assert clock.now_ms() == 3_000


def test_a_replay_that_does_not_fit_says_at_which_step() -> None:
    with pytest.raises(Diverged, match="at step 3: b was chosen, but now only a can be chosen"):
        run("prog.A", "a2b3")


def test_a_replay_that_is_too_short_says_so() -> None:
    with pytest.raises(Diverged, match="the schedule has ended and the run has not"):
        run("prog.A", "a2")
