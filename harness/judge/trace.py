"""A finding traced to the lines of the log and the policy state that let it through (spec: R3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from ..verdict import Finding
from .mapping import Mapping
from .notices import moment
from .raw import RawLines
from .records import Record

STATE_SHOWN = 300
_SEQ = re.compile(r"record (\d+) of the audit log")
_LINE = re.compile(r"L(\d+)(#\d+)?(\.\d+)?(-\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One line of the log that a finding rests on.

    Args:
        line: Its number.
        at: Its time, ISO 8601 in UTC.
        agent: Who acted.
        f: What it did.
        state: The policy state the line tells, empty if it tells none.
        fields: The line as the log has it.
    """

    line: int
    at: str
    agent: str
    f: str
    state: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A finding and the lines that prove it; the last one is what let it through.

    Args:
        rule: The rule.
        contact: The person.
        message: What is wrong.
        decisions: In order of time.
    """

    rule: str
    contact: str
    message: str
    decisions: tuple[Decision, ...]


def line_of(op: str) -> tuple[int, int]:
    """Number of the line that begins an operation, and which of several objects on it."""
    match = _LINE.fullmatch(op)
    if match is None:
        return 0, 0
    return int(match[1]), int(match[2][1:]) - 1 if match[2] else 0


class Tracer:
    """Adds to findings which line let them through, on which state.

    Args:
        raw: The log.
        name: The log's name.
        mapping: What its fields are.
    """

    def __init__(self, raw: RawLines, name: str, mapping: Mapping) -> None:
        self._raw = raw
        self._name = name
        self._has_state = bool(mapping.state.fields)
        self._actions = [told[0].f if told else "" for told in mapping.actions().values()]

    def trace(
        self, findings: Iterable[Finding], records: Iterable[Record]
    ) -> Iterator[tuple[Finding, Traced]]:
        """Each finding with a longer message, and what it was traced to.

        Args:
            findings: What the rules found of one contact.
            records: The contact's.
        """
        by_line = {(record.line, record.item or 0): record for record in records}
        by_seq = {record.seq: record for record in records if record.seq is not None}
        for finding in findings:
            lines = [line_of(op) for op in finding.ops]
            proof = [by_line[line] for line in dict.fromkeys(lines) if line in by_line]
            match = _SEQ.search(finding.message)
            if not proof and match and int(match[1]) in by_seq:
                proof = [by_seq[int(match[1])]]
            decisions = tuple(self._decision(record) for record in proof)
            traced = Traced(
                rule=finding.rule,
                contact=finding.contact or (proof[0].contact if proof else ""),
                message=finding.message,
                decisions=decisions,
            )
            if decisions:
                message = f"{finding.message}; {self._let_through(decisions[-1])}"
                yield replace(finding, message=message, contact=traced.contact), traced
            else:
                yield finding, traced

    def _decision(self, record: Record) -> Decision:
        return Decision(
            line=record.line,
            at=moment(record.t),
            agent=record.agent or "",
            f=self._actions[record.event],
            state=self._raw.state(record.offset, record.item or 0),
            fields=self._raw.fields(record.offset, record.item or 0),
        )

    def _let_through(self, decision: Decision) -> str:
        who = f" by {decision.agent}" if decision.agent else ""
        where = f"let through by {self._name}:{decision.line} ({decision.f}{who})"
        if decision.state:
            state = msgspec.json.encode(decision.state, order="sorted").decode()
            return f"{where} on {state[:STATE_SHOWN]}"
        if self._has_state:
            return f"{where}, whose line tells no policy state"
        return f"{where}; the log tells no policy state (state.fields)"


__all__ = ["Decision", "Traced", "Tracer", "line_of"]
