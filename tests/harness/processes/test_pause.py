"""A stop is believed only when the process's state shows it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from leaserace.harness.processes import pause

pytestmark = pytest.mark.process
THREADED = """
import sys, threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("ready", flush=True)
while True:
    pass
"""


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", THREADED], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_every_thread_of_a_busy_process_is_stopped_and_goes_on(
    victim: subprocess.Popen[str],
) -> None:
    """spec: T"""
    confirmed_us = pause.stop(victim.pid)
    assert confirmed_us is not None
    assert confirmed_us > 0
    assert pause.is_stopped(victim.pid)
    process = psutil.Process(victim.pid)
    assert process.status() == psutil.STATUS_STOPPED
    assert process.num_threads() == 4
    pause.go_on(victim.pid)
    assert not pause.is_stopped(victim.pid)


def test_a_process_that_runs_or_is_gone_is_not_stopped(victim: subprocess.Popen[str]) -> None:
    assert not pause.is_stopped(victim.pid)
    victim.kill()
    victim.wait()
    assert not pause.is_stopped(victim.pid)
    pause.go_on(victim.pid)
