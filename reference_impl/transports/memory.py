"""A transport that keeps what it is handed: for tests and examples."""

from __future__ import annotations

from leaserace.harness.contract import NoAnswer, Outgoing, Rejected


class MemoryTransport:
    """Takes messages into a list.

    Attributes:
        taken: What it took, in order.
        behaviour: ``accept``; ``silent`` takes the message and does not answer; ``lose`` does not
            answer and takes nothing; ``refuse``.
        searchable: Whether it tells what it took.
    """

    def __init__(self) -> None:
        self.taken: list[Outgoing] = []
        self.behaviour = "accept"
        self.searchable = False

    def hand_over(self, outgoing: Outgoing) -> None:
        """Take one message.

        Raises:
            Rejected: It was told to refuse.
            NoAnswer: It was told not to answer, whether it took the message or not.
        """
        if self.behaviour == "refuse":
            raise Rejected("550 told to refuse")
        if self.behaviour == "lose":
            raise NoAnswer("told to lose it")
        self.taken.append(outgoing)
        if self.behaviour == "silent":
            raise NoAnswer("told not to answer")

    def find(self, message_id: str) -> bool | None:
        """Whether it took a message of this id; None if it is not to tell."""
        if not self.searchable:
            return None
        return any(outgoing.message_id == message_id for outgoing in self.taken)
