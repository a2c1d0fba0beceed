"""Who waited, for whom and how often: read from a race's operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from leaserace.harness.history import Operation, OpType

from .picture import Picture
from .text import visible

ESCALATE_AFTER = 3
"""The same refusal so often in a row goes to a person (spec: R2)."""


class Waits:
    """How long agents waited for a contact, from their first ask that was refused to the grant."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str], int] = {}

    def feed(self, op: Operation) -> int | None:
        """Take an operation that ended; a granted acquire gives its wait in nanoseconds.

        An agent that was not refused before waited for its call only.
        """
        if op.f != "acquire" or op.completed_ns is None:
            return None
        key = (op.agent, op.contact)
        since_ns = self._asked.setdefault(key, op.invoked_ns)
        if op.type is not OpType.OK:
            return None
        del self._asked[key]
        return op.completed_ns - since_ns


class Streaks:
    """The how-manieth refusal in a row an answer is (spec: R2).

    A row is one agent, one contact, one code; whatever succeeds on the contact ends it.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], tuple[str, int]] = {}

    def feed(self, op: Operation) -> int:
        """Take an operation that ended; 0 if it is no refusal."""
        key = (op.agent, op.contact)
        if op.type is OpType.OK:
            self._rows.pop(key, None)
        if op.type is not OpType.FAIL or op.code is None:
            return 0
        code, repeat = self._rows.get(key, ("", 0))
        repeat = repeat + 1 if code == op.code else 1
        self._rows[key] = (op.code, repeat)
        return repeat


def waits_ns(operations: Iterable[Operation]) -> Iterator[tuple[str, int]]:
    """Each granted acquire's id and how many nanoseconds it was waited for."""
    waits = Waits()
    for op in operations:
        waited_ns = waits.feed(op)
        if waited_ns is not None:
            yield op.op, waited_ns


def refusals(operations: Iterable[Operation]) -> Iterator[tuple[Operation, int]]:
    """Refused operations, each with the how-manieth of its row it is."""
    streaks = Streaks()
    for op in operations:
        repeat = streaks.feed(op)
        if repeat:
            yield op, repeat


def to_a_person(
    races: Mapping[str, Picture], *, after: int = ESCALATE_AFTER, limit: int = 20
) -> list[str]:
    """Refusals repeated so often in a row that a person should hear of them (spec: R2).

    Args:
        races: Race name to its picture.
        after: How often in a row.
        limit: Longest list; what is left out is counted in a last line.

    Returns:
        One sentence each, the worst first.
    """
    worst: dict[tuple[str, str, str, str], int] = {}
    for race, picture in races.items():
        for op, repeat in refusals(picture.operations):
            if repeat >= after:
                key = (op.agent, op.contact, race, str(op.code))
                worst[key] = max(repeat, worst.get(key, 0))
    ordered = sorted(worst.items(), key=lambda item: (-item[1], item[0]))
    sentences = [
        f"{visible(agent)} was told {visible(code)} {times} times in a row "
        f"for {visible(contact)} in {visible(race)}"
        for (agent, contact, race, code), times in ordered[:limit]
    ]
    if len(ordered) > limit:
        sentences.append(f"and {len(ordered) - limit:,} more")
    return sentences
