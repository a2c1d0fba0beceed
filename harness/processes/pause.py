"""SIGSTOP and SIGCONT, believed only when the process's state says so."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

import psutil

from ..clocks import monotonic_ns

WAIT_S = 2.0
"""How long a stop may take to be seen."""
_YIELDS = 2000


def stop(pid: int) -> float | None:
    """Stop a process and wait until its state is `T`.

    Returns:
        Microseconds from the signal to the sight of it, or None if it was not seen in time.
    """
    begun_ns = monotonic_ns()
    deadline_ns = begun_ns + int(WAIT_S * 1e9)
    os.kill(pid, signal.SIGSTOP)
    looks = 0
    while not is_stopped(pid):
        if monotonic_ns() > deadline_ns:
            return None
        looks += 1
        if looks < _YIELDS:
            os.sched_yield()  # the agent may need this very core to get there
        else:
            time.sleep(0.0001)
    return (monotonic_ns() - begun_ns) / 1000


def go_on(pid: int) -> None:
    """Let a stopped process run."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def is_stopped(pid: int) -> bool:
    """Whether every thread of the process is stopped."""
    if sys.platform == "linux":
        return _all_threads_stopped(pid)
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess:
        return False


def _all_threads_stopped(pid: int) -> bool:
    try:
        if _state(f"/proc/{pid}") != b"T":
            return False
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - this is timed
        return len(threads) == 1 or all(_state(f"/proc/{pid}/task/{t}") == b"T" for t in threads)
    except (FileNotFoundError, ProcessLookupError):
        return False


def _state(folder: str) -> bytes:
    """The state letter; it stands behind the command's name, which may hold brackets itself."""
    stat = os.open(f"{folder}/stat", os.O_RDONLY)
    try:
        return os.read(stat, 512).rpartition(b")")[2][1:2]
    finally:
        os.close(stat)
