"""What must not happen inside the simulation: blocking, sleeping, threads, the machine's clock.

Two nets. While simulated agents run, a few functions of the standard library are replaced by ones
that raise; that costs nothing until they are called. And a sample of runs is profiled: every call of a
built-in function is looked at, so that ``from time import time`` and ``datetime.now`` are seen too.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..contract import UsageError

if TYPE_CHECKING:
    from .world import World

_OURS = ("leaserace.harness.",)
_CLOCKS = frozenset({"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "localtime"})
_NAMED: dict[Any, str] = {
    time.sleep: "sleeps (time.sleep)",
    select.select: "waits for input (select.select)",
    os.fork: "starts a process (os.fork)",
    **{getattr(time, name): f"reads the machine's clock (time.{name})" for name in _CLOCKS},
}
_DATES = frozenset({"now", "utcnow", "today"})
_SOCKET = frozenset({"connect", "accept", "recv"})


class Escaped(UsageError):  # noqa: N818 - it is what happened
    """The target did something the simulation can't control; the message names what and where."""


class _Escape(BaseException):
    """Raised inside an agent, where no target may swallow it."""


class Fence:
    """Watches runs for what escapes."""

    def __init__(self) -> None:
        self._world: World | None = None

    @contextlib.contextmanager
    def watching(self, world: World, closely: bool) -> Iterator[None]:  # noqa: FBT001
        """Watch one run.

        Args:
            world: The run.
            closely: Look at every call of a built-in function.

        Raises:
            Escaped: Something got out.
        """
        self._world = world
        closely = closely and sys.getprofile() is None
        with _no_garbage_collected() if closely else contextlib.nullcontext():
            if closely:
                sys.setprofile(self._look)
            try:
                yield
            except _Escape as error:
                raise Escaped(str(error)) from None
            finally:
                if closely:
                    sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "c_call" or self._world is None or self._world.current is None:
            return
        what = _name_of(argument)
        if what and not _is_ours(frame):
            sys.setprofile(None)
            raise _Escape(_sentence(what, frame))


@contextlib.contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Whoever is called back when garbage is collected may read the clock, and is no part of the target."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def patched(world: World) -> Iterator[None]:
    """Replace what blocks or starts threads while `world` runs, for agents only."""

    def guarded(original: Callable[..., Any], what: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if world.current is not None:
                raise _Escape(_sentence(what, sys._getframe(1)))  # noqa: SLF001
            return original(*args, **options)

        return call

    places: list[tuple[Any, str, str]] = [
        (time, "sleep", "sleeps (time.sleep)"),
        (threading.Thread, "start", "starts a thread (threading.Thread.start)"),
        (socket.socket, "connect", "opens a connection (socket.connect)"),
        (os, "fork", "starts a process (os.fork)"),
    ]
    kept = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in places]
    for owner, name, what in places:
        setattr(owner, name, guarded(getattr(owner, name), what))
    try:
        yield
    except _Escape as error:
        raise Escaped(str(error)) from None
    finally:
        for owner, name, original in kept:
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _name_of(function: Any) -> str | None:
    try:
        named = _NAMED.get(function)
    except TypeError:
        return None
    if named:
        return named
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, type) and issubclass(owner, dt.date) and name in _DATES:
        return f"reads the machine's clock ({owner.__name__}.{name})"
    if name in _SOCKET and isinstance(owner, socket.socket):
        return f"uses a socket (socket.{name})"
    if name == "start_new_thread":
        return "starts a thread"
    return None


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_OURS)


def _sentence(what: str, frame: FrameType) -> str:
    place: FrameType | None = frame
    while place is not None and place.f_globals.get("__name__", "") in _LIBRARY:
        place = place.f_back
    code = (place or frame).f_code
    line = (place or frame).f_lineno
    return (
        f"the target {what} inside the simulation, in {code.co_qualname} ({code.co_filename}:{line}); "
        "take the time from the environment's clock and let nothing wait, or run it on real processes"
    )


_LIBRARY = frozenset({"threading", "socket", "subprocess", "ssl", "smtplib"})
