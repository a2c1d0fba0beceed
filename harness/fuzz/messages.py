"""Messages as habits make them, the bad ones too."""

from __future__ import annotations

from dataclasses import replace

from ..contract import Endpoint, Message
from .steps import Habit

ASKED = "<question@customers.example.org>"
"""What a reply answers and a forward passes on."""


def made_by(habit: Habit, message: Message) -> Message:
    """The message as this habit makes it."""
    key = message.key or ""
    match habit:
        case Habit.DRIFTED:
            return replace(message, key=f"{key.upper()} ")
        case Habit.ANSWERED:
            return replace(message, endpoint=Endpoint.REPLY, refers_to=ASKED)
        case Habit.FORWARDED:
            return replace(message, endpoint=Endpoint.FORWARD, refers_to=ASKED)
        case Habit.NO_KEY:
            return replace(message, key=None)
        case Habit.BAD_KEY:
            return replace(message, key=f"{key}\x07")
        case Habit.NO_ADDRESS:
            return replace(message, to="nobody at example.com")
        case Habit.BAD_SUBJECT:
            return replace(message, subject=f"{message.subject}\nBcc: all@example.com")
        case Habit.COPIED:
            return replace(message, headers={"Cc": "all@example.com"})
        case Habit.NO_ONE_CLICK:
            return replace(message, headers={"List-Unsubscribe": "<mailto:stop@example.com>"})
        case _:
            return message


def reworded(message: Message, number: int) -> Message:
    """Another text, and so another logical send, under the same key (spec: K4)."""
    intent = f"{message.intent}-r{number}"
    return replace(message, intent=intent, body=f"Something else.\n\n[intent:{intent}]\n")


__all__ = ["made_by", "reworded"]
