"""A small process that outlives a killed coordinator and ends what was registered with it.

A stopped agent can't see its pipe close, and each agent keeps the fork server alive; so somebody must
be left to kill them. It is run by its file, imports only psutil, and ends by itself.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

import psutil

_LOOK_S = 0.25
_GRACE_S = 2.0


def born(pid: int) -> float | None:
    """When the process of this id was created, or None if there is none."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


class Watch:
    """The coordinator's side: starts the watchdog and tells it whom to end."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this very file
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    @property
    def pid(self) -> int:
        """The watchdog's own process id."""
        return self._process.pid

    def register(self, pid: int) -> float | None:
        """Name a process to end; returns when it was created, which tells it from a later one."""
        created = born(pid)
        if created is not None:
            self._tell(f"+ {pid} {created!r}")
        return created

    def forget(self, pid: int) -> None:
        """Strike a process off."""
        self._tell(f"- {pid} 0")

    def _tell(self, line: str) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                stdin.write(line + "\n")
                stdin.flush()

    def close(self) -> None:
        """Let it end what is left, and itself."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(_GRACE_S + 1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """Listen until the coordinator is gone, then end what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    coordinator = os.getppid()
    watched: dict[int, float] = {}
    rest = b""
    while os.getppid() == coordinator:
        if not select.select([0], [], [], _LOOK_S)[0]:
            continue
        read = os.read(0, 65536)
        if not read:
            break
        *lines, rest = (rest + read).split(b"\n")
        _note(lines, watched)
    _end(watched)


def _note(lines: list[bytes], watched: dict[int, float]) -> None:
    for line in lines:
        sign, pid, created = line.split()
        if sign == b"+":
            watched[int(pid)] = float(created)
        else:
            watched.pop(int(pid), None)


def _end(watched: dict[int, float]) -> None:
    """Kill the registered and all they started, children before parents, until none is left."""
    deadline = time.monotonic() + _GRACE_S
    while left := _living(watched):
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=0.05)
        if time.monotonic() > deadline:
            return


def _living(watched: dict[int, float]) -> list[psutil.Process]:
    """Registered processes that live, after their descendants; never a reused id."""
    found: dict[int, psutil.Process] = {}
    for pid, created in watched.items():
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            if process.create_time() != created:
                continue
            for each in (*reversed(process.children(recursive=True)), process):
                if each.status() != psutil.STATUS_ZOMBIE:
                    found.setdefault(each.pid, each)
    return list(found.values())


if __name__ == "__main__":
    main()
