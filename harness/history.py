"""Operations, faults, deliveries and decisions of a run, as JSON Lines in one order.

An operation is an `invoke`, then `ok` (it happened), `fail` (it did not and never will) or `info`
(unknown). A process that ended in `info` never acts again under that name: the agent goes on as the
next process of its own (``sales-01#1``). Nothing is edited after it was recorded.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

VERSION = 1
"""Version of the line format; a file of another version is refused by name."""


class OpType(StrEnum):
    """The four things that can be said of an operation."""

    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    INFO = "info"


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="e"):
    """One line of a history.

    Args:
        t: When, in nanoseconds of the system-wide monotonic clock (virtual in the simulator).
        race: Which race of the run it belongs to, such as ``stale_token[send.checked]/2``; filled
            in when the agents' files are merged.
    """

    t: int
    race: str = ""


class OpEvent(Event, frozen=True, kw_only=True, tag="op"):
    """An operation's begin or end.

    Args:
        agent: Agent id.
        process: Logical client, ``<agent>#<n>``.
        op: Id that joins an invoke with its completion; unique in a race.
        type: Invoke, ok, fail or info.
        f: The mailbox method.
        contact: The scenario's own name for the person, the same for every spelling.
        value: At invoke the arguments, at completion the answer, as JSON.
        code: The refusal's code, or why the outcome is unknown.
    """

    agent: str
    process: str
    op: str
    type: OpType
    f: str
    contact: str = ""
    value: Mapping[str, Any] = {}
    code: str | None = None


class FaultEvent(Event, frozen=True, kw_only=True, tag="fault"):
    """One instant of a fault; both its instants stand in the history.

    Args:
        agent: Who it struck ("" for the store or the transport).
        fault: `pause`, `crash`, `lost_reply`, `slow_reply`, `hold`, `skew`, `transport`, …
        phase: ``begin`` or ``end``.
        id: Joins the two instants.
        point: Where it was aimed, or "".
        detail: Figures, such as the measured skew.
    """

    agent: str
    fault: str
    phase: str
    id: str
    point: str = ""
    detail: Mapping[str, Any] = {}


class DeliveryEvent(Event, frozen=True, kw_only=True, tag="delivery"):
    """A message that reached the receiving mailbox: the ground truth.

    Args:
        intent: Id of the logical send ("" if the message carried none).
        recipient: Envelope recipient as it arrived.
        message_id: Message-ID header.
        sender: Envelope sender.
        replied: False if the sink accepted it and dropped the reply.
    """

    intent: str
    recipient: str
    message_id: str
    sender: str = ""
    replied: bool = True


class AuditEvent(Event, frozen=True, kw_only=True, tag="audit"):
    """One decision of the target's audit log, in commit order; `value` is an `AuditRecord`."""

    seq: int
    value: Mapping[str, Any]


class MarkEvent(Event, frozen=True, kw_only=True, tag="mark"):
    """Something the harness says about the run.

    Args:
        name: ``run.begin``, ``race.begin`` (data: settings, capabilities, agents, contacts),
            ``round.begin``, ``window`` (a situation the race wanted was entered), ``expect``
            (expected and observed), ``race.end``, ``run.end``, ``point`` (an agent stood there).
        data: What belongs to it.
    """

    name: str
    agent: str = ""
    data: Mapping[str, Any] = {}


AnyEvent = OpEvent | FaultEvent | DeliveryEvent | AuditEvent | MarkEvent

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


class InvalidHistory(ValueError):  # noqa: N818 - the name says what it is
    """The lines can't be a history; the message names file, line and what is wrong."""


def encode(event: AnyEvent) -> bytes:
    """Return the event as one line of JSON, with its newline."""
    return _encoder.encode(event) + b"\n"


def decode(line: bytes | str, where: str = "") -> AnyEvent:
    """Read one line.

    Args:
        line: JSON text.
        where: File and line number for the error.

    Raises:
        InvalidHistory: It is no event.
    """
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"{where or 'history'}: not an event: {error}: {line[:80]!r}"
        raise InvalidHistory(message) from error


class Writer:
    """Appends events to one file, made if absent, each given to the operating system at once."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def __call__(self, event: AnyEvent) -> None:
        """Append one event.

        Raises:
            OSError: It could not be written in full.
        """
        line = encode(event)
        while line:  # a signal may cut a write short
            line = line[self._file.write(line) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_file(path: Path) -> tuple[list[AnyEvent], list[str]]:
    """Read one file of events; `lines.Lines` reads one that is too long for memory.

    Returns:
        The events and what was noticed, one sentence each.

    Raises:
        InvalidHistory: A line that is not the last is no event.
        OSError: The file can't be read.
    """
    from .lines import Lines

    lines = Lines(path)
    events = list(lines)
    return events, lines.notices


class Operation:
    """An operation as one thing: its invoke and, once known, its completion.

    Attributes:
        op, agent, process, f, contact: As in `OpEvent`.
        args: Arguments at invoke.
        invoked_ns: When it was invoked.
        completed_ns: When it was completed, or None while (or if never) open.
        begin: Place of its invoke in the order of the history; two equal times have two places.
        end: Place of its completion, or None.
        type: `OpType.INVOKE` while open, then ok, fail or info.
        answer: The completion's value.
        code: The completion's code.
    """

    # fmt: off
    __slots__ = (
        "agent", "answer", "args", "begin", "code", "completed_ns", "contact", "end", "f",
        "invoked_ns", "op", "process", "race", "type",
    )
    # fmt: on

    def __init__(self, invoke: OpEvent, begin: int = 0) -> None:
        self.op = invoke.op
        self.agent = invoke.agent
        self.process = invoke.process
        self.f = invoke.f
        self.contact = invoke.contact
        self.race = invoke.race
        self.args: Mapping[str, Any] = invoke.value
        self.invoked_ns = invoke.t
        self.completed_ns: int | None = None
        self.begin = begin
        self.end: int | None = None
        self.type = OpType.INVOKE
        self.answer: Mapping[str, Any] = {}
        self.code: str | None = None

    def complete(self, event: OpEvent, end: int = 0) -> None:
        """Take the completion in."""
        self.end = end
        self.type = event.type
        self.completed_ns = event.t
        self.answer = event.value
        self.code = event.code

    def __repr__(self) -> str:
        return f"<{self.op} {self.agent} {self.f} {self.contact} {self.type} {self.code or ''}>"


class Pairer:
    """Joins invokes with completions, fed in order; raises where they can't be joined."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Operation] = {}
        self._busy: dict[tuple[str, str], str] = {}
        self._retired: set[tuple[str, str]] = set()
        self._seen: set[tuple[str, str]] = set()
        self._place = 0

    def feed(self, event: OpEvent, place: int | None = None) -> Operation:
        """Return the operation this event begins or completes.

        Args:
            event: The next event.
            place: Its place in the whole history; by default its place among operations.

        Raises:
            InvalidHistory: A completion without an invoke, an operation begun twice, a process
                that acts while it waits, or one that acts again after an `info`.
        """
        self._place = self._place + 1 if place is None else place
        key = (event.race, event.op)
        process = (event.race, event.process)
        if event.type is OpType.INVOKE:
            if key in self._seen:
                raise InvalidHistory(f"operation {event.op} is invoked twice")
            if process in self._retired:
                raise InvalidHistory(
                    f"process {event.process} acts again ({event.op}) after an unknown outcome"
                )
            if process in self._busy:
                raise InvalidHistory(
                    f"process {event.process} invokes {event.op} while {self._busy[process]} is open"
                )
            self._seen.add(key)
            self._busy[process] = event.op
            operation = self._open[key] = Operation(event, self._place)
            return operation
        if key not in self._open:
            raise InvalidHistory(f"completion of {event.op} ({event.type}) without an invoke")
        operation = self._open.pop(key)
        if operation.process != event.process:
            raise InvalidHistory(
                f"{event.op} was invoked by {operation.process}, completed by {event.process}"
            )
        if operation.f != event.f:
            raise InvalidHistory(f"{event.op} was invoked as {operation.f}, completed as {event.f}")
        del self._busy[process]
        if event.type is OpType.INFO:
            self._retired.add(process)
        operation.complete(event, self._place)
        return operation

    def open_operations(self) -> list[Operation]:
        """Operations without a completion so far: their outcome is unknown."""
        return list(self._open.values())

    def forget(self, race: str) -> None:
        """A race is over: what is known of its names is dropped, so that memory stays bounded."""
        self._open = {key: op for key, op in self._open.items() if key[0] != race}
        self._busy = {key: op for key, op in self._busy.items() if key[0] != race}
        self._seen = {key for key in self._seen if key[0] != race}
        self._retired = {key for key in self._retired if key[0] != race}


class History(Sequence[AnyEvent]):
    """Events of one run in one order: by time, then by where they came from.

    Args:
        events: In order.
        notices: What was noticed while reading (a line cut off by a crash).
    """

    def __init__(self, events: Iterable[AnyEvent] = (), notices: Iterable[str] = ()) -> None:
        self._events = tuple(events)
        self.notices = tuple(notices)

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, index: Any) -> Any:
        return self._events[index]

    def __iter__(self) -> Iterator[AnyEvent]:
        return iter(self._events)

    @classmethod
    def merge(cls, sources: Iterable[Sequence[AnyEvent]], race: str = "") -> History:
        """Merge the files of one race by time; ties keep the order of the sources.

        Args:
            sources: Events of one file each, in that file's order.
            race: Written into events that name no race yet.
        """

        def labelled(events: Sequence[AnyEvent]) -> Iterator[AnyEvent]:
            for event in events:
                yield event if event.race or not race else msgspec.structs.replace(event, race=race)

        return cls(
            heapq.merge(*(labelled(source) for source in sources), key=lambda event: event.t)
        )

    @classmethod
    def load(cls, path: Path) -> History:
        """Read a history and validate it.

        Raises:
            InvalidHistory: It breaks a rule; the message names what and where.
            OSError: The file can't be read.
        """
        from .lines import Lines, validated

        lines = Lines(path)
        events = list(validated(lines))
        return cls(events, lines.notices)

    def save(self, path: Path) -> None:
        """Write it as JSON Lines."""
        with path.open("wb") as file:
            for event in self._events:
                file.write(encode(event))

    def validate(self) -> None:
        """Check the rules every history keeps.

        Raises:
            InvalidHistory: At the first event that breaks one.
        """
        from .lines import validate

        validate(self._events)

    def races(self) -> list[str]:
        """Names of the races in it, in order of appearance."""
        return list(dict.fromkeys(event.race for event in self._events if event.race))

    def of_race(self, race: str) -> History:
        """The events of one race."""
        return History((event for event in self._events if event.race == race), self.notices)

    def operations(self) -> list[Operation]:
        """All operations in the order of their invokes; open ones keep type `invoke`."""
        pairer = Pairer()
        return [
            operation
            for event in self._events
            if isinstance(event, OpEvent)
            for operation in (pairer.feed(event),)
            if event.type is OpType.INVOKE
        ]
