"""Targets that raise, hang, die or lie: one clear line, or a problem, and nothing left running."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from leaserace.harness import Race, Refused, Sent, UsageError
from leaserace.harness.contract import NoReply
from leaserace.harness.engine import RaceRun
from leaserace.harness.history import OpType
from leaserace.harness.judging import result_of
from leaserace.harness.processes.deadlines import Deadlines
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.processes.race import ProcessRace
from leaserace.harness.verdict import Verdict
from tests.support.races import ended_afterwards, faults, run

pytestmark = pytest.mark.process
MODULE = "tests.support.process_targets"


@pytest.fixture(scope="module", autouse=True)
def fork_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One fork server for all of them, kept by an engine that is never used."""
    with ProcessEngine(f"{MODULE}:Toy", tmp_path_factory.mktemp("outer")):
        yield


def claim(race: Race) -> None:
    """Every agent claims the contact."""
    contact = race.contact()
    race.together(*(agent.later.acquire(contact) for agent in race.agents))


def run_claim(target: str, run_dir: Path, *, rounds: int = 1, **short: float) -> RaceRun:
    deadlines = Deadlines(**short)
    with (
        ended_afterwards(),
        ProcessEngine(f"{MODULE}:{target}", run_dir, deadlines=deadlines) as engine,
    ):
        return run(engine, claim, rounds=rounds)


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("RaisesInStart", "start() raised RuntimeError: no database here"),
        ("RefusesItsPolicy", "policy lease_s=-1: give a length above 0"),
        ("ReturnsNoJson", "the facts start() returned can't be written as JSON"),
        ("RaisesInConnect", "connect() raised ConnectionError: nobody listens at 127.0.0.1:1"),
        ("FixesNoLength", "'patience_s'] is no length"),
    ],
)
def test_a_target_that_raises_in_start_or_connect_is_a_usage_error(
    target: str, line: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        run_claim(target, tmp_path)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("target", "short", "line"),
    [
        ("HangsInStart", "start_s", "the target's start() did not return within 0.3 s"),
        ("HangsInConnect", "connect_s", "connect() did not return within 0.3 s and was cut off"),
        ("HangsMidCall", "call_s", "acquire did not answer within 0.3 s and was cut off"),
        ("HangsInClose", "stop_s", "close() did not return within 0.3 s"),
        ("DiesMidCall", "settle_s", "died in acquire (exit status 7)"),
        ("RaisesInStop", "settle_s", "stop() raised RuntimeError: it is still in use"),
        ("RaisesInAudit", "settle_s", "audit() raised RuntimeError: the log is gone"),
        ("AuditsNonsense", "settle_s", "audit() gave {'decision': 'granted'}, which is no Audit"),
    ],
)
def test_what_hangs_dies_or_lies_is_a_problem(
    target: str, short: str, line: str, tmp_path: Path
) -> None:
    result = run_claim(target, tmp_path, rounds=1, **{short: 0.3})
    assert any(line in problem for problem in result.problems), result.problems


def test_a_stop_that_hangs_is_cut_off(tmp_path: Path) -> None:
    """Agents end within the same deadline, so it is not too short here."""
    (problem,) = run_claim("HangsInStop", tmp_path, stop_s=1.5).problems
    assert "the target's stop() did not return within 1.5 s and was cut off" in problem


def test_a_call_that_hangs_stays_open_and_its_stacks_are_in_the_log(tmp_path: Path) -> None:
    result = run_claim("HangsMidCall", tmp_path, rounds=3, call_s=0.3)

    assert [op.type for op in result.history.operations()] == [OpType.INVOKE, OpType.INVOKE]
    (log,) = tmp_path.glob("races/*/events/sales-01.log")
    assert "in acquire" in log.read_text()
    assert result.rounds == 0


def test_a_call_that_raises_is_unknown_and_the_race_goes_on(tmp_path: Path) -> None:
    result = run_claim("RaisesMidCall", tmp_path, rounds=2)

    assert result.problems == ()
    assert {(op.type, op.code) for op in result.history.operations()} == {("info", "raised")}
    assert len({op.process for op in result.history.operations()}) == 4


def test_mail_that_was_acknowledged_and_never_comes_is_waited_for_within_bounds(
    tmp_path: Path,
) -> None:
    """The rule `sends.arrived` judges it; the engine only waits."""

    def say_sent(race: Race) -> None:
        contact = race.contact()
        assert isinstance(race.agents[0].send(contact, race.message(contact)), Sent)
        assert race.deliveries(contact) == 0

    short = Deadlines(settle_s=0.2)
    with ProcessEngine(f"{MODULE}:SaysSentOnly", tmp_path, deadlines=short) as engine:
        assert run(engine, say_sent).problems == ()


def test_what_a_target_leaves_running_is_ended_with_the_race(tmp_path: Path) -> None:
    pids: list[int] = []

    def note(race: Race) -> None:
        family = psutil.Process().children(recursive=True)
        pids.extend(each.pid for each in family if each.name() == "sleep")

    with ProcessEngine(f"{MODULE}:LeavesAProcess", tmp_path) as engine:
        with ended_afterwards():
            assert run(engine, note).problems == ()
        assert pids


def test_a_skew_that_does_not_take_is_a_problem(tmp_path: Path) -> None:
    """spec: T"""

    def skewed(race: Race) -> None:
        race.agents[0].skew(3600)

    with ProcessEngine(f"{MODULE}:HidesFromSkew", tmp_path) as engine:
        (problem,) = run(engine, skewed).problems
    assert problem.startswith("sales-01: a skew of +3600 s did not take: measured +0.0")


def test_a_clock_that_hangs_is_cut_off(tmp_path: Path) -> None:
    def wait(race: Race) -> None:
        race.pass_store_time(0)

    short = Deadlines(clock_s=0.3)
    with ProcessEngine(f"{MODULE}:HangsInNowMs", tmp_path, deadlines=short) as engine:
        (problem,) = run(engine, wait).problems
    assert "the target's now_ms() did not return within 0.3 s" in problem


@pytest.mark.parametrize(
    ("target", "value"), [("ClockOfText", "'noon'"), ("ClockOfNothing", "nan")]
)
def test_a_clock_that_is_no_time_breaks_the_contract(
    target: str, value: str, tmp_path: Path
) -> None:
    """spec: L5, R. The finding names the target and the value; the race is over."""

    def wait(race: Race) -> None:
        race.pass_store_time(0)

    with ProcessEngine(f"{MODULE}:{target}", tmp_path) as engine:
        ran = run(engine, wait)
    said = f"target {MODULE}:{target}: now_ms()={value}, not a whole number of at least 0"
    assert ran.problems == (said,)
    result, judgement = result_of(ran)
    assert result.verdict is Verdict.INVALID
    assert [(each.rule, each.message) for each in judgement.findings] == [("contract.kept", said)]


def test_a_call_on_a_dead_agent_is_a_problem(tmp_path: Path) -> None:
    def dead(race: Race) -> None:
        race.agents[0].kill()
        assert isinstance(race.agents[0].acquire(race.contact()), NoReply)

    with ProcessEngine(f"{MODULE}:Toy", tmp_path) as engine:
        result = run(engine, dead)
    assert result.problems == ("sales-01: acquire was called after its crash",)


def test_a_call_behind_a_pause_that_nobody_ends_is_cut_off(tmp_path: Path) -> None:
    def forgotten(race: Race) -> None:
        first = race.agents[0]
        stop = first.pause_at("acquire.think")
        claim = first.start(first.later.acquire(race.contact()))
        stop.wait()
        claim.answer()

    short = Deadlines(call_s=1.0)
    with ProcessEngine(f"{MODULE}:Toy", tmp_path, deadlines=short) as engine:
        result = run(engine, forgotten)
    assert "acquire did not answer within 1 s" in result.problems[0]
    assert [event.phase for event in faults(result, "pause")] == ["begin", "end"]


def test_a_refusal_is_no_problem(tmp_path: Path) -> None:
    def twice(race: Race) -> None:
        contact = race.contact()
        race.agents[0].acquire(contact)
        assert isinstance(race.agents[0].acquire(contact), Refused)

    with ProcessEngine(f"{MODULE}:Toy", tmp_path) as engine:
        assert run(engine, twice).problems == ()


def test_a_target_is_stopped_once_whatever_becomes_of_the_race(tmp_path: Path) -> None:
    """`Target.stop` is promised to be called once, also after a failed run."""

    def interrupted(race: Race) -> None:
        raise KeyboardInterrupt

    with ProcessEngine(f"{MODULE}:SaysWhenStopped", tmp_path / "a") as engine:
        run(engine, claim)
        with pytest.raises(KeyboardInterrupt):
            run(engine, interrupted)
    with (
        pytest.raises(UsageError, match="not today"),
        ProcessEngine(f"{MODULE}:StopsThoughConnectRaises", tmp_path / "b") as engine,
    ):
        run(engine, claim)
    notes = sorted(tmp_path.glob("*/races/*/target/stopped"))
    assert len(notes) == 3
    assert all(note.read_text() == "stopped\n" for note in notes)


def test_a_target_that_can_not_be_connected_again_is_a_problem(tmp_path: Path) -> None:
    def again(race: Race) -> None:
        race.agents[0].kill()
        race.agents[0].restart()

    with ProcessEngine(f"{MODULE}:ConnectsOnce", tmp_path) as engine:
        (problem,) = run(engine, again).problems
    assert "connect() raised ConnectionError: one connection an agent" in problem


def test_a_target_whose_process_dies_is_a_problem(tmp_path: Path) -> None:
    def ask(race: Race) -> None:
        race.pass_store_time(0)

    def ask_nothing(race: Race) -> None:
        assert isinstance(race, ProcessRace)
        race._host.process.kill()

    with ProcessEngine(f"{MODULE}:HostDies", tmp_path) as engine:
        (problem,) = run(engine, ask).problems
        assert "the target's process died in now_ms()" in problem
        (problem,) = run(engine, ask_nothing).problems
        assert "the target's process died" in problem
