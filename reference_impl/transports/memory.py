"""A transport that keeps what it is handed: for tests and examples."""

from __future__ import annotations

from leaserace.harness.contract import NoAnswer, Outgoing, Rejected


class MemoryTransport:
    """Takes messages into a list.

    Attributes:
        taken: What it took, in order.
        behaviour: ``accept``; ``silent`` takes the message and does not answer; ``refuse``.
    """

    def __init__(self) -> None:
        self.taken: list[Outgoing] = []
        self.behaviour = "accept"

    def hand_over(self, outgoing: Outgoing) -> None:
        """Take one message.

        Raises:
            Rejected: It was told to refuse.
            NoAnswer: It took the message and was told not to answer.
        """
        if self.behaviour == "refuse":
            raise Rejected("550 told to refuse")
        self.taken.append(outgoing)
        if self.behaviour == "silent":
            raise NoAnswer("told not to answer")
