"""What goes wrong with one logical send: one piece of trouble each, drawn evenly.

One at a time, since each layer is there for one: two at once may pass several (a lost reply leaves the
sent-table empty, and a day later the window of the key has closed).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..simulation.transport import SimTransport
from .desk import ANSWERED, ASKED, NOTED


class Work(StrEnum):
    """What the agent is to do."""

    FOLLOW_UP = "sales"
    """A commercial message, under the cooldown."""
    REPLY = "support"
    """A transactional one, which skips it (spec: C2)."""


class Kind(StrEnum):
    """What happens."""

    LOST = "reply lost"
    """The mailbox did it, and the agent never hears so."""
    SILENT = "receiver silent"
    """The receiving side took the message and said nothing to the mailbox."""
    CRASH = "crash"
    """The agent's process dies somewhere in its send and is started again."""
    TWICE = "task handed out twice"
    """A second worker of the same agent gets the same task."""
    NOTHING = "nothing"
    """Nothing at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What goes wrong in one run.

    Args:
        kind: What happens.
        work: To what.
        point: Where the process dies, or where the first worker stands when the second begins; "" for
            a second worker that begins when the first is done.
        later_ms: How long after that, by the store's clock.
    """

    kind: Kind
    work: Work
    point: str = ""
    later_ms: int = 0


CRASHES = (
    "send.think",
    ASKED,
    "send.recorded",
    SimTransport.POINT,
    "send.handed_over",
    "send.settled",
    ANSWERED,
    NOTED,
    "send.returned",
)
"""Where a process dies: before it asks, on its way through the mailbox, and behind each layer."""
STARTS = ("acquire.returned", ASKED, "send.dispatching", "send.settled", ANSWERED, "", "", "")
"""Where the first worker stands when the second begins; three times out of eight it is done by then."""
LATER_S = (1, 30, 90, 600, 3600)
PLACES: Mapping[Kind, Sequence[str]] = {Kind.CRASH: CRASHES, Kind.TWICE: STARTS}
KINDS = (Kind.LOST, Kind.SILENT, Kind.CRASH, Kind.TWICE)


def troubles(count: int, kinds: Sequence[Kind], seed: int) -> list[Trouble]:
    """One trouble for each of `count` tasks: kinds, places and tasks in turn, delays drawn.

    Args:
        count: How many.
        kinds: What may happen.
        seed: Of the delays.
    """
    rng = random.Random(f"layers:{seed}")
    return [_trouble(kinds[n % len(kinds)], n // len(kinds), rng) for n in range(count)]


def _trouble(kind: Kind, turn: int, rng: random.Random) -> Trouble:
    places = PLACES.get(kind, ("",))
    lap, place = divmod(turn, len(places))
    later_ms = 1000 * rng.choice(LATER_S)
    return Trouble(
        kind=kind,
        work=tuple(Work)[(place + lap) % len(Work)],
        point=places[place],
        later_ms=later_ms,
    )
