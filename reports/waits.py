"""Who waited, for whom and how often: read from a race's operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from leaserace.harness.history import Operation, OpType

from .picture import Picture
from .text import visible

ESCALATE_AFTER = 3
"""The same refusal so often in a row goes to a person (spec: R2)."""


def waits_ns(operations: Iterable[Operation]) -> Iterator[tuple[str, int]]:
    """How long each granted acquire was waited for, from the agent's first ask that was refused.

    Returns:
        The acquire's id and nanoseconds; an agent that was not refused before waited for its call.
    """
    asked: dict[tuple[str, str], int] = {}
    for op in operations:
        if op.f != "acquire" or op.completed_ns is None:
            continue
        since_ns = asked.setdefault((op.agent, op.contact), op.invoked_ns)
        if op.type is OpType.OK:
            yield op.op, op.completed_ns - since_ns
            del asked[op.agent, op.contact]


def refusals(operations: Iterable[Operation]) -> Iterator[tuple[Operation, int]]:
    """Refused operations, each with the how-manieth such refusal in a row it is (spec: R2).

    A row is one agent, one contact, one code; whatever succeeds on the contact ends it.
    """
    rows: dict[tuple[str, str], tuple[str, int]] = {}
    for op in operations:
        key = (op.agent, op.contact)
        if op.type is OpType.OK:
            rows.pop(key, None)
        elif op.type is OpType.FAIL and op.code is not None:
            code, repeat = rows.get(key, ("", 0))
            repeat = repeat + 1 if code == op.code else 1
            rows[key] = (op.code, repeat)
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
