"""What a matrix needs of an implementation: its mailbox with layers off, and an application's records.

A package offers both under the entry point group ``leaserace.layers``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar

from ..clocks import StoreClock
from ..contract import Message, Refused, Sent, Target, UsageError

GROUP = "leaserace.layers"
REFERENCE = "reference"
Result = TypeVar("Result")


class Sends(Protocol):
    """Whatever a message can be given to."""

    def send(self, message: Message) -> Sent | Refused:
        """Send it, or say why not."""
        ...


class SentTable(Protocol):
    """Layer two: what was sent, by the name of the logical send (spec: O1, O3)."""

    def send(self, mailbox: Sends, message: Message, logical: str) -> Sent | Refused:
        """Send unless the table says it was sent."""
        ...


class Run(Protocol):
    """Layer three: one run of an agent, its finished steps kept (spec: O1, O2)."""

    def step(self, name: str, action: Callable[[], Result], kind: Any) -> Result:
        """The result of a step: of its first finish, whenever that was."""
        ...

    def send(self, name: str, mailbox: Sends, message: Message) -> Sent | Refused:
        """A step that sends, finished once the message was sent."""
        ...


class Application(Protocol):
    """An application's own records; they outlive its processes."""

    @property
    def table(self) -> SentTable: ...

    def run(self, run_id: str) -> Run:
        """The run of this id, as it stands."""
        ...


class Parts(Protocol):
    """What the entry point names."""

    def target(self, *, key: bool, lease: bool) -> Target:
        """The mailbox with these of its layers; what is off does nothing, the rest is as ever."""
        ...

    def application(self, clock: StoreClock) -> Application:
        """An application that has sent nothing yet."""
        ...


def load_parts(name: str = REFERENCE) -> Parts:
    """What is registered under this name.

    Raises:
        UsageError: Nothing is.
    """
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in found:
        names = ", ".join(sorted(found)) or "none; install leaserace with its reference"
        raise UsageError(f"layers: nothing is called {name!r}; there are {names}")
    parts: Parts = found[name].load()
    return parts
