"""What stands in front of the mailbox in an agent's own code, for races about layers (spec: O1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaserace.harness.contract import Answer, Message, Sent
from leaserace.harness.playbooks import sales_follow_up
from leaserace.harness.scenario import Contact, Race, Seat


class OwnSeat:
    """A seat whose agent has a table of what it sent, or hears nothing of its first send.

    Args:
        seat: The agent's own.
        has_table: Ask the table before each send, and write it after (spec: O1, O3).
        loses_first: The reply to the first send is lost.
    """

    def __init__(self, seat: Seat, *, has_table: bool, loses_first: bool) -> None:
        self._seat = seat
        self._has_table = has_table
        self._loses_first = loses_first

    def __getattr__(self, name: str) -> Any:
        """Whatever else a seat has."""
        return getattr(self._seat, name)

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        """One call, unless the table says that its message was sent."""
        message = args.get("message")
        if not isinstance(message, Message):
            return self._seat.call(f, contact, **args)
        known = self._seat.kept.get(_row(message)) if self._has_table else None
        if known is not None:
            return Sent(message_id=known, replay=True)
        if self._loses_first:
            self._loses_first = False
            self._seat.lose_next_reply()
        answer = self._seat.call(f, contact, **args)
        if self._has_table and isinstance(answer, Sent):
            self._seat.kept[_row(message)] = answer.message_id
        return answer


def follow_up(seat: Seat, args: Mapping[str, Any]) -> None:
    """A follow-up by an agent with a habit; ``table`` and ``loses`` say what `OwnSeat` does."""
    own: Any = OwnSeat(seat, has_table=args["table"], loses_first=args["loses"])
    sales_follow_up(own, args)


def task(
    race: Race, contact: Contact, habit: str, *, table: bool = False, loses: bool = False
) -> dict[str, Any]:
    """The JSON of one task: whoever is given it again sends the same message again."""
    return {
        "contact": contact.name,
        "address": contact.address,
        "run": f"{race.round}-{contact.name}",
        "habit": habit,
        "table": table,
        "loses": loses,
    }


def _row(message: Message) -> str:
    """A row is named by the logical send, which has neither key nor run in it."""
    return f"sent {message.intent}"
