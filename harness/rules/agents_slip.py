"""A slip: one act of an agent under test that the action table of spec R does not allow (spec: A1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..contract import Capability
from ..history import Operation
from .agents_case import Case
from .agents_draft import Draft
from .agents_seen import Process, Seen
from .ledger import Ledger
from .people import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """What an agent did wrong.

    Args:
        what: One sentence, without the agent's name at its beginning.
        ops: The operations that show it, in order.
        habit: The habit it belongs to, or "" (spec: A3).
    """

    what: str
    ops: tuple[Operation, ...]
    habit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One call of an agent under test, at its begin or its end, with what its process knows.

    Args:
        view: The call.
        draft: What it sends, or None.
        seen: What all processes know.
        ledger: What the history has told.
        capabilities: What the mailbox can do.
    """

    view: View
    draft: Draft | None
    seen: Seen
    ledger: Ledger
    capabilities: frozenset[Capability]

    @property
    def op(self) -> Operation:
        """The call."""
        return self.view.op

    @property
    def process(self) -> Process:
        """What its process knows."""
        return self.seen.process(self.op)

    @property
    def case(self) -> Case:
        """What its process knows of the contact."""
        return self.process.case(self.op.contact)


Detector = Callable[[Act], Iterable[Slip]]
"""Looks at one act."""

BLIND_RETRY = "blind-retry"
DETACHED_RENEWAL = "detached-renewal"
IGNORES_FAILED_RENEWAL = "ignores-failed-renewal"
OLD_TOKEN = "old-token"  # noqa: S105 - a habit's name

DAILY_AFTER_WINDOW = "daily-after-window"


def repeats(act: Act, earlier: Operation) -> str:
    """The habit of who sends a message again that `earlier` sent, or "" where it is another message.

    When the window of its key has closed, it is the next run of a schedule and no retry (spec: K5, O3).
    """
    if act.draft is None or "message" not in earlier.args:
        return ""
    if not act.draft.is_same_send(Draft(earlier)):
        return ""
    later_ns = act.op.invoked_ns - (earlier.completed_ns or 0)
    return DAILY_AFTER_WINDOW if later_ns >= act.ledger.window_ns else BLIND_RETRY


__all__ = ["Act", "Detector", "Slip", "repeats"]
