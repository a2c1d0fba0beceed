"""Scenarios made on the spot, for tests of the engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from leaserace.harness import Capability, Lease, Race, Settings, Variant
from leaserace.harness.contract import Answer, Message
from leaserace.harness.engine import RaceRun
from leaserace.harness.history import FaultEvent, MarkEvent
from leaserace.harness.processes.engine import ProcessEngine
from leaserace.harness.scenario import Scenario, Seat

ENDED_WITHIN_S = 2.0
"""What no process may outlive its run by."""
PLAIN = Variant(name="plain")


def race_of(
    script: Callable[[Race], None], *, settings: Settings | None = None, rounds: int = 1
) -> Scenario:
    """A scenario of one plain variant."""
    return Scenario(
        id=script.__name__.strip("_"),
        number=9,
        title="made for a test",
        spec=(),
        expected="whatever the test says",
        needs=frozenset[Capability](),
        settings=settings or Settings(),
        variants=(PLAIN,),
        rounds=rounds,
        windows=(),
        masked_by="",
        script=script,
        group="own",
    )


def run(
    engine: ProcessEngine,
    script: Callable[[Race], None],
    *,
    agents: int = 2,
    settings: Settings | None = None,
    rounds: int = 1,
) -> RaceRun:
    """Run a script as a race."""
    scenario = race_of(script, settings=settings, rounds=rounds)
    return engine.run(scenario, PLAIN, agents=agents)


def leased(answer: Answer) -> Lease:
    """The lease, where nothing else may be."""
    assert isinstance(answer, Lease), answer
    return answer


def faults(run_: RaceRun, kind: str) -> list[FaultEvent]:
    """Both instants of every fault of a kind."""
    return [each for each in run_.history if isinstance(each, FaultEvent) and each.fault == kind]


def marks(run_: RaceRun, name: str) -> list[MarkEvent]:
    """Marks of a name."""
    return [each for each in run_.history if isinstance(each, MarkEvent) and each.name == name]


def claim_again_and_again(seat: Seat, play: Mapping[str, Any]) -> None:
    """A playbook: claim and release the same contact while there is time."""
    while seat.running():
        answer = seat.call("acquire", play["contact"], address=play["address"])
        if isinstance(answer, Lease):
            seat.call("release", play["contact"], address=play["address"], token=answer.token)
        seat.wait_s(0.001)


def send_one(seat: Seat, play: Mapping[str, Any]) -> None:
    """A playbook: send one message of its own."""
    message = Message(
        to=play["address"], subject="s", body="b", key=f"k-{seat.id}", intent=f"i-{seat.id}"
    )
    seat.call("send", play["contact"], message=message)


def play_badly(seat: Seat, play: Mapping[str, Any]) -> None:
    """A playbook that raises."""
    raise LookupError("no such page")


def files_of(run_dir: Path) -> list[Path]:
    """All event files of a run."""
    return sorted(run_dir.glob("races/*/events/*.jsonl"))


def is_running(pid: int) -> bool:
    """Whether a process lives; one that ended and was not waited for does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def ended_afterwards() -> Iterator[None]:
    """Every process that the block starts has ended when it ends."""
    before = _family()
    yield
    deadline = time.monotonic() + ENDED_WITHIN_S
    while left := _family() - before:
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def _family() -> set[psutil.Process]:
    family = psutil.Process().children(recursive=True)
    return {each for each in family if is_running(each.pid)}
