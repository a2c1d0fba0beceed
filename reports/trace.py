"""``trace.json``: the run in Trace Event form, which opens in Perfetto and in chrome://tracing.

A race is a process, an agent a thread. Calls are complete events (``X``) that never overlap on a
thread; leases, pauses and bands do overlap and are async spans (``b`` and ``e``). Times are whole
microseconds since the first event of the history. Perfetto takes thread ids for unique in the whole trace,
a thread with the id of a process for its main one, and thread 0 for an idle processor: so every thread
has a number of its own that is no process's.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from leaserace.harness.history import Operation
from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import Finding

from .picture import Picture, intent_of
from .text import answer_words, call_words, visible

FIRST_TID = 1_000_000
"""Above every process's number: there are fewer races."""

Trace = dict[str, Any]


def trace_json(outcome: RunOutcome, races: Mapping[str, Picture]) -> bytes:
    """The run in Trace Event form.

    Args:
        outcome: The run, for its findings.
        races: Race name to its picture.
    """
    findings = {race.race: race.findings for race in outcome.races}
    zero_ns = min((picture.begin_ns for picture in races.values()), default=0)
    made: list[Trace] = []
    tids = itertools.count(FIRST_TID)
    for pid, (race, picture) in enumerate(races.items(), start=1):
        made.extend(_Race(picture, pid, zero_ns, tids).events(findings.get(race, ())))
    return msgspec.json.encode({"displayTimeUnit": "ms", "traceEvents": made}) + b"\n"


class _Race:
    """Makes the trace events of one race."""

    def __init__(self, picture: Picture, pid: int, zero_ns: int, tids: Iterator[int]) -> None:
        self._picture = picture
        self._pid = pid
        self._zero_ns = zero_ns
        self._fresh_tids = tids
        self._tids: dict[str, int] = {}
        self._mailbox_tid = next(tids)

    def events(self, findings: Iterable[Finding]) -> Iterator[Trace]:
        """All of them; names of processes and threads come first."""
        calls = list(self._calls())
        mailbox = self._mailbox_tid
        yield self._name("process_name", visible(self._picture.race) or "history", mailbox)
        yield self._meta("process_sort_index", {"sort_index": self._pid}, mailbox)
        threads = [*self._tids.items(), ("receiving mailbox", mailbox)]
        for place, (name, tid) in enumerate(threads):
            yield self._name("thread_name", visible(name), tid)
            yield self._meta("thread_sort_index", {"sort_index": place}, tid)
        yield from calls
        yield from self._spans()
        for arrival in self._picture.arrivals:
            args = {"intent": arrival.intent, "message_id": arrival.message_id}
            name = "arrived" if arrival.number == 1 else f"DUPLICATE {arrival.number}"
            yield self._instant(name, arrival.t_ns, mailbox, "t", visible_args(args))
        for finding in findings:
            args = {"message": finding.message, "spec": ", ".join(finding.spec)}
            yield self._instant(finding.rule, finding.t, mailbox, "g", visible_args(args))

    def _calls(self) -> Iterator[Trace]:
        """Calls, each on the first thread of its agent that is free."""
        free: dict[str, list[int]] = defaultdict(list)
        ends = _ends(self._picture)
        for op in self._picture.operations:
            lanes = free[op.agent]
            end_ns = ends[op.op]
            lane = next((i for i, t in enumerate(lanes) if t <= op.invoked_ns), len(lanes))
            lanes[lane : lane + 1] = [end_ns]
            name = op.agent if not lane else f"{op.agent} ({lane + 1})"
            tid = self._tids.get(name)
            if tid is None:
                tid = self._tids[name] = next(self._fresh_tids)
            begin = self._us(op.invoked_ns)
            yield {
                "ph": "X",
                "name": call_words(op),
                "cat": op.type.value,
                "pid": self._pid,
                "tid": tid,
                "ts": begin,
                "dur": self._us(end_ns) - begin,
                "args": visible_args(
                    {
                        "op": op.op,
                        "contact": op.contact,
                        "answer": answer_words(op),
                        "code": op.code or "",
                        "intent": intent_of(op),
                    }
                ),
            }

    def _spans(self) -> Iterator[Trace]:
        picture = self._picture
        for span in picture.leases:
            name = f"{span.contact}: token {span.token} ({span.agent})"
            args = {"agent": span.agent, "ended by": span.ended_by, "overlaps": span.overlaps}
            yield from self._span("lease", name, span.op, span.begin_ns, span.end_ns, args)
        for number, fault in enumerate(picture.faults):
            end_ns = picture.end_ns if fault.end_ns is None else fault.end_ns
            name = f"{fault.fault} {fault.agent}"
            args = {"point": fault.point, **fault.detail}
            yield from self._span("fault", name, f"f{number}", fault.begin_ns, end_ns, args)
        for number, band in enumerate(picture.bands):
            name = f"{band.contact}: {band.kind}"
            yield from self._span("band", name, f"b{number}", band.begin_ns, band.end_ns, {})

    def _span(  # noqa: PLR0917 - a line of the trace, in its order
        self,
        category: str,
        name: str,
        span_id: str,
        begin_ns: int,
        end_ns: int,
        args: Mapping[str, Any],
    ) -> Iterator[Trace]:
        common = {
            "cat": category,
            "id": f"{self._pid}:{category}:{visible(span_id)}",
            "name": visible(name),
            "pid": self._pid,
            "tid": self._mailbox_tid,
        }
        yield {"ph": "b", "ts": self._us(begin_ns), "args": visible_args(args), **common}
        yield {"ph": "e", "ts": self._us(end_ns), **common}

    def _instant(self, name: str, t_ns: int, tid: int, scope: str, args: Trace) -> Trace:
        return {
            "ph": "i",
            "s": scope,
            "name": visible(name),
            "pid": self._pid,
            "tid": tid,
            "ts": self._us(t_ns),
            "args": args,
        }

    def _name(self, what: str, name: str, tid: int) -> Trace:
        return self._meta(what, {"name": name}, tid)

    def _meta(self, what: str, args: Trace, tid: int) -> Trace:
        return {"ph": "M", "name": what, "pid": self._pid, "tid": tid, "args": args}

    def _us(self, t_ns: int) -> int:
        return max(0, t_ns - self._zero_ns) // 1000


def _ends(picture: Picture) -> dict[str, int]:
    """When each operation ended; one that never did ends where its agent went on, or with the race."""
    ends: dict[str, int] = {}
    open_ops: dict[str, Operation] = {}
    for op in picture.operations:
        before = open_ops.pop(op.agent, None)
        if before is not None:
            ends[before.op] = op.invoked_ns
        if op.completed_ns is None:
            open_ops[op.agent] = op
        else:
            ends[op.op] = op.completed_ns
    return ends | {op.op: max(picture.end_ns, op.invoked_ns) for op in open_ops.values()}


def visible_args(args: Mapping[str, Any]) -> Trace:
    """Arguments as plain texts and numbers."""
    return {
        visible(name): value if isinstance(value, bool | int | float) else visible(value)
        for name, value in args.items()
    }
