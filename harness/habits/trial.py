"""Agents with habits on their own: errand after errand, with lost replies on the way.

Contention rounds play it, on both engines. Most habits show only when something goes wrong, so replies
to sends are lost here, by the agent's own draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from ..contract import Answer, Capability, Message, NoReply
from ..playbooks import Errand, errand_of
from ..scenario import Seat

LOSSES = 0.4
"""Share of the sends whose reply is lost."""
WAIT_S = 0.002
"""How long a conflict is waited for; short, so that agents go on meeting."""
WORK_S_MAX = 0.004
"""Longest time a lease is worked under before a send."""
REST_S_MAX = 0.01
"""Longest time between two errands."""

NEEDS: Mapping[str, Capability] = {
    "acquire": Capability.LEASE,
    "renew": Capability.LEASE,
    "release": Capability.LEASE,
    "send": Capability.SEND,
    "lookup": Capability.LOOKUP,
    "suppress": Capability.SUPPRESS,
}
"""What an errand calls, and what a target must be able to do for it."""


class TroubledSeat:
    """A seat some of whose sends get no reply; what the target can't do is not called.

    Args:
        seat: The agent's own.
        losses: Share of the sends whose reply is lost.
        can: Capabilities of the target.
    """

    def __init__(self, seat: Seat, *, losses: float, can: frozenset[str]) -> None:
        self._seat = seat
        self._losses = losses
        self._can = can

    def __getattr__(self, name: str) -> Any:
        """Whatever else a seat has."""
        return getattr(self._seat, name)

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        """One recorded call."""
        if NEEDS[f] not in self._can:
            return NoReply(why=f"the target does not declare {NEEDS[f]}")
        if isinstance(args.get("message"), Message):
            self._seat.wait_s(self._seat.rng.uniform(0.0, WORK_S_MAX))
            if self._seat.rng.random() < self._losses:
                self._seat.lose_next_reply()
        return self._seat.call(f, contact, **args)


def trial(seat: Seat, args: Mapping[str, Any]) -> None:
    """Errand after errand, with the contacts in turn; after a restart the same ones again.

    ``contacts`` are pairs of name and address, ``habit`` is the agent's, ``can`` what the target can
    do. ``steps`` is how many errands there are; without it they go on until the time is up.
    ``losses`` is the share of the sends whose reply is lost.
    """
    can, losses = frozenset(args["can"]), args.get("losses", LOSSES)
    troubled: Any = TroubledSeat(seat, losses=losses, can=can)
    contacts = args["contacts"]
    for number in range(args["steps"]) if "steps" in args else count():
        if not seat.running():
            break
        name, address = contacts[number % len(contacts)]
        own = {"contact": name, "address": address, "wait_s": WAIT_S, **args}
        errand_of(troubled, own).perform(_step(number + 1))
        seat.wait_s(seat.rng.uniform(0.0, REST_S_MAX))


def _step(number: int) -> Callable[[Errand], bool]:
    return lambda errand: errand.write(f"step-{number}")
