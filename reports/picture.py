"""A race as things that last: leases, faults, bands and arrivals, read from its events once.

Tables, images, the page and the trace all draw this picture; none reads the history by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from leaserace.harness.contract import Settings
from leaserace.harness.history import (
    AnyEvent,
    AuditEvent,
    DeliveryEvent,
    FaultEvent,
    MarkEvent,
    Operation,
    OpEvent,
    OpType,
    Pairer,
)
from leaserace.harness.rules.base import RaceInfo

from .leases import LeaseCall, LeaseCalls, LeaseSpan, lease_spans

COOLDOWN, SUPPRESSION = "cooldown", "suppression"


@dataclass(slots=True, kw_only=True)
class FaultSpan:
    """One fault; `end_ns` is None if it never ended."""

    agent: str
    fault: str
    begin_ns: int
    end_ns: int | None
    point: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One message at the receiving mailbox.

    Args:
        t_ns: When.
        intent: Its logical send.
        contact: Whom it was for, "" if no send of the race names its intent.
        agent: Who asked for it last before it arrived, "" if nobody did.
        message_id: Message-ID header.
        recipient: As it arrived.
        number: 1 for the first of its intent; above 1 it is a duplicate.
        replied: False if the receiving side dropped its reply.
        sender: Envelope sender.
    """

    t_ns: int
    intent: str
    contact: str
    agent: str
    message_id: str
    recipient: str
    number: int
    replied: bool
    sender: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A time in which a contact may not be written to, clipped to the race."""

    contact: str
    kind: str
    begin_ns: int
    end_ns: int


@dataclass(slots=True, kw_only=True)
class Picture:
    """One race.

    Args:
        race: Its name.
        begin_ns: First instant.
        end_ns: Last instant.
        agents: In the order the harness named them, then of appearance.
        contacts: In order of appearance.
        settings: Lengths in force.
        operations: In the order of their invokes.
        leases: In the order of their grants.
        faults: In the order of their begins.
        arrivals: In the order they arrived.
        bands: Cooldowns and suppressions.
        decisions: The audit log, as recorded.
        spellings: Contact to its addresses, as far as the harness said.
    """

    race: str
    begin_ns: int = 0
    end_ns: int = 0
    agents: list[str] = field(default_factory=list)
    contacts: list[str] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    operations: list[Operation] = field(default_factory=list)
    leases: list[LeaseSpan] = field(default_factory=list)
    faults: list[FaultSpan] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    decisions: list[AuditEvent] = field(default_factory=list)
    spellings: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Watcher(Protocol):
    """Who is told of a history's things as soon as they are known, so that none need be kept."""

    def begin(self, t_ns: int) -> None:
        """A race begins; the first one is where times count from."""
        ...

    def operation(self, race: str, op: Operation) -> None:
        """An operation ended, or never will."""
        ...

    def arrival(self, race: str, arrival: Arrival) -> None:
        """A message arrived."""
        ...

    def rest(self, picture: Picture) -> None:
        """A race is over; its picture has all but operations and arrivals."""
        ...


class Watch:
    """Paints races without keeping their operations.

    Args:
        watcher: Who is told.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._painters: dict[str, _Painter] = {}

    def feed(self, event: AnyEvent) -> None:
        """Take one event in.

        Raises:
            InvalidHistory: The event can't stand where it stands.
        """
        painter = self._painters.get(event.race)
        if painter is None:
            self._watcher.begin(event.t)
            painter = self._painters[event.race] = _Painter(event, self._watcher)
        painter.feed(event)

    def finish(self) -> None:
        """The history is over."""
        for painter in self._painters.values():
            self._watcher.rest(painter.finish())
        self._painters.clear()


def pictures(events: Iterable[AnyEvent]) -> dict[str, Picture]:
    """The pictures of all races in a history, in order of appearance.

    Args:
        events: A history, or any stream of events in order.

    Raises:
        InvalidHistory: The events can't be a history.
    """
    painters: dict[str, _Painter] = {}
    for event in events:
        painter = painters.get(event.race)
        if painter is None:
            painter = painters[event.race] = _Painter(event)
        painter.feed(event)
    return {race: painter.finish() for race, painter in painters.items()}


class _Forgetful(Pairer):
    """Does not remember the names of operations that ended: a million of them would fill the memory."""

    def feed(self, event: OpEvent, place: int | None = None) -> Operation:
        """As the other; an operation begun again after its end is taken for another one."""
        op = super().feed(event, place)
        if event.type is not OpType.INVOKE:
            self._seen.discard((event.race, event.op))
        return op


class _Painter:
    """Takes one race's events in and draws its picture."""

    def __init__(self, first: AnyEvent, watcher: Watcher | None = None) -> None:
        self._watcher = watcher
        self._picture = Picture(race=first.race, begin_ns=first.t, end_ns=first.t)
        self._pairer = Pairer() if watcher is None else _Forgetful()
        self._agents: dict[str, None] = {}
        self._contacts: dict[str, None] = {}
        self._faults: dict[str, FaultSpan] = {}
        self._senders: dict[str, tuple[str, str]] = {}
        self._seen: Counter[str] = Counter()
        self._texts: dict[str, str] = {}
        self._lease_calls = LeaseCalls()
        self._suppressions: list[Operation] = []

    def feed(self, event: AnyEvent) -> None:
        """Take one event in."""
        self._picture.end_ns = max(self._picture.end_ns, event.t)
        match event:
            case OpEvent():
                self._operation(event)
            case FaultEvent():
                self._fault(event)
            case DeliveryEvent():
                self._arrival(event)
            case AuditEvent():
                self._picture.decisions.append(event)
            case MarkEvent():
                self._mark(event)

    def _operation(self, event: OpEvent) -> None:
        op = self._pairer.feed(event)
        if event.type is not OpType.INVOKE:
            op.answer = _kept(op.answer, _ANSWER)
            self._done(op)
            return
        _slim(op, self._texts.setdefault)
        if self._watcher is None:
            self._picture.operations.append(op)
        self._agents.setdefault(op.agent)
        if op.contact:
            self._contacts.setdefault(op.contact)
        intent = intent_of(op)
        if intent:
            self._senders[intent] = (op.agent, op.contact)

    def _done(self, op: Operation) -> None:
        call = LeaseCall.of(op, token_of(op))
        if call is not None:
            self._lease_calls.append(call)
        if op.type is OpType.OK and (op.f in {"suppress", "unsuppress"} or _opts_out(op)):
            self._suppressions.append(op)
        if self._watcher is not None:
            self._watcher.operation(self._picture.race, op)

    def _fault(self, event: FaultEvent) -> None:
        if event.agent:
            self._agents.setdefault(event.agent)
        if event.phase == "end" and event.id in self._faults:
            span = self._faults.pop(event.id)
            span.end_ns = event.t
            span.detail = {**span.detail, **event.detail}
            return
        span = FaultSpan(
            agent=event.agent,
            fault=event.fault,
            begin_ns=event.t,
            end_ns=None,
            point=event.point,
            detail=event.detail,
        )
        self._faults[event.id] = span
        self._picture.faults.append(span)

    def _arrival(self, event: DeliveryEvent) -> None:
        self._seen[event.intent] += 1
        agent, contact = self._senders.get(event.intent, ("", ""))
        arrival = Arrival(
            t_ns=event.t,
            intent=event.intent,
            contact=contact,
            agent=agent,
            message_id=event.message_id,
            recipient=event.recipient,
            number=self._seen[event.intent] if event.intent else 1,
            replied=event.replied,
            sender=event.sender,
        )
        if self._watcher is None:
            self._picture.arrivals.append(arrival)
        else:
            self._watcher.arrival(self._picture.race, arrival)

    def _mark(self, event: MarkEvent) -> None:
        if event.name == "race.begin":
            info = RaceInfo.from_mark(event.data)
            self._picture.settings = info.settings
            for agent in info.agents:
                self._agents.setdefault(agent)
        elif event.name == "contact" and "contact" in event.data:
            spellings = tuple(map(str, event.data.get("spellings", ())))
            self._picture.spellings[str(event.data["contact"])] = spellings

    def finish(self) -> Picture:
        """Draw what needs the whole race: leases and bands."""
        picture = self._picture
        if self._watcher is not None:
            for op in self._pairer.open_operations():
                self._watcher.operation(picture.race, op)
        self._pairer = Pairer()  # what it remembers of each operation is as large as the operation
        picture.agents = list(self._agents)
        picture.contacts = list(self._contacts)
        picture.leases = lease_spans(self._lease_calls, picture.settings.lease_s, picture.end_ns)
        picture.bands = _bands(picture, self._suppressions)
        return picture


_MESSAGE = frozenset({"to", "token", "key", "intent", "endpoint"})
_ARGS = frozenset({"address", "token", "key", "message"})
_ANSWER = frozenset(
    {"answer", "token", "owner", "message_id", "replay", "state", "why", "until_ms", "at_ms"}
    | {"first", "opted_out", "rows"}
    | {"granted_at_ms", "acquired_at_ms", "expires_at_ms"}
)


def _slim(op: Operation, one: Callable[[str, str], str]) -> None:
    """Keep of an operation what reports show: a million of them must fit.

    Args:
        op: Just invoked.
        one: Gives the one copy of a text that is kept.
    """
    op.race, op.agent, op.f = one(op.race, op.race), one(op.agent, op.agent), one(op.f, op.f)
    op.contact, op.process = one(op.contact, op.contact), one(op.process, op.process)
    args = _kept(op.args, _ARGS)
    if isinstance(args.get("message"), dict):
        args["message"] = _kept(args["message"], _MESSAGE)
    op.args = args


def _kept(value: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name in names}


def message_of(op: Operation) -> Mapping[str, Any]:
    """The message of a send, else nothing."""
    message = op.args.get("message")
    return message if isinstance(message, dict) else {}


def intent_of(op: Operation) -> str:
    """The intent of a send, "" of anything else."""
    return str(message_of(op).get("intent") or "")


def token_of(op: Operation) -> int | None:
    """The token an operation was granted, else the one it was made with."""
    granted = op.answer.get("token") if op.type is OpType.OK else None
    for value in (granted, op.args.get("token"), message_of(op).get("token")):
        if isinstance(value, int):
            return value
    return None


def _opts_out(op: Operation) -> bool:
    """Whether a contact took itself off our mail by what it wrote."""
    return op.f == "receive" and bool(op.answer.get("opted_out") and op.answer.get("first"))


def _bands(picture: Picture, suppressions: Iterable[Operation]) -> list[Band]:
    """Cooldowns after each first delivery, and suppressions until they were lifted."""
    made: list[Band] = []
    until: dict[str, int] = defaultdict(int)
    length_ns = round(picture.settings.cooldown_s * 1e9)
    for arrival in picture.arrivals:
        if length_ns and arrival.contact and arrival.t_ns >= until[arrival.contact]:
            until[arrival.contact] = end_ns = arrival.t_ns + length_ns
            made.append(_band(picture, arrival.contact, COOLDOWN, arrival.t_ns, end_ns))
    since: dict[str, int] = {}
    for op in suppressions:
        t_ns = op.completed_ns or op.invoked_ns
        if op.f != "unsuppress":
            since.setdefault(op.contact, t_ns)
        elif op.contact in since:
            made.append(_band(picture, op.contact, SUPPRESSION, since.pop(op.contact), t_ns))
    for contact, begin_ns in since.items():
        made.append(_band(picture, contact, SUPPRESSION, begin_ns, picture.end_ns))
    return sorted(made, key=lambda band: (band.begin_ns, band.kind, band.contact))


def _band(picture: Picture, contact: str, kind: str, begin_ns: int, end_ns: int) -> Band:
    end_ns = max(begin_ns, min(end_ns, picture.end_ns))
    return Band(contact=contact, kind=kind, begin_ns=begin_ns, end_ns=end_ns)
