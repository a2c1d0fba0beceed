"""Carries out tasks in this process, or in a few of its own that end with it.

A worker is a plain program that is asked in JSON over a pipe. It ends when the pipe does, so nothing is
left behind whatever ends the parent; nothing that passes is unpickled.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import IO

from ..contract import UsageError
from .tasks import Done, Task, carry_out, decode_done, encode


class WorkerFailed(RuntimeError):  # noqa: N818 - the name says what it is
    """A worker met a fault of ours, or was killed."""


class Pool:
    """Workers.

    Args:
        jobs: How many; 1 for this process alone.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._workers: list[subprocess.Popen[bytes]] = []
        self._free: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()

    def __enter__(self) -> Pool:
        for _ in range(self._jobs if self._jobs > 1 else 0):
            worker = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", f"{__package__}.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._workers.append(worker)
            self._free.put(worker)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            if kind is not None:
                worker.kill()
            with contextlib.suppress(OSError):
                _pipe(worker.stdin).close()
            worker.wait()
            _pipe(worker.stdout).close()

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Carry out tasks; their answers come in their order.

        Raises:
            UsageError: The first mistake of the user's.
            WorkerFailed: The first of ours.
        """
        if not self._workers:
            yield from (_checked(carry_out(task)) for task in tasks)
            return
        with ThreadPoolExecutor(len(self._workers)) as threads:
            futures = [threads.submit(self._ask, task) for task in tasks]
            try:
                for future in futures:
                    yield _checked(future.result())
            except BaseException:
                for worker in self._workers:
                    worker.kill()
                threads.shutdown(cancel_futures=True)
                raise

    def _ask(self, task: Task) -> Done:
        worker = self._free.get()
        try:
            pipe = _pipe(worker.stdin)
            pipe.write(encode(task) + b"\n")
            pipe.flush()
            answer = _pipe(worker.stdout).readline()
        except OSError:
            answer = b""
        finally:
            self._free.put(worker)
        return decode_done(answer) if answer else Done(failed="a worker ended before its work")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _checked(done: Done) -> Done:
    if done.usage:
        raise UsageError(done.usage)
    if done.failed:
        raise WorkerFailed(done.failed)
    return done


def jobs_for(work_bytes: int) -> int:
    """How many workers are worth their start: one for each 64 MB, as far as there are processors."""
    with contextlib.suppress(AttributeError):
        return max(1, min(len(os.sched_getaffinity(0)), 4, work_bytes // (64 << 20)))
    return max(1, min(os.cpu_count() or 1, 4, work_bytes // (64 << 20)))


__all__ = ["Pool", "WorkerFailed", "jobs_for"]
