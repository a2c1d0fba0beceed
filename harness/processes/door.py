"""The one door to child processes: everything that starts or ends one stands here.

Processes are forked by a fork server that has imported the agents' modules and the target already, so
that one is there in about ten milliseconds. A few are forked ahead and wait to be told their role.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import multiprocess
import multiprocess.connection
import multiprocess.forkserver
import multiprocess.resource_tracker
import psutil

from ..contract import UsageError
from . import child, watchdog, wire

_CONTEXT = multiprocess.get_context("forkserver")
_open_doors: list[Door] = []
"""Doors that are open in this process; they share one fork server."""


class Child:
    """A process of ours.

    Args:
        process: The library's handle.
        connection: Our end of its pipe.
        watch: The watchdog that knows of it.
    """

    def __init__(self, process: Any, connection: wire.Connection, watch: watchdog.Watch) -> None:
        self._process = process
        self.connection = connection
        self.pid: int = process.pid
        self._watch = watch
        self._born = watch.register(self.pid)

    def be(self, role: str, log: Path, orders: Mapping[str, Any]) -> None:
        """Tell it its role; it answers with `Ready` or `Failed`."""
        self.send(wire.Be(role=role, log=str(log), orders=orders))

    def send(self, message: wire.Command) -> None:
        """Send a message; one that is dead is told nothing."""
        with contextlib.suppress(OSError):
            wire.send(self.connection, message)

    def reply(self, within_s: float) -> wire.Reply | None:
        """Its next message, or None if none came in time.

        Raises:
            EOFError: It is dead.
        """
        if not self.connection.poll(within_s):
            return None
        return wire.next_reply(self.connection)

    def is_alive(self) -> bool:
        """Whether it has not ended yet."""
        return bool(self._process.is_alive())

    @property
    def exit_code(self) -> int | None:
        """Its exit status, negative for a signal; None while it lives."""
        code: int | None = self._process.exitcode
        return code

    def kill(self) -> None:
        """SIGKILL it and wait until it is gone."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self._process.join(2.0)

    def signal(self, number: int) -> None:
        """Send it a signal, if it lives."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def end(self, within_s: float = 0.0) -> None:
        """Make sure that it and all it started are gone.

        Args:
            within_s: How long it may take to end by itself.
        """
        if within_s:
            self._process.join(within_s)
        self.kill()
        if watchdog.born(self.pid) in (None, self._born):
            # Its group: whatever the target started in it. A group in use keeps its number.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._watch.forget(self.pid)
        self.connection.close()


class Door:
    """Starts processes, and ends all of them.

    Args:
        target: Name of the target the fork server loads ahead.
        folder: Where its own files go.
        import_s: How long importing the target may take.
        agent: An agent under test that it loads ahead too, or "".
    """

    def __init__(self, target: str, folder: Path, import_s: float, agent: str = "") -> None:
        self._target = target
        self._agent = agent
        self._folder = folder
        self._import_s = import_s
        self._spare: list[Child] = []
        self._children: list[Child] = []
        self._watch: watchdog.Watch | None = None

    def open(self) -> None:
        """Start watchdog and fork server.

        Raises:
            UsageError: The target can't be imported, or not in time.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self._watch = watchdog.Watch()
        first = not _open_doors
        _open_doors.append(self)
        if not first:
            self._watch.register(_fork_server_pid())
        elif self._start_fork_server(self._target, self._agent)["threads"]:
            # A fork takes no threads along: let each process import such a target itself.
            self._watch.forget(_fork_server_pid())
            _end_fork_server()
            self._start_fork_server("")

    def _start_fork_server(self, target: str, agent: str = "") -> dict[str, Any]:
        """Start it, and wait until it has loaded the target.

        Returns:
            What it says of that.

        Raises:
            UsageError: It can't be imported, or not in time.
        """
        assert self._watch is not None
        status = self._folder / "loaded.json"
        status.unlink(missing_ok=True)
        with _fork_server_orders(target, agent, status):
            multiprocess.forkserver.ensure_running()
        pid = _fork_server_pid()
        self._watch.register(pid)
        deadline = time.monotonic() + self._import_s
        while not status.exists():
            if not psutil.pid_exists(pid) or _is_zombie(pid):
                raise UsageError(f"target {self._target!r}: importing it ended the process")
            if time.monotonic() > deadline:
                raise UsageError(
                    f"target {self._target!r}: importing it did not end within {self._import_s:g} s"
                )
            time.sleep(0.002)
        told: dict[str, Any] = json.loads(status.read_text(encoding="utf-8"))
        if told["usage"]:
            raise UsageError(told["usage"])
        return told

    def prepare(self, number: int) -> None:
        """Have so many processes ready that wait to be told their role."""
        while len(self._spare) < number:
            self._spare.append(self._fork())

    def child(self) -> Child:
        """A process that waits to be told its role."""
        return self._spare.pop() if self._spare else self._fork()

    def _fork(self) -> Child:
        assert self._watch is not None
        ours, theirs = _CONTEXT.Pipe(duplex=True)
        process = _CONTEXT.Process(target=child.main, args=(theirs,))
        with _without_main():
            process.start()
        theirs.close()
        started = Child(process, ours, self._watch)
        self._children.append(started)
        return started

    def sweep(self, within_s: float = 1.0, *, keep: Sequence[Child] = ()) -> None:
        """End every process that is neither spare nor to be kept."""
        kept = [*self._spare, *keep]
        for each in self._children:
            if each not in kept:
                each.end(within_s)
        self._children = kept

    def close(self) -> None:
        """End everything that was started through it."""
        self._spare = []
        self.sweep(0.0)
        if self in _open_doors:
            _open_doors.remove(self)
            if not _open_doors:
                _end_fork_server()
        if self._watch is not None:
            if _open_doors:
                self._watch.forget(_fork_server_pid())  # others still need it
            self._watch.close()
            self._watch = None


def wait(connections: Sequence[wire.Connection], timeout_s: float) -> list[wire.Connection]:
    """Those that have something to be read, or are at their end, once there is one."""
    ready: list[wire.Connection] = multiprocess.connection.wait(connections, timeout_s)
    return ready


def _fork_server_pid() -> int:
    pid: int = multiprocess.forkserver._forkserver._forkserver_pid  # noqa: SLF001 - nothing else tells it
    return pid


def _is_zombie(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextlib.contextmanager
def _fork_server_orders(target: str, agent: str, status: Path) -> Iterator[None]:
    """Hand the import path and the target over: the fork server starts with neither."""
    before = {name: os.environ.get(name) for name in (child.ORDERS, "PYTHONPATH")}
    path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - "" is the folder we are in
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    os.environ[child.ORDERS] = json.dumps(
        {
            "target": target,
            "agent": agent,
            "status": str(status.absolute()),
            "log": str(status.with_name("import.log").absolute()),
            "path": path,
            "pythonpath": before["PYTHONPATH"] or "",
        }
    )
    multiprocess.forkserver.set_forkserver_preload(["leaserace.harness.processes.preload"])
    try:
        with _without_main():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Keep the library from importing the main script again in each process.

    It would run `leaserace` itself, or a test runner, with all they import.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _end_fork_server() -> None:
    """End the fork server and the library's resource tracker, which would stay until we end."""
    server = multiprocess.forkserver._forkserver  # noqa: SLF001 - it has no public end
    pid = server._forkserver_pid  # noqa: SLF001
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        server._stop()  # noqa: SLF001
    multiprocess.resource_tracker._resource_tracker._stop()  # noqa: SLF001
