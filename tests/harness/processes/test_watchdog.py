"""The watchdog kills what was registered with it, and nobody else."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from leaserace.harness.processes import watchdog
from tests.support.races import is_running

pytestmark = pytest.mark.process
SLEEPER = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with process:
        yield process
        process.kill()


def ended(pid: int) -> bool:
    deadline = time.monotonic() + 2
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def test_what_is_registered_is_ended_with_the_watch(sleeper: subprocess.Popen[bytes]) -> None:
    watch = watchdog.Watch()
    assert watch.register(sleeper.pid) == watchdog.born(sleeper.pid)
    watch.close()
    assert ended(sleeper.pid)
    assert not is_running(watch.pid)


def test_what_was_struck_off_lives_on(sleeper: subprocess.Popen[bytes]) -> None:
    watch = watchdog.Watch()
    watch.register(sleeper.pid)
    watch.forget(sleeper.pid)
    watch.close()
    assert is_running(sleeper.pid)


def test_a_process_that_got_the_id_of_a_registered_one_is_never_killed(
    sleeper: subprocess.Popen[bytes],
) -> None:
    watch = watchdog.Watch()
    watch._tell(f"+ {sleeper.pid} {1.0!r}")  # as if the registered one had been born long ago
    watch.close()
    assert is_running(sleeper.pid)


def test_what_a_registered_process_started_is_ended_too() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER]) as parent:
        children: list[int] = []
        while not children:
            children = [each.pid for each in psutil.Process(parent.pid).children()]
        watch = watchdog.Watch()
        watch.register(parent.pid)
        watch.close()
        assert ended(parent.pid)
        assert ended(children[0])


def test_nobody_is_registered_who_is_not_there(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    sleeper.wait()
    watch = watchdog.Watch()
    assert watch.register(sleeper.pid) is None
    watch.close()
    assert not is_running(watch.pid)


def test_a_watchdog_that_was_killed_is_no_error(sleeper: subprocess.Popen[bytes]) -> None:
    watch = watchdog.Watch()
    psutil.Process(watch.pid).kill()
    while is_running(watch.pid):
        time.sleep(0.01)
    watch.register(sleeper.pid)
    watch.close()
