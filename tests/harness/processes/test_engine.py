"""Agents as processes: what a script can do with them, and what the history says of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from leaserace.harness import Code, Lease, Race, Refused, Sent, Settings, UsageError
from leaserace.harness.contract import NoReply, Noted
from leaserace.harness.history import (
    AuditEvent,
    DeliveryEvent,
    MarkEvent,
    OpEvent,
    OpType,
    read_file,
)
from leaserace.harness.processes.actors import ProcessActor
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import Actor, NotReached
from tests.support.races import (
    claim_again_and_again,
    faults,
    files_of,
    leased,
    marks,
    play_badly,
    run,
    send_one,
)

pytestmark = pytest.mark.process
TOY = "tests.support.process_targets:Toy"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessEngine]:
    with ProcessEngine(TOY, tmp_path_factory.mktemp("run"), seed=7) as started:
        yield started


def pid_of(actor: Actor) -> int:
    assert isinstance(actor, ProcessActor)
    return actor._process.pid


def test_two_agents_are_two_processes_and_one_history(engine: ProcessEngine) -> None:
    """spec: T3"""
    pids: set[int] = set()

    def two_claims(race: Race) -> None:
        first, second = race.agents
        pids.update((pid_of(first), pid_of(second)))
        contact = race.contact("{User}@Example.com", "{user}@example.com")
        answers = race.together(first.later.acquire(contact), second.later.acquire(contact, 1))
        assert {type(answer) for answer in answers} == {Lease, Refused}

    result = run(engine, two_claims)

    assert result.problems == ()
    assert len(pids) == 2
    assert result.rounds == 1
    first, *_, last = result.history
    assert isinstance(first, MarkEvent)
    assert first.name == "race.begin"
    assert first.data["agents"] == ["sales-01", "support-01"]
    assert first.data["seed"] == 7
    assert isinstance(last, MarkEvent)
    assert last.name == "race.end"
    assert [event.t for event in result.history] == sorted(event.t for event in result.history)
    assert {op.agent for op in result.history.operations()} == {"sales-01", "support-01"}
    assert {event.race for event in result.history} == {"two_claims[plain]/2"}
    decisions = [event for event in result.history if isinstance(event, AuditEvent)]
    assert [event.value["decision"] for event in decisions] == ["granted"]


def test_agents_are_added_by_name_one_at_a_time(engine: ProcessEngine) -> None:
    """spec: T2, T3"""

    def names(race: Race) -> None:
        race.mark("names", ids=[agent.id for agent in race.agents])

    ids = ["sales-01", "support-01", "digest-01", "sequence-01", "billing-01", "agent-06"]
    for agents in (2, 5, 6):
        result = run(engine, names, agents=agents)
        assert result.problems == ()
        assert marks(result, "names")[0].data["ids"] == ids[:agents]
    with pytest.raises(UsageError, match="at least 2"):
        run(engine, names, agents=1)


def test_calls_made_together_overlap(engine: ProcessEngine) -> None:
    """spec: T3, X1"""

    def together(race: Race) -> None:
        contact = race.contact()
        race.together(*(agent.later.acquire(contact) for agent in race.agents))

    result = run(engine, together, rounds=20)

    by_contact: dict[str, list[tuple[int, int]]] = {}
    for op in result.history.operations():
        assert op.completed_ns is not None
        by_contact.setdefault(op.contact, []).append((op.invoked_ns, op.completed_ns))
    overlapping = sum(a[0] < b[1] and b[0] < a[1] for a, b in by_contact.values())
    assert len(by_contact) == 20
    assert overlapping >= 10


def test_a_paused_agent_is_stopped_at_the_point_and_goes_on_when_told(
    engine: ProcessEngine,
) -> None:
    """spec: T, S10"""
    states: list[str] = []

    def paused(race: Race) -> None:
        first, second = race.agents
        contact = race.contact()
        lease = leased(first.acquire(contact))
        stop = first.pause_at("send.checked")
        sending = first.start(first.later.send(contact, race.message(contact, lease=lease)))
        stop.wait()
        states.append(psutil.Process(pid_of(first)).status())
        assert isinstance(second.acquire(contact), Refused)
        assert not sending.is_done()
        stop.resume()
        assert isinstance(sending.answer(), Sent)
        states.append(psutil.Process(pid_of(first)).status())

    result = run(engine, paused)

    assert result.problems == ()
    assert states[0] == psutil.STATUS_STOPPED
    assert states[1] != psutil.STATUS_STOPPED
    begin, end = faults(result, "pause")
    assert (begin.phase, end.phase, begin.id) == ("begin", "end", end.id)
    assert (begin.agent, begin.point) == ("sales-01", "send.checked")
    assert begin.detail["confirmed_us"] > 0
    ops = result.history.operations()
    theirs = next(op for op in ops if op.agent == "support-01")
    assert begin.t < theirs.invoked_ns
    assert theirs.completed_ns is not None
    assert theirs.completed_ns < end.t
    assert {"pause_confirmed_us", "paused_after_us"} <= set(result.figures)


def test_a_held_agent_stands_at_the_point_and_is_not_stopped(engine: ProcessEngine) -> None:
    """spec: T"""

    def held(race: Race) -> None:
        first = race.agents[0]
        contact = race.contact()
        stop = first.hold_at("acquire.think")
        claim = first.start(first.later.acquire(contact))
        stop.wait()
        assert psutil.Process(pid_of(first)).status() != psutil.STATUS_STOPPED
        assert not claim.is_done()
        stop.resume()
        assert isinstance(claim.answer(), Lease)

    result = run(engine, held)

    assert result.problems == ()
    begin, end = faults(result, "hold")
    invoke = next(event for event in result.history if isinstance(event, OpEvent))
    assert begin.t < end.t < invoke.t


def test_a_crash_leaves_the_call_open_and_the_next_incarnation_goes_on(
    engine: ProcessEngine,
) -> None:
    """spec: X4, S8"""

    def crash(race: Race) -> None:
        first = race.agents[0]
        contact = race.contact()
        lease = leased(first.acquire(contact))
        message = race.message(contact, lease=lease)
        stop = first.kill_at("send.handed_over")
        sending = first.start(first.later.send(contact, message))
        stop.wait()
        stop.resume()
        assert isinstance(sending.answer(), NoReply)
        assert race.deliveries(contact) == 1
        first.restart()
        retry = first.send(contact, message)
        assert isinstance(retry, Sent)
        assert retry.replay
        assert race.deliveries(contact) == 1

    result = run(engine, crash)

    assert result.problems == ()
    begin, end = faults(result, "crash")
    assert begin.point == "send.handed_over"
    sends = [op for op in result.history.operations() if op.f == "send"]
    assert [op.type for op in sends] == [OpType.INVOKE, OpType.OK]
    assert [op.process for op in sends] == ["sales-01#0.0", "sales-01#1.0"]
    assert sends[0].invoked_ns < begin.t < end.t < sends[1].invoked_ns


def test_an_agent_killed_between_calls_comes_back(engine: ProcessEngine) -> None:
    def killed(race: Race) -> None:
        first = race.agents[0]
        first.kill()
        first.restart()
        assert isinstance(first.acquire(race.contact()), Lease)
        first.kill()

    result = run(engine, killed, rounds=2)

    assert result.problems == ()
    assert len(faults(result, "crash")) == 8


def test_a_lost_reply_is_unknown_to_the_agent_though_the_mail_arrived(
    engine: ProcessEngine,
) -> None:
    """spec: K2, S8"""

    def lost(race: Race) -> None:
        first = race.agents[0]
        contact = race.contact()
        message = race.message(contact, lease=leased(first.acquire(contact)))
        first.lose_next_reply()
        assert isinstance(first.send(contact, message), NoReply)
        assert race.deliveries(contact) == 1
        assert isinstance(first.send(contact, message), Sent)
        assert race.deliveries(contact) == 1

    result = run(engine, lost)

    assert result.problems == ()
    sends = [op for op in result.history.operations() if op.f == "send"]
    assert [(op.type, op.code) for op in sends] == [("info", "reply_lost"), ("ok", None)]
    assert [event.phase for event in faults(result, "lost_reply")] == ["begin", "end"]


def test_a_slow_reply_is_held_back(engine: ProcessEngine) -> None:
    def slow(race: Race) -> None:
        first = race.agents[0]
        first.slow_next_reply(0.05)
        assert isinstance(first.acquire(race.contact()), Lease)

    result = run(engine, slow)

    begin, end = faults(result, "slow_reply")
    assert end.t - begin.t >= 50_000_000


@pytest.mark.parametrize("offset_s", [3600.0, -3600.0])
def test_a_skewed_agent_believes_another_time(engine: ProcessEngine, offset_s: float) -> None:
    """spec: L5, T"""
    seen: list[int] = []

    def skewed(race: Race) -> None:
        first, second = race.agents
        contact = race.contact()
        assert first.skew(offset_s) == pytest.approx(offset_s, abs=0.25)
        for agent in (first, second):
            noted = agent.suppress(contact)  # the toy notes the agent's own clock
            assert isinstance(noted, Noted)
            seen.append(noted.at_ms)
        assert first.skew(offset_s - 30) == pytest.approx(offset_s - 30, abs=0.25)
        assert isinstance(first.send(contact, race.message(contact)), Sent)

    result = run(engine, skewed)

    assert result.problems == ()
    assert (seen[0] - seen[1]) / 1000 == pytest.approx(offset_s, abs=1.0)
    events = faults(result, "skew")
    assert [event.phase for event in events] == ["begin", "end", "begin", "end"]
    assert events[0].detail["in_thread_s"] == pytest.approx(offset_s, abs=0.25)
    assert all(abs(event.t - time.monotonic_ns()) < 60e9 for event in result.history)


def test_the_stores_clock_is_waited_for(engine: ProcessEngine) -> None:
    """spec: L3, L5"""

    def expiry(race: Race) -> None:
        first, second = race.agents
        contact = race.contact()
        lease = leased(first.acquire(contact))
        race.pass_store_time(lease.expires_at_ms)
        later = leased(second.acquire(contact))
        assert later.token == 2
        assert later.acquired_at_ms > lease.expires_at_ms

    assert run(engine, expiry, settings=Settings(lease_s=0.1)).problems == ()


def test_the_receiving_side_can_take_mail_in_silence(engine: ProcessEngine) -> None:
    """spec: S8, T"""

    def silent(race: Race) -> None:
        first = race.agents[0]
        contact = race.contact()
        race.transport("silent")
        answer = first.send(contact, race.message(contact))
        assert isinstance(answer, Refused)
        assert answer.code is Code.SEND_STATUS_UNKNOWN
        race.transport("accept")
        assert race.deliveries(contact) == 1

    result = run(engine, silent)

    assert result.problems == ()
    (delivery,) = (event for event in result.history if isinstance(event, DeliveryEvent))
    assert not delivery.replied
    assert [event.detail for event in faults(result, "transport")] == [{"behaviour": "silent"}] * 2


def test_the_receiving_side_can_refuse_or_be_slow(engine: ProcessEngine) -> None:
    """spec: S8"""

    def unwilling(race: Race) -> None:
        first = race.agents[0]
        refused, slow = race.contact(), race.contact()
        race.transport("refuse")
        assert isinstance(first.send(refused, race.message(refused)), Refused)
        race.transport("slow")
        begun = time.monotonic()
        assert isinstance(first.send(slow, race.message(slow)), Sent)
        assert time.monotonic() - begun >= 0.1
        assert (race.deliveries(refused), race.deliveries(slow)) == (0, 1)
        with pytest.raises(ValueError, match="asleep"):
            race.transport("asleep")

    result = run(engine, unwilling, settings=Settings(transport_timeout_s=0.2))

    assert result.problems == ()


def test_a_replica_is_another_process_under_the_same_id(engine: ProcessEngine) -> None:
    """spec: L3"""

    def replicas(race: Race) -> None:
        first = race.agents[0]
        twin = race.replica(first)
        assert twin.id == first.id
        assert pid_of(twin) != pid_of(first)
        contact = race.contact()
        answers = race.together(first.later.acquire(contact), twin.later.acquire(contact))
        assert {type(answer) for answer in answers} == {Lease, Refused}
        race.mark("twin", pid=pid_of(twin))
        if race.round:
            twin.kill()

    result = run(engine, replicas, rounds=2)

    assert result.problems == ()
    assert len({mark.data["pid"] for mark in marks(result, "twin")}) == 1
    processes = {op.process for op in result.history.operations()}
    assert processes == {"sales-01#0.0", "sales-01~2#0.0"}
    crash = faults(result, "crash")[0]
    assert (crash.agent, crash.detail) == ("sales-01", {"seat": "sales-01~2"})
    assert {op.agent for op in result.history.operations()} == {"sales-01"}


def test_playbooks_run_in_the_agents_at_the_same_time(engine: ProcessEngine) -> None:
    """spec: T2"""

    def contention(race: Race) -> None:
        contact = race.contact()
        play = {"contact": contact.name, "address": contact.address}
        race.play(claim_again_and_again, {agent.id: play for agent in race.agents}, 0.2)
        race.play(send_one, {race.agents[0].id: play}, 0.05)

    result = run(engine, contention)

    assert result.problems == ()
    assert result.figures["ops.sales-01"] >= 1
    assert result.figures["ops.support-01"] >= 1
    assert 0 < result.figures["slowest_share"] <= 1
    assert 0 < result.figures["longest_wait_s"] < 10
    assert sum(isinstance(event, DeliveryEvent) for event in result.history) == 1


def test_a_playbook_that_raises_is_a_problem(engine: ProcessEngine) -> None:
    def bad(race: Race) -> None:
        race.play(play_badly, {race.agents[0].id: {}}, 0.05)

    assert run(engine, bad).problems == ("sales-01: the playbook raised LookupError: no such page",)


def test_a_point_that_is_not_reached_is_told_and_makes_it_unknown(engine: ProcessEngine) -> None:
    def elsewhere(race: Race) -> None:
        first = race.agents[0]
        contact = race.contact()
        stop = first.pause_at("send.checked")
        claim = first.start(first.later.acquire(contact))
        with pytest.raises(NotReached):
            stop.wait()
        assert isinstance(claim.answer(), Lease)
        assert isinstance(first.send(contact, race.message(contact)), Sent)  # it is forgotten
        second_stop = first.kill_at("acquire.read")
        first.start(first.later.lookup(contact, race.message(contact)))
        second_stop.wait()

    result = run(engine, elsewhere, rounds=2)

    assert result.problems == ("round 1: sales-01 did not come by acquire.read",)
    assert result.rounds == 0


def test_nothing_of_a_round_is_left_to_the_next(engine: ProcessEngine) -> None:
    """A round that leaves faults on and calls open can't spoil the next one."""

    def untidy(race: Race) -> None:
        first, second = race.agents
        contact = race.contact()
        race.transport("silent")
        stop = second.pause_at("acquire.think")
        second.start(second.later.acquire(contact))
        stop.wait()
        first.pause_at("release.think")
        assert isinstance(first.acquire(contact), Lease)

    result = run(engine, untidy, rounds=3)

    assert result.problems == ()
    assert result.rounds == 3
    assert all(op.type is not OpType.INVOKE for op in result.history.operations())
    for kind in ("pause", "transport"):
        phases = [event.phase for event in faults(result, kind)]
        assert phases.count("begin") == phases.count("end") == 3


def test_a_script_that_raises_is_a_problem_and_what_was_recorded_stays(
    engine: ProcessEngine,
) -> None:
    def broken(race: Race) -> None:
        race.agents[0].acquire(race.contact())
        raise KeyError("no such thing")

    result = run(engine, broken)

    assert result.problems == ("round 1: the script raised KeyError: 'no such thing'",)
    assert len(result.history.operations()) == 1


def test_the_seed_decides_what_a_race_draws(engine: ProcessEngine) -> None:
    def draws(race: Race) -> None:
        race.mark("drawn", number=race.rng.getrandbits(64))

    one, two = run(engine, draws), run(engine, draws)

    assert marks(one, "drawn")[0].data == marks(two, "drawn")[0].data


def test_each_incarnation_has_a_file_of_its_own_that_can_be_read(tmp_path: Path) -> None:
    def restarts(race: Race) -> None:
        first = race.agents[0]
        first.acquire(race.contact())
        first.kill()
        first.restart()
        first.acquire(race.contact())

    with ProcessEngine(TOY, tmp_path) as engine:
        run(engine, restarts)

    files = files_of(tmp_path)
    assert [file.name for file in files] == [
        "audit.jsonl",
        "coordinator.jsonl",
        "sales-01.0.jsonl",
        "sales-01.1.jsonl",
        "sink.jsonl",
        "support-01.0.jsonl",
    ]
    for file in files:
        assert read_file(file)[1] == []


def test_lengths_a_target_cannot_change_are_in_force(tmp_path: Path) -> None:
    def lengths(race: Race) -> None:
        lease = leased(race.agents[0].acquire(race.contact()))
        assert lease.expires_at_ms - lease.acquired_at_ms == 300

    with ProcessEngine("tests.support.process_targets:LongLeases", tmp_path) as engine:
        result = run(engine, lengths, settings=Settings(lease_s=0.1, key_window_s=5.0))

    assert result.problems == ()
    assert result.info.settings == Settings(lease_s=0.3, cooldown_s=5.0, key_window_s=5.0)
    assert not result.info.isolated


def test_a_store_without_a_clock_to_read_is_timed_by_its_leases(tmp_path: Path) -> None:
    """spec: L5"""

    def expiry(race: Race) -> None:
        first, second = race.agents
        contact = race.contact()
        lease = leased(first.acquire(contact))
        race.pass_store_time(lease.expires_at_ms)
        assert leased(second.acquire(contact)).token == 2

    def no_lease_yet(race: Race) -> None:
        race.pass_store_time(0)

    with ProcessEngine("tests.support.process_targets:NoClock", tmp_path) as engine:
        assert run(engine, expiry, settings=Settings(lease_s=0.1)).problems == ()
        assert run(engine, no_lease_yet).problems == (
            "the store's clock can't be read, and no lease tells its time",
        )


def test_a_point_in_a_thread_of_the_targets_holds_its_call(tmp_path: Path) -> None:
    """A thread that runs between calls is let by: nobody could tell it to go on."""

    def threads(race: Race) -> None:
        first = race.agents[0]
        contact = race.contact()
        idle = first.hold_at("background")
        with pytest.raises(NotReached):
            idle.wait()
        for aim in (first.pause_at, first.hold_at):
            stop = aim("acquire.read")
            claim = first.start(first.later.acquire(contact))
            stop.wait()
            assert not claim.is_done()
            stop.resume()
            claim.answer()

    with ProcessEngine("tests.support.process_targets:Threaded", tmp_path) as engine:
        assert run(engine, threads, rounds=2).problems == ()


def test_two_engines_share_one_process(tmp_path: Path) -> None:
    """A gate feeds its canary while the engine for the target is open already."""

    def claims(race: Race) -> None:
        assert isinstance(race.agents[0].acquire(race.contact()), Lease)

    with (
        ProcessEngine(TOY, tmp_path / "a") as outer,
        ProcessEngine("tests.support.process_targets:NoClock", tmp_path / "b") as inner,
    ):
        assert run(inner, claims).problems == ()
        assert run(outer, claims).problems == ()
    with ProcessEngine(TOY, tmp_path / "c") as again:
        assert run(again, claims).problems == ()


def test_windows_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(UsageError, match="SIGSTOP") as caught:
        ProcessEngine(TOY, tmp_path)
    assert "\n" not in str(caught.value)
