"""Named places in the protocol where an engine may listen; a no-op everywhere else.

`point` is the one hook faults are aimed at. It costs one comparison in production.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol


class Listener(Protocol):
    """What an engine installs to hear of points and of exclusive sections."""

    def reached(self, name: str, touches: tuple[str, ...]) -> None:
        """An agent stands at `name`; returning lets it go on.

        Args:
            name: The point's name, such as ``send.checked``.
            touches: What the step *after* this point reads or writes: recipient keys and
                idempotency keys. Empty means "may touch anything shared".
        """
        ...

    def enter(self, resource: str, deadline_s: float) -> bool:
        """Wait for the exclusive section `resource`; False if it was not had in time."""
        ...

    def leave(self, resource: str) -> None:
        """Give the exclusive section back."""
        ...


_listener: Listener | None = None


def listen(listener: Listener | None) -> None:
    """Install the engine's listener for this process, or take it away with None."""
    global _listener  # noqa: PLW0603 - one engine a process, by design
    _listener = listener


def point(name: str, *touches: str) -> None:
    """Tell the engine, if there is one, that the caller stands at `name`."""
    if _listener is not None:
        _listener.reached(name, touches)


class Section:
    """A mutual exclusion that an engine can schedule: a real lock when no engine listens.

    Args:
        resource: Its name, such as ``store``.
    """

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self._lock = threading.Lock()

    @contextmanager
    def held(self, deadline_s: float) -> Iterator[bool]:
        """Hold the section for the block; yields False if it was not had within `deadline_s`."""
        give_back = self.take(deadline_s)
        try:
            yield give_back is not None
        finally:
            if give_back is not None:
                give_back()

    def take(self, deadline_s: float) -> Callable[[], None] | None:
        """Hold the section from now on; returns what gives it back, or None if it was not had.

        For code that can't afford a generator; elsewhere `held`.
        """
        listener = _listener
        if listener is None:
            return self._lock.release if self._lock.acquire(timeout=deadline_s) else None
        if listener.enter(self._resource, deadline_s):
            return partial(listener.leave, self._resource)
        return None
