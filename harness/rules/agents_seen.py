"""What an agent under test has seen of its own answers, kept apart for each of its processes (spec: A1).

An agent is judged by what it knew when it called: the answers that had reached that very process. A
reply that was lost is not known, and a crash ends what was known. What its *keys* must do outlives a
crash, so its drafts are kept for the agent as a whole.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..history import FaultEvent, Operation, OpType
from .agents_case import Case, Letter
from .agents_draft import Draft, process_of
from .base import freeze
from .claims import MS
from .people import View, normal_key

DRAFTS_MAX = 256
"""Calls of one agent whose keys are remembered."""
REFUSED_MAX = 64
"""Refusals of one process that must not be repeated."""


class Process:
    """What one process of an agent knows.

    Attributes:
        cases: Contact to what is known of it.
        refused: What must not be asked again as it was, to the call that told so.
    """

    __slots__ = ("cases", "refused")

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}
        self.refused: dict[Hashable, Operation] = {}

    def case(self, contact: str) -> Case:
        """What is known of a contact."""
        return self.cases.setdefault(contact, Case())

    def refuse(self, what: Hashable, op: Operation) -> None:
        """Remember a refusal."""
        self.refused[what] = op
        if len(self.refused) > REFUSED_MAX:
            del self.refused[next(iter(self.refused))]

    def looked_up(self, op: Operation) -> None:
        """A look-up was answered.

        An agent that makes another key at each call looks the wrong one up: that is a fault of its
        keys. Here it counts as a look-up of the last send whose outcome is unknown.
        """
        key = normal_key(op.args.get("key"))
        letters = [letter for case in self.cases.values() for letter in case.letters]
        named = [letter for letter in letters if letter.draft.folded == key]
        found = named or [letter for letter in self.case(op.contact).letters if letter.unknown][-1:]
        for letter in found:
            letter.looked_up(op)


class Seen:
    """What the processes of all agents under test have seen.

    Attributes:
        processes: Seat and incarnation to what that process knows.
        gone: Processes that crashed; what is told of their calls after that, they never heard.
        drafts: Agent to its calls that sent, in order, whoever of its processes made them.
        ahead_ms: The most by which the store's clock may be ahead of the history's, or None.
    """

    __slots__ = ("ahead_ms", "drafts", "gone", "processes")

    def __init__(self) -> None:
        self.processes: dict[tuple[str, str], Process] = {}
        self.gone: set[tuple[str, str]] = set()
        self.drafts: dict[str, list[Draft]] = {}
        self.ahead_ms: float | None = None

    def process(self, op: Operation) -> Process:
        """What the process that made a call knows."""
        return self.processes.setdefault(process_of(op), Process())

    def called(self, op: Operation, draft: Draft | None) -> None:
        """A call begins."""
        self.process(op).case(op.contact).called(op, draft)
        if draft is not None:
            drafts = self.drafts.setdefault(op.agent, [])
            drafts.append(draft)
            del drafts[:-DRAFTS_MAX]

    def answered(self, view: View, draft: Draft | None) -> None:
        """A call ended."""
        op = view.op
        if process_of(op) in self.gone:
            return
        process = self.process(op)
        process.case(op.contact).answered(view, draft)
        if op.f == "lookup" and op.type is OpType.OK:
            process.looked_up(op)
        store_ms = op.answer.get("granted_at_ms")
        if store_ms:
            ahead_ms = store_ms - op.invoked_ns / MS
            self.ahead_ms = ahead_ms if self.ahead_ms is None else min(self.ahead_ms, ahead_ms)

    def struck(self, event: FaultEvent) -> None:
        """A crash ends what its process knew."""
        if event.fault == "crash" and event.phase == "begin":
            seat = event.detail.get("seat", event.agent)
            for name in [name for name in self.processes if name[0] == seat]:
                del self.processes[name]
                self.gone.add(name)

    def picture(self) -> Hashable:
        """What further judgements depend on."""
        return _picture((self.processes, frozenset(self.gone), self.drafts, self.ahead_ms))


def _picture(value: Any) -> Hashable:
    match value:
        case Draft() | Letter() | Case() | Process():
            return tuple(_picture(getattr(value, name)) for name in value.__slots__)
        case dict():
            return tuple((name, _picture(item)) for name, item in value.items())
        case list() | tuple():
            return tuple(_picture(item) for item in value)
        case _:
            return freeze(value)


__all__ = ["Process", "Seen"]
