"""Whatever ends a run: nothing outlives it by more than two seconds, and what was recorded stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from leaserace.harness.history import FaultEvent, History, OpEvent, OpType, read_file
from tests.support.races import ENDED_WITHIN_S, files_of

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[3]
Identity = tuple[int, float]


@contextmanager
def coordinator(
    run_dir: Path, ending: str
) -> Iterator[tuple[subprocess.Popen[str], set[Identity]]]:
    """A run in a process of its own, and everybody who runs for it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.endless_race", str(run_dir), ending],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield process, {(pid, created) for pid, created in json.loads(line)}
        finally:
            process.kill()


def alive(identities: set[Identity]) -> set[Identity]:
    left = set()
    for pid, created in identities:
        try:
            process = psutil.Process(pid)
            if process.create_time() == created and process.status() != psutil.STATUS_ZOMBIE:
                left.add((pid, created))
        except psutil.NoSuchProcess:
            continue
    return left


def assert_all_ended(identities: set[Identity]) -> None:
    deadline = time.monotonic() + ENDED_WITHIN_S
    while left := alive(identities):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def assert_readable(run_dir: Path) -> None:
    """All files can be read, merged and checked; the stopped send is open, the claim is there."""
    files = files_of(run_dir)
    history = History.merge([read_file(file)[0] for file in files], "a race")
    history.validate()
    ops = {op.f: op for op in history.operations()}
    assert ops["acquire"].type is OpType.OK
    assert ops["send"].type is OpType.INVOKE
    assert any(isinstance(event, OpEvent) for event in history)
    assert any(isinstance(event, FaultEvent) and event.fault == "pause" for event in history)


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGKILL, -signal.SIGKILL),
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGINT, 0),
        (signal.SIGHUP, -signal.SIGHUP),
    ],
)
def test_nothing_outlives_a_coordinator_that_is_ended_by_a_signal(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    with coordinator(tmp_path, "wait") as (process, identities):
        assert len(identities) >= 6  # watchdog, tracker, fork server, sink, host, two agents
        assert len(alive(identities)) == len(identities)
        process.send_signal(number)
        assert process.wait(10) == status
        assert_all_ended(identities)
    assert_readable(tmp_path)


def test_nothing_outlives_a_script_that_exits(tmp_path: Path) -> None:
    with coordinator(tmp_path, "exit") as (process, identities):
        assert process.wait(10) == 5
        assert_all_ended(identities)
    assert_readable(tmp_path)


def test_nothing_outlives_a_run_that_succeeds(tmp_path: Path) -> None:
    """The script leaves its agent stopped: the engine lets it go on and end in order."""
    with coordinator(tmp_path, "succeed") as (process, identities):
        assert process.wait(10) == 0
        assert_all_ended(identities)
    history = History.merge([read_file(file)[0] for file in files_of(tmp_path)], "a race")
    assert all(op.type is not OpType.INVOKE for op in history.operations())


def test_a_stopped_coordinator_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    with coordinator(tmp_path, "wait") as (process, identities):
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert_all_ended(identities)


def test_without_its_watchdog_a_run_still_ends_in_order(tmp_path: Path) -> None:
    """Somebody may kill the watchdog; then the coordinator's own end must do."""
    with coordinator(tmp_path, "wait") as (process, identities):
        for pid, _ in identities:
            if any("watchdog.py" in part for part in psutil.Process(pid).cmdline()):
                os.kill(pid, signal.SIGKILL)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert_all_ended(identities)
    assert_readable(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("after_s", [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.7])
def test_nothing_outlives_a_coordinator_killed_at_any_moment_of_its_start(
    after_s: float, tmp_path: Path
) -> None:
    """Everybody who runs for it is known by a mark in the environment."""
    mark = f"LEASERACE_TEST_{os.getpid()}_{int(after_s * 1000)}"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.endless_race", str(tmp_path), "wait"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), mark: "1"},
        stdout=subprocess.DEVNULL,
    )
    time.sleep(after_s)  # the moment is the parameter; whichever it hits must do
    process.kill()
    process.wait(10)
    deadline = time.monotonic() + ENDED_WITHIN_S
    while left := marked(mark):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and mark in process.environ():
                found.append(process)
        except psutil.Error:
            continue
    return found
