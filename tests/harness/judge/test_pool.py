"""Workers: they answer in order, tell mistakes apart from faults, and end with their parent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from leaserace.harness.contract import UsageError
from leaserace.harness.judge.lines import WHOLE
from leaserace.harness.judge.pool import Pool, WorkerFailed
from leaserace.harness.judge.tasks import Scan

from .logs import GOOD, mapping, row, write


def scan(log: Path, folder: Path) -> Scan:
    """A task that reads a log."""
    return Scan(log=str(log), mapping=mapping(), span=WHOLE, folder=str(folder), shards=2)


@pytest.mark.process
def test_answers_come_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    logs = [
        write(tmp_path / f"{n}.jsonl", *(row(n, "granted", "a", token=1) for _ in range(n + 1)))
        for n in range(8)
    ]

    with Pool(2) as pool:
        done = list(pool.run([scan(log, tmp_path / log.stem) for log in logs]))

    assert [each.scanned.seen.rows for each in done if each.scanned] == list(range(1, 9))


@pytest.mark.process
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_mistake_of_the_users_in_a_worker_is_one(jobs: int, tmp_path: Path) -> None:
    with Pool(jobs) as pool, pytest.raises(UsageError, match="no-such"):
        list(pool.run([scan(tmp_path / "no-such", tmp_path / "x")]))


@pytest.mark.process
def test_a_worker_that_is_killed_is_a_fault_and_leaves_nobody_behind(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", *GOOD)
    mine = psutil.Process()
    with Pool(2) as pool:
        for worker in pool._workers:
            worker.kill()
            worker.wait()
        with pytest.raises(WorkerFailed, match="ended before its work"):
            list(pool.run([scan(log, tmp_path / "x")]))

    assert not [child for child in mine.children() if "worker" in " ".join(child.cmdline())]


@pytest.mark.process
def test_a_worker_ends_when_nobody_asks_it_any_more() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "leaserace.harness.judge.worker"],
        input=b"",
        capture_output=True,
        timeout=60,
        check=True,
    )

    assert done.stdout == b""
