"""The one door to processes: what comes through it, and what does not."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from leaserace.harness.contract import Environment, Settings
from leaserace.harness.history import read_file
from leaserace.harness.processes import child, pause, wire
from leaserace.harness.processes.agent import Orders, environment_to_json
from leaserace.harness.processes.door import Child, Door
from tests.support.races import is_running

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    door = Door(
        "tests.support.process_targets:Snoop", tmp_path_factory.mktemp("door"), import_s=20.0
    )
    try:
        door.open()
        yield door
    finally:
        door.close()


@pytest.fixture
def agent(door: Door, tmp_path: Path) -> Iterator[Child]:
    """An agent of a target that needs no start."""
    env = Environment(workdir=tmp_path, smtp=("127.0.0.1", 1), settings=Settings())
    orders = Orders(
        target="tests.support.process_targets:Snoop",
        agent="sales-01",
        seat="sales-01",
        incarnation=0,
        events=str(tmp_path / "sales-01.jsonl"),
        env=environment_to_json(env),
    )
    process = door.child()
    process.be("agent", tmp_path / "sales-01.log", msgspec.to_builtins(orders))
    reply = process.reply(20.0)
    assert isinstance(reply, wire.Ready), reply
    yield process
    process.end()


def ask(agent: Child, what: str) -> str:
    """The snoop answers `acquire` with a refusal whose detail tells what it saw."""
    agent.send(wire.Call(call=1, f="acquire", contact="", args={"address": what}))
    reply = agent.reply(20.0)
    assert isinstance(reply, wire.Answered), reply
    return str(reply.value["detail"])


def test_an_agent_has_none_of_the_heavy_libraries(agent: Child) -> None:
    loaded = set(ask(agent, "modules").split())
    assert {"leaserace.harness.processes.agent", "freezegun"} <= loaded
    assert not loaded & {"pandas", "matplotlib", "mcp", "rich", "click", "aiosmtpd", "pytest"}


def test_the_main_script_is_not_run_again(agent: Child) -> None:
    assert ask(agent, "main") == "None"


def test_an_agent_sees_the_import_path_the_folder_and_the_environment_of_the_coordinator(
    agent: Child,
) -> None:
    assert ask(agent, "cwd") == str(Path.cwd())
    assert set(filter(None, sys.path)) <= set(ask(agent, "path").split(os.pathsep))
    assert ask(agent, "PYTHONPATH") == os.environ.get("PYTHONPATH", "None")
    assert ask(agent, child.ORDERS) == "None"
    assert child.ORDERS not in os.environ


def test_what_a_target_prints_goes_to_the_agents_log(
    agent: Child, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ask(agent, "print")
    assert (tmp_path / "sales-01.log").read_text() == "printed\n"
    assert capfd.readouterr() == ("", "")


def test_an_agent_whose_coordinator_is_gone_ends(agent: Child) -> None:
    agent.connection.close()
    deadline = time.monotonic() + 2
    while agent.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_agent_that_stands_at_a_point_does_not_go_on_when_its_coordinator_is_gone(
    agent: Child, tmp_path: Path
) -> None:
    """spec: S8"""
    agent.send(wire.Arm(stop=1, point="acquire.invoked"))
    agent.send(wire.Call(call=1, f="acquire", contact="", args={"address": "print"}))
    assert isinstance(agent.reply(20.0), wire.Reached)
    agent.connection.close()
    deadline = time.monotonic() + 2
    while agent.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(read_file(tmp_path / "sales-01.jsonl")[0]) == 1
    assert (tmp_path / "sales-01.log").read_text() == ""


def test_a_stopped_agent_is_killed(agent: Child) -> None:
    assert pause.stop(agent.pid) is not None
    assert psutil.Process(agent.pid).status() == psutil.STATUS_STOPPED
    agent.kill()
    assert not is_running(agent.pid)
    assert agent.exit_code == -signal.SIGKILL


def test_what_is_told_to_the_dead_is_lost_without_an_error(agent: Child) -> None:
    agent.kill()
    agent.send(wire.Go())
    agent.signal(signal.SIGCONT)
    agent.kill()
    with pytest.raises(EOFError):
        agent.reply(1.0)


def test_processes_are_forked_ahead(door: Door) -> None:
    door.prepare(3)
    pids = {process.pid for process in door._spare}
    assert len(pids) == 3
    taken = door.child()
    assert taken.pid in pids
    door.sweep(0.0)
    assert not is_running(taken.pid)
    assert all(is_running(pid) for pid in pids - {taken.pid})


def test_a_process_is_there_fast(door: Door) -> None:
    """Forked from a server that has imported all it needs; spawned it would take 0.2 s and more."""
    begun = time.monotonic()
    for _ in range(5):
        door._fork()
    assert (time.monotonic() - begun) / 5 < 0.15
    door.sweep(0.0)
