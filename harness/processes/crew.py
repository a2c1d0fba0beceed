"""All agents of a race, heard with one ear.

The coordinator has one thread. Whatever it waits for, it hears all agents meanwhile, so that an agent
that reaches an armed point is stopped at once whoever is being waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..clocks import monotonic_ns
from ..contract import Answer, Lease, UsageError
from . import door
from .deadlines import Deadlines, RaceAborted
from .ledger import Ledger

if TYPE_CHECKING:
    from .actors import ProcessActor


class Crew:
    """All agents of a race, and the ear that hears them.

    Args:
        doorway: Where processes come from.
        ledger: Where marks, faults and problems go.
        deadlines: How long things may take.
    """

    def __init__(self, doorway: door.Door, ledger: Ledger, deadlines: Deadlines) -> None:
        self.door = doorway
        self.ledger = ledger
        self.deadlines = deadlines
        self.actors: list[ProcessActor] = []
        self.acknowledged: set[str] = set()
        """Intents a target said it sent, now."""
        self.store_ahead_ns: int | None = None
        """The store's clock is at least so far ahead of the monotonic one, by the leases seen."""

    def wait_for(self, fact: Callable[[], bool], within_s: float) -> bool:
        """Hear the agents until `fact` holds; False if it did not in time."""
        deadline = time.monotonic() + within_s
        while not fact():
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return False
            self.hear(left_s)
        return True

    def hear(self, timeout_s: float) -> None:
        """Hear what agents have to say, waiting for it no longer than `timeout_s`."""
        up = {actor.connection: actor for actor in self.actors if actor.is_up}
        if not up:
            time.sleep(min(timeout_s, 0.005))
            return
        for connection in door.wait(list(up), timeout_s):
            if up[connection].is_up:
                up[connection].hear()

    def launch(self, *actors: ProcessActor) -> None:
        """Start agents at the same time and wait until all have connected.

        Raises:
            UsageError: The target raised in `connect`.
            RaceAborted: It hung there, or died.
        """
        self.actors.extend(actor for actor in actors if actor not in self.actors)
        for actor in actors:
            actor.launch()
        for actor in actors:
            actor.await_ready()

    def launch_later(self, actor: ProcessActor) -> None:
        """Start an agent in mid-race: a target that connected before and raises now is no usage.

        Raises:
            RaceAborted: It could not connect.
        """
        try:
            self.launch(actor)
        except UsageError as error:
            self.ledger.problem(str(error))
            raise RaceAborted(str(error)) from error

    def settle(self) -> None:
        """Bring all agents between calls: nothing armed, nobody stopped, nobody dead."""
        for actor in self.actors:
            actor.release_stops()
        for actor in self.actors:
            actor.finish_calls()
        down = [actor for actor in self.actors if not actor.is_up]
        for actor in down:
            actor.restart()

    def note(self, answer: Answer) -> None:
        """Learn from a lease's answer how late it is at least by the store's clock (spec: L5)."""
        if isinstance(answer, Lease):
            at_ms = answer.granted_at_ms or answer.acquired_at_ms
            ahead_ns = at_ms * 1_000_000 - monotonic_ns()
            known_ns = self.store_ahead_ns
            self.store_ahead_ns = ahead_ns if known_ns is None else max(known_ns, ahead_ns)

    def kill_busy(self) -> None:
        """Kill whoever is not between calls, in a race that is cut off anyway."""
        for actor in self.actors:
            if actor.is_up and (actor.is_busy or not actor.is_ready):
                actor.end_process()

    def end(self, within_s: float) -> None:
        """Bring every agent to its orderly end, or kill it."""
        deadline = time.monotonic() + within_s
        for actor in self.actors:
            actor.tell_to_end()
        for actor in self.actors:
            actor.await_end(max(0.0, deadline - time.monotonic()), within_s)
