"""Processes of our own that do jobs told as JSON: slices of an exploration, exhaustive searches.

What a worker is given and what it gives back is JSON text, one line each. It ends with its parent.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ..contract import UsageError
from .explore import Nondeterministic
from .fence import Escaped

Check = Callable[[], None]
"""What a job calls now and then: it raises `SystemExit` where going on is of no use."""
JOBS: Mapping[str, str] = {"slice": "workers:run_slice", "search": "exhaust:run_search"}
"""Name of a job to the function that does it: it takes the order and a `Check`, and returns JSON."""


def remaining_s(seconds: float | None, begun: float) -> float | None:
    """Seconds that are left of so many since `begun`, or None if there is no limit.

    Args:
        seconds: The limit, or None.
        begun: What `time.perf_counter` said then.
    """
    return None if seconds is None else seconds - (time.perf_counter() - begun)


@contextmanager
def pool(workers: int) -> Iterator[concurrent.futures.Executor]:
    """Processes of our own, each with a thread that hands it jobs; they end with the block."""
    processes: list[subprocess.Popen[str]] = []
    mine = threading.local()

    def start() -> None:
        mine.process = _start_worker()
        processes.append(mine.process)

    def run(order: str) -> str:
        return _answer_of(mine.process, order)

    with concurrent.futures.ThreadPoolExecutor(workers, initializer=start) as threads:
        executor = _Through(threads, run)
        try:
            yield executor
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
            for process in processes:
                process.communicate()


class _Through(concurrent.futures.Executor):
    """Runs every order through a worker, whatever function it was submitted with."""

    def __init__(
        self, threads: concurrent.futures.ThreadPoolExecutor, run: Callable[[str], str]
    ) -> None:
        self._threads = threads
        self._run = run

    def submit(self, _: Any, /, *args: Any, **options: Any) -> concurrent.futures.Future[Any]:
        """Hand one order to a worker that is free."""
        return self._threads.submit(self._run, *args, **options)


def _start_worker() -> subprocess.Popen[str]:
    serve_ = "from leaserace.harness.simulation.pool import serve; serve()"
    return subprocess.Popen(  # noqa: S603 - this very interpreter
        [sys.executable, "-c", serve_],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _answer_of(process: subprocess.Popen[str], order: str) -> str:
    """What the worker says; its errors are raised here.

    Raises:
        RuntimeError: It died.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{order}\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except OSError:
        line = ""
    if not line:
        raise RuntimeError(f"a worker of the exploration died (status {process.poll()})")
    answer = json.loads(line)
    if "error" in answer:
        raise _ERRORS.get(answer["error"], RuntimeError)(answer["message"])
    return str(answer["found"])


_ERRORS: dict[str, type[Exception]] = {
    each.__name__: each for each in (Nondeterministic, Escaped, UsageError)
}


def serve() -> None:
    """Do the jobs that stand on stdin, one a line, until there are no more; a worker's own loop."""
    out = sys.stdout
    sys.stdout = sys.stderr  # what a target prints is no answer
    parent = os.getppid()

    def check() -> None:
        if os.getppid() != parent:
            raise SystemExit

    with contextlib.suppress(KeyboardInterrupt):
        for order in sys.stdin:
            try:
                answer = {"found": _do(order, check)}
            except Exception as error:  # noqa: BLE001 - it is raised where the order came from
                answer = {"error": type(error).__name__, "message": str(error)}
            out.write(json.dumps(answer) + "\n")
            out.flush()


def _do(order: str, check: Check) -> str:
    module, _, name = JOBS[json.loads(order)["job"]].partition(":")
    job: Callable[[str, Check], str] = getattr(import_module(f".{module}", __package__), name)
    return job(order, check)


__all__ = ["Check", "pool", "remaining_s", "serve"]
