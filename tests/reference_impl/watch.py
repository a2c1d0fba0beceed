"""Listeners for tests: who records the points passed, and who does something at one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Watch:
    """Records every point; at the first one named `at` it does something, once.

    Args:
        at: Name of the point.
        then: What to do there.
    """

    def __init__(self, at: str = "", then: Callable[[], object] = lambda: None) -> None:
        self.passed: list[str] = []
        self.touches: list[tuple[str, ...]] = []
        self._at = at
        self._then = then
        self._locks: dict[str, threading.Lock] = {}

    def reached(self, name: str, touches: tuple[str, ...]) -> None:
        self.passed.append(name)
        self.touches.append(touches)
        if name == self._at:
            self._at = ""
            self._then()

    def enter(self, resource: str, deadline_s: float) -> bool:
        return self._locks.setdefault(resource, threading.Lock()).acquire(timeout=deadline_s)

    def leave(self, resource: str) -> None:
        self._locks[resource].release()


def in_thread(action: Callable[[], object]) -> object:
    """Do it in another thread, as another worker would, and return what came of it."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(action()))
    thread.start()
    thread.join()
    return found[0]


class Crash(BaseException):
    """The worker dies here; nothing of it may be caught."""


def crash() -> None:
    raise Crash
