"""Targets that do what the simulation can't control, each in one way."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from time import time as now

from leaserace.harness.contract import AgentContext, Lease, Refused
from leaserace.harness.points import point

from .toy import ToyMailbox, ToyTarget

_unseeded = random.Random()


class _Mailbox(ToyMailbox):
    def __init__(self, target: ToyTarget, agent: str, what: str) -> None:
        super().__init__(target, agent)
        self._what = what

    def acquire(self, address: str) -> Lease | Refused:
        WAYS[self._what]()
        return super().acquire(address)


def _thread() -> None:
    threading.Thread(target=int).start()


def _draw() -> None:
    for _ in range(_unseeded.randrange(3)):
        point("toy.drawn")


WAYS: dict[str, Callable[[], object]] = {
    "sleeps": lambda: time.sleep(0.01),
    "thread": _thread,
    "clock": now,
    "monotonic": time.monotonic,
    "datetime": lambda: datetime.now(UTC),
    "draws": _draw,
    "litters": lambda: [[each] for each in range(5_000)],
}


class EscapingTarget(ToyTarget):
    """A toy whose `acquire` first does something else.

    Args:
        what: One of `WAYS`.
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def connect(self, agent: AgentContext) -> ToyMailbox:
        return _Mailbox(self, agent.id, self._what)


littering = EscapingTarget("litters")
sleeping = EscapingTarget("sleeps")
drawing = EscapingTarget("draws")
