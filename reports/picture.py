"""A race as things that last: leases, faults, bands and arrivals, read from its events once.

Tables, images, the page and the trace all draw this picture; none reads the history by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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

from .storetime import StoreTime

RELEASED, FREED, EXPIRED, OPEN = "released", "freed by another agent", "expired", "open"
COOLDOWN, SUPPRESSION = "cooldown", "suppression"


@dataclass(slots=True, kw_only=True)
class LeaseSpan:
    """One grant, until it ended.

    Args:
        agent: Who held it.
        contact: The scenario's name for the person.
        token: Fencing token.
        begin_ns: When the store granted it, on the history's clock.
        end_ns: When it ended.
        ended_by: `RELEASED`, `FREED`, `EXPIRED` or `OPEN` (it lived to the end of the race).
        overlaps: Whether another grant of this contact began while it lived (spec: L3).
        renewals_ns: When it was renewed.
        op: The acquire that got it.
    """

    agent: str
    contact: str
    token: int
    begin_ns: int
    end_ns: int
    ended_by: str = OPEN
    overlaps: bool = False
    renewals_ns: list[int] = field(default_factory=list)
    op: str = ""


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


class _Painter:
    """Takes one race's events in and draws its picture."""

    def __init__(self, first: AnyEvent) -> None:
        self._picture = Picture(race=first.race, begin_ns=first.t, end_ns=first.t)
        self._pairer = Pairer()
        self._agents: dict[str, None] = {}
        self._contacts: dict[str, None] = {}
        self._faults: dict[str, FaultSpan] = {}
        self._senders: dict[str, tuple[str, str]] = {}
        self._seen: Counter[str] = Counter()

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
            return
        self._picture.operations.append(op)
        self._agents.setdefault(op.agent)
        if op.contact:
            self._contacts.setdefault(op.contact)
        intent = intent_of(op)
        if intent:
            self._senders[intent] = (op.agent, op.contact)

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
        self._picture.arrivals.append(
            Arrival(
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
        )

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
        picture.agents = list(self._agents)
        picture.contacts = list(self._contacts)
        picture.leases = _leases(picture)
        picture.bands = _bands(picture)
        return picture


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


def _leases(picture: Picture) -> list[LeaseSpan]:
    """Grants, in order, each with what ended it by the store's clock."""
    time = StoreTime(picture.operations)
    live: dict[tuple[str, int | None], LeaseSpan] = {}
    newest: dict[str, LeaseSpan] = {}
    made: list[LeaseSpan] = []
    for op in _by_effect(picture.operations, time):
        t_ns, key = time.of_answer(op), (op.contact, token_of(op))
        span = live.get(key)
        if op.f == "acquire":
            before = newest.get(op.contact)
            if before is not None and before.end_ns > t_ns:
                before.overlaps = True
            span = LeaseSpan(
                agent=op.agent,
                contact=op.contact,
                token=key[1] or 0,
                begin_ns=t_ns,
                end_ns=time.expiry_ns(op, picture.settings.lease_s),
                op=op.op,
            )
            live[key] = newest[op.contact] = span
            made.append(span)
        elif span is not None and op.f == "renew":
            span.renewals_ns.append(t_ns)
            span.end_ns = time.expiry_ns(op, picture.settings.lease_s)
        elif span is not None and t_ns < span.end_ns:
            span.end_ns = t_ns
            span.ended_by = RELEASED if op.agent == span.agent else FREED
            del live[key]
    for span in made:
        if span.ended_by is OPEN and span.end_ns <= picture.end_ns:
            span.ended_by = EXPIRED
        span.end_ns = max(span.begin_ns, min(span.end_ns, picture.end_ns))
    return made


def _by_effect(operations: Iterable[Operation], time: StoreTime) -> list[Operation]:
    """Lease operations that succeeded, in the order the store did them."""
    done = [
        op for op in operations if op.type is OpType.OK and op.f in {"acquire", "renew", "release"}
    ]
    return sorted(done, key=time.of_answer)


def _bands(picture: Picture) -> list[Band]:
    """Cooldowns after each first delivery, and suppressions until they were lifted."""
    made: list[Band] = []
    until: dict[str, int] = defaultdict(int)
    length_ns = round(picture.settings.cooldown_s * 1e9)
    for arrival in picture.arrivals:
        if length_ns and arrival.contact and arrival.t_ns >= until[arrival.contact]:
            until[arrival.contact] = end_ns = arrival.t_ns + length_ns
            made.append(_band(picture, arrival.contact, COOLDOWN, arrival.t_ns, end_ns))
    since: dict[str, int] = {}
    for op in picture.operations:
        if op.type is not OpType.OK or op.completed_ns is None:
            continue
        if op.f == "suppress":
            since.setdefault(op.contact, op.completed_ns)
        elif op.f == "unsuppress" and op.contact in since:
            begin_ns = since.pop(op.contact)
            made.append(_band(picture, op.contact, SUPPRESSION, begin_ns, op.completed_ns))
    for contact, begin_ns in since.items():
        made.append(_band(picture, contact, SUPPRESSION, begin_ns, picture.end_ns))
    return sorted(made, key=lambda band: (band.begin_ns, band.kind, band.contact))


def _band(picture: Picture, contact: str, kind: str, begin_ns: int, end_ns: int) -> Band:
    end_ns = max(begin_ns, min(end_ns, picture.end_ns))
    return Band(contact=contact, kind=kind, begin_ns=begin_ns, end_ns=end_ns)
