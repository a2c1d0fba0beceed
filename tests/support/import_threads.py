"""A target's module that starts a thread when imported; its calls are served by that thread."""

from __future__ import annotations

import queue
import threading

from leaserace.harness import AgentContext, Lease, Refused
from tests.support.process_targets import Toy, ToyMailbox

_asked: queue.Queue[int] = queue.Queue()
_answered: queue.Queue[int] = queue.Queue()


def _serve() -> None:
    while True:
        _answered.put(_asked.get())


threading.Thread(target=_serve, daemon=True).start()


class Served(Toy):
    def connect(self, agent: AgentContext) -> ToyMailbox:
        return _Served(agent)


class _Served(ToyMailbox):
    def acquire(self, address: str) -> Lease | Refused:
        _asked.put(1)
        _answered.get()
        return super().acquire(address)
