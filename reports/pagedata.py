"""What the page's timeline draws, as one compressed island of data.

Columns instead of records, times as differences, texts by number: 100,000 operations stay well below
the page's limit. The island is base64 of gzip of JSON, so no text of a history can close its element.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from leaserace.harness.history import Operation, OpType
from leaserace.harness.verdict import Finding, RaceResult, Verdict

from .leases import LeaseSpan
from .picture import FaultSpan, Picture, intent_of, message_of, token_of
from .story import proof_of
from .text import answer_words, fault_figures, visible

OPERATIONS_MAX = 120_000
"""Operations one page carries; races with findings come first, what is left out is named."""
TYPES = (OpType.INVOKE, OpType.OK, OpType.FAIL, OpType.INFO)
_TOKEN_MAX = 2**53


class Numbered:
    """Texts by number, in order of first use."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def __call__(self, text: object) -> int:
        """The number of this text."""
        plain = visible(text)
        place = self._places.get(plain)
        if place is None:
            place = self._places[plain] = len(self.texts)
            self.texts.append(plain)
        return place

    def maybe(self, text: object) -> int:
        """The number of this text, or -1 for none."""
        return self(text) if text else -1


def island(
    races: Mapping[str, Picture],
    results: Iterable[RaceResult],
    *,
    operations_max: int = OPERATIONS_MAX,
) -> str:
    """The data of a run's timeline, ready to stand in the page.

    Args:
        races: Race name to picture, in order.
        results: What was said of them.
        operations_max: How many operations the page carries at most.
    """
    by_race = {result.race: result for result in results}
    methods, codes = Numbered(), Numbered()
    chosen, left = _choose(races, by_race, operations_max)
    made = [
        _Race(races[name], by_race.get(name), methods, codes).data(limit)
        for name, limit in chosen.items()
    ]
    value = {"races": made, "left": left, "f": methods.texts, "codes": codes.texts}
    packed = gzip.compress(msgspec.json.encode(value), compresslevel=6, mtime=0)
    return base64.b64encode(packed).decode()


def _choose(
    races: Mapping[str, Picture], results: Mapping[str, RaceResult], operations_max: int
) -> tuple[dict[str, int], list[str]]:
    """Races the page carries, each with how many operations of it, and names of the others."""
    room, taken = operations_max, dict[str, int]()
    drawn = {name: picture for name, picture in races.items() if picture.operations}
    for wanted in (True, False):
        for name, picture in drawn.items():
            failed = name in results and bool(results[name].findings)
            if failed is wanted and (room >= len(picture.operations) or (not taken and room)):
                taken[name] = min(room, len(picture.operations))
                room -= taken[name]
    chosen = {name: taken[name] for name in drawn if name in taken}
    left = [
        f"{visible(name)} ({len(picture.operations):,} operations)"
        for name, picture in drawn.items()
        if name not in taken
    ]
    return chosen, left


class _Race:
    """Packs one race."""

    def __init__(
        self, picture: Picture, result: RaceResult | None, methods: Numbered, codes: Numbered
    ) -> None:
        self._picture = picture
        self._findings = result.findings if result is not None else ()
        self._verdict = result.verdict if result is not None else Verdict.UNKNOWN
        self._methods = methods
        self._codes = codes
        self._strings = Numbered()
        self._agents = {name: place for place, name in enumerate(picture.agents)}
        self._contacts = {name: place for place, name in enumerate(picture.contacts)}

    def data(self, limit: int) -> dict[str, Any]:
        """The race as columns.

        Args:
            limit: How many operations to take; where that is not all, those around its findings.
        """
        picture = self._picture
        operations = picture.operations[self._first(limit) :][:limit]
        cut = len(operations) < len(picture.operations)
        begin_ns = operations[0].invoked_ns if cut else picture.begin_ns
        end_ns = _last(operations) if cut else picture.end_ns

        def us(t_ns: int) -> int:
            return (min(max(t_ns, begin_ns), end_ns) - begin_ns) // 1000

        def inside(from_ns: int, to_ns: int | None) -> bool:
            return from_ns <= end_ns and (to_ns is None or to_ns >= begin_ns)

        return {
            "name": visible(picture.race) or "history",
            "verdict": self._verdict.value,
            "span": us(end_ns),
            "cut": len(picture.operations) if cut else 0,
            "agents": [visible(name) for name in picture.agents],
            "contacts": [visible(name) for name in picture.contacts],
            "ops": self._columns(operations, begin_ns),
            "strings": self._strings.texts,
            "leases": [
                self._lease(span, us)
                for span in picture.leases
                if inside(span.begin_ns, span.end_ns)
            ],
            "faults": [
                self._fault(span, us)
                for span in picture.faults
                if inside(span.begin_ns, span.end_ns)
            ],
            "arrivals": [
                [
                    us(arrival.t_ns),
                    self._contacts.get(arrival.contact, -1),
                    self._agents.get(arrival.agent, -1),
                    arrival.number,
                    int(arrival.replied),
                    visible(arrival.intent),
                    visible(arrival.message_id),
                    visible(arrival.recipient),
                ]
                for arrival in picture.arrivals
                if inside(arrival.t_ns, arrival.t_ns)
            ],
            "bands": [
                [self._contacts[band.contact], band.kind, us(band.begin_ns), us(band.end_ns)]
                for band in picture.bands
                if inside(band.begin_ns, band.end_ns)
            ],
            "findings": self._pins(operations, us),
        }

    def _first(self, limit: int) -> int:
        """Place of the first operation to take."""
        operations = self._picture.operations
        named = {op for finding in self._findings[:1] for op in finding.ops}
        if limit >= len(operations) or not named:
            return 0
        place = next((i for i, op in enumerate(operations) if op.op in named), 0)
        return max(0, min(place - limit // 2, len(operations) - limit))

    def _columns(self, operations: list[Operation], begin_ns: int) -> dict[str, list[Any]]:
        text, maybe = self._strings, self._strings.maybe
        before_us, begins, tooks = 0, [], []
        for op in operations:
            at_us = (op.invoked_ns - begin_ns) // 1000
            begins.append(at_us - before_us)
            before_us = at_us
            end_ns = op.completed_ns
            tooks.append(-1 if end_ns is None else (end_ns - begin_ns) // 1000 - at_us)
        return {
            "begin": begins,
            "took": tooks,
            "agent": [self._agents[op.agent] for op in operations],
            "contact": [self._contacts.get(op.contact, -1) for op in operations],
            "f": [self._methods(op.f) for op in operations],
            "type": [TYPES.index(op.type) for op in operations],
            "code": [self._code(op) for op in operations],
            "why": [maybe(op.code) for op in operations],
            "token": [_token(op) for op in operations],
            "id": [text(op.op) for op in operations],
            "answer": [text(answer_words(op)) for op in operations],
            "to": [maybe(op.args.get("address") or message_of(op).get("to")) for op in operations],
            "intent": [maybe(intent_of(op)) for op in operations],
            "key": [maybe(message_of(op).get("key")) for op in operations],
        }

    def _code(self, op: Operation) -> int:
        return self._codes(op.code) if op.type is OpType.FAIL and op.code else -1

    def _lease(self, span: LeaseSpan, us: Any) -> list[Any]:
        return [
            self._agents[span.agent],
            self._contacts.get(span.contact, -1),
            span.token if abs(span.token) < _TOKEN_MAX else visible(span.token),
            us(span.begin_ns),
            us(span.end_ns),
            span.ended_by,
            int(span.overlaps),
            [us(t_ns) for t_ns in span.renewals_ns],
        ]

    def _fault(self, span: FaultSpan, us: Any) -> list[Any]:
        return [
            self._agents.get(span.agent, -1),
            visible(span.fault),
            us(span.begin_ns),
            -1 if span.end_ns is None else us(span.end_ns),
            visible(span.point),
            fault_figures(span.fault, span.detail),
        ]

    def _pins(self, operations: list[Operation], us: Any) -> list[list[Any]]:
        places = {op.op: place for place, op in enumerate(operations)}
        made = []
        for finding in sorted(self._findings, key=lambda each: each.t):
            proof = proof_of(finding, operations)
            made.append(
                [
                    us(self._when(finding, proof)),
                    visible(finding.rule),
                    visible(finding.message),
                    visible(", ".join(finding.spec)),
                    [places[op.op] for op in proof],
                ]
            )
        return made

    def _when(self, finding: Finding, proof: list[Operation]) -> int:
        """Where to pin it; one that names no time, or one after the race, at its proof's end."""
        end_ns = _last(proof) if proof else self._picture.end_ns
        return finding.t if finding.ops and finding.t else end_ns


def _last(operations: Iterable[Operation]) -> int:
    return max(op.completed_ns or op.invoked_ns for op in operations)


def _token(op: Operation) -> int | str | None:
    token = token_of(op)
    return token if token is None or abs(token) < _TOKEN_MAX else visible(token)
