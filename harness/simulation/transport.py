"""The simulated receiving side: what is handed over is delivered, and counted, at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..contract import NoAnswer, Outgoing, Rejected
from ..history import DeliveryEvent

if TYPE_CHECKING:
    from .world import World

_IN_BODY = re.compile(rb"\[intent:([^\]\s]+)\]")


class SimTransport:
    """A `leaserace.harness.contract.Transport` whose behaviour is a choice.

    Args:
        world: The run it belongs to.
    """

    POINT = "transport.hand_over"
    """Where an agent stands with a message in its hand."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.reset()

    def reset(self) -> None:
        """Accept everything, forget what arrived."""
        self.behaviour = "accept"
        self.arrived: list[DeliveryEvent] = []
        self._faults = 0

    def hand_over(self, outgoing: Outgoing) -> None:
        """Take a message, or not, as was chosen.

        Raises:
            NoAnswer: It was taken and nothing is said.
            Rejected: It was not taken.
        """
        world = self._world
        world.reached(self.POINT, (outgoing.recipient,))
        task = world.current
        if task is None:
            self._deliver(outgoing, replied=True)
            return
        if task.unwinding:
            raise NoAnswer("the agent is being taken down")
        task.stepped = True
        fate = task.fate or self.behaviour
        task.fate = ""
        if fate == "accept":
            self._deliver(outgoing, replied=True)
            return
        self._misbehave(fate, outgoing, task.id)

    def _misbehave(self, fate: str, outgoing: Outgoing, agent: str) -> None:
        world = self._world
        self._faults += 1
        fault = f"transport:{self._faults}"
        world.fault(agent, "transport", "begin", fault, self.POINT, behaviour=fate)
        if fate == "slow":
            world.sleep(world.settings.transport_timeout_s / 2)
        if fate != "refuse":
            self._deliver(outgoing, replied=fate == "slow")
        world.fault(agent, "transport", "end", fault, self.POINT, behaviour=fate)
        if fate == "refuse":
            raise Rejected("the receiving side refused the message")
        if fate == "silent":
            raise NoAnswer("the receiving side took the message and said nothing")

    def _deliver(self, outgoing: Outgoing, *, replied: bool) -> None:
        world = self._world
        event = DeliveryEvent(
            t=world.now_ns(),
            intent=outgoing.intent or _intent_in(outgoing.data),
            recipient=outgoing.recipient,
            message_id=outgoing.message_id,
            sender=outgoing.sender,
            replied=replied,
        )
        self.arrived.append(event)
        world.record(event)


def _intent_in(data: bytes) -> str:
    """The intent a message's body carries, or ""."""
    found = _IN_BODY.search(data)
    return found.group(1).decode("ascii", "replace") if found else ""
