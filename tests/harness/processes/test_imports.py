"""What is wrong before any race: the target's import, the port, the folder, the system."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from leaserace.harness import Lease, Race, Refused, UsageError
from leaserace.harness.processes.deadlines import Deadlines
from leaserace.harness.processes.engine import ProcessEngine
from tests.support.races import ended_afterwards, run

pytestmark = pytest.mark.process
MODULE = "tests.support.process_targets"


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("nowhere:Toy", "target 'nowhere:Toy': importing 'nowhere' failed: ModuleNotFoundError"),
        ("Toy", "no target is called 'Toy'"),
        (f"{MODULE}:Absent", "has no 'Absent'"),
        (f"{MODULE}:TABLES", "must be a leaserace.harness.Target"),
        ("tests.support.import_raises:Toy", "RuntimeError: no licence file"),
        ("tests.support.import_exits:Toy", "importing it ended the process"),
        (f"{MODULE}:NoSuchCapability", "capability 'telepathy' does not exist; there are aliases"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_named_in_one_line(
    target: str, line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ended_afterwards(), pytest.raises(UsageError) as caught, ProcessEngine(target, tmp_path):
        pass
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_an_import_that_hangs_is_cut_off(tmp_path: Path) -> None:
    short = Deadlines(import_s=0.3)
    with (
        ended_afterwards(),
        pytest.raises(UsageError, match=r"importing it did not end within 0\.3 s"),
        ProcessEngine("tests.support.import_hangs:Toy", tmp_path, deadlines=short),
    ):
        pass


def test_a_target_that_starts_a_thread_when_imported_has_it_in_every_process(
    tmp_path: Path,
) -> None:
    """A fork would leave the thread behind, and the first call would hang."""

    def claim(race: Race) -> None:
        contact = race.contact()
        assert isinstance(race.agents[0].acquire(contact), Lease)
        assert isinstance(race.agents[1].acquire(contact), Refused)

    with (
        ended_afterwards(),
        ProcessEngine("tests.support.import_threads:Served", tmp_path) as engine,
    ):
        assert run(engine, claim).problems == ()


def test_a_runs_folder_may_be_used_again(tmp_path: Path) -> None:
    """What an earlier fork server said of its target does not count."""
    with pytest.raises(UsageError), ProcessEngine("nowhere:Toy", tmp_path):
        pass
    with ProcessEngine(f"{MODULE}:Toy", tmp_path) as engine:
        assert engine.target.name == f"{MODULE}:Toy"
    with pytest.raises(UsageError), ProcessEngine("nowhere:Toy", tmp_path):
        pass


def test_a_busy_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            ended_afterwards(),
            pytest.raises(UsageError, match=f"127.0.0.1:{port}: Address already in use; choose"),
            ProcessEngine(f"{MODULE}:Toy", tmp_path, smtp_port=port),
        ):
            pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        ended_afterwards(),
        pytest.raises(UsageError, match="file/run can't be used"),
        ProcessEngine(f"{MODULE}:Toy", tmp_path / "file" / "run"),
    ):
        pass
