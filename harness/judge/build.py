"""From a log's records to the events of a history: calls with begin and end, deliveries, decisions.

A line says less than a history holds. What is filled in, and what is left out, is counted and said
with the verdict; where a line leaves doubt, the interval is made wider, so that doubt excuses and
never accuses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as MappingOf
from typing import Any

from ..history import AuditEvent, DeliveryEvent, OpEvent, OpType
from .answers import NOBODY, Answers, asked, code_of, decision, kind_of, outcome
from .doubt import Doubt
from .mapping import Action, Mapping, Phase
from .records import Record

RACE = "log"
"""Name of the one race that a log is."""
TOKENS_KEPT = 10_000
WINDOW = 100_000
"""Events kept back so that those which began earlier find their place."""

LogEvent = OpEvent | DeliveryEvent


class Person:
    """What the records so far told of one contact."""

    __slots__ = ("calls", "first_token", "given_ns", "grants", "held", "intents", "sent")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.first_token: int | None = None
        self.given_ns: dict[int, int] = {}
        self.grants = 0
        self.held: dict[str, int] = {}
        self.intents: dict[str, str] = {}
        self.sent: set[str] = set()


class Call:
    """An operation whose begin was read."""

    __slots__ = ("agent", "f", "intent", "key", "message_id", "op", "operation", "t")

    def __init__(self, record: Record, f: str, *, op: str, t: int, intent: str) -> None:
        self.f = f
        self.op = op
        self.t = t
        self.agent = record.agent or NOBODY
        self.operation = record.operation
        self.key = record.key
        self.message_id = record.message_id
        self.intent = intent

    def fits(self, record: Record, f: str) -> bool:
        """Whether a line that tells an end belongs to it."""
        if self.f != f:
            return False
        if self.operation and record.operation:
            return self.operation == record.operation
        if self.key and record.key:
            return self.key == record.key
        if self.message_id and record.message_id:
            return self.message_id == record.message_id
        return self.agent == (record.agent or NOBODY)


class Builder:
    """Builds the events of one shard.

    Args:
        mapping: What the log's fields are.
        actions: What each entry of its events means.
        doubt: How far times may be off.
        lease_ms: Length of a lease whose end the log does not tell, or None.
        assumed: Where assumptions are counted (see `notices`).
    """

    def __init__(
        self,
        *,
        mapping: Mapping,
        actions: list[tuple[Action, ...]],
        doubt: Doubt,
        lease_ms: int | None,
        assumed: Counter[str],
    ) -> None:
        self._actions = actions
        self._doubt = doubt
        self._assumed = assumed
        self._answers = Answers(
            store_tells=mapping.time.clock == "store" and not mapping.time.uncertainty_s,
            lease_ms=lease_ms,
        )
        self._people: dict[str, Person] = {}
        self._begun = frozenset(
            each.f for told in actions for each in told if each.phase is Phase.BEGIN
        )
        self._tells_sends = mapping.does("send")
        self._tells_deliveries = mapping.does("delivery")
        self._tells_grants = mapping.does("acquire") and not mapping.settings.from_start
        # A log without tokens: grants are numbered, so that a release finds what it frees.
        self._numbers_grants = not mapping.has("token") and mapping.does("acquire")
        self._by_recipient = mapping.intent.by_recipient
        self._settle_ns = int(mapping.time.settle_s * 1e9)
        self._out: list[tuple[int, int, LogEvent]] = []
        self._made = 0

    # -- the whole shard -------------------------------------------------------------------------

    def learn(self, records: Iterable[Record]) -> None:
        """Note which message id belongs to which logical send, before any event is built."""
        for record in records:
            if record.message_id and (record.key or record.intent):
                self._person(record).intents[record.message_id] = self._intent(record)

    def events(self, records: Iterable[Record]) -> Iterator[LogEvent]:
        """Calls and deliveries in order of time, or of commit where the log tells it."""
        by_commit = self._doubt.by_commit
        for record in records:
            for place, action in enumerate(self._actions[record.event]):
                if action.f == "delivery":
                    self._delivery(record)
                elif action.f not in {"dispatch", "lookup"}:
                    self._operation(record, action, place)
            if by_commit or len(self._out) >= 2 * WINDOW:
                yield from self._ready(0 if by_commit else WINDOW)
        yield from self._ready(0)

    def decisions(
        self, records: Iterable[Record], state_of: Callable[[int, int], Any] | None = None
    ) -> Iterator[AuditEvent]:
        """The audit records that the lines stand for, in commit order.

        Args:
            records: In order.
            state_of: From where a line begins, and which object on it, to the policy state it tells; without it only
                refusals carry theirs.
        """
        last = -1
        for record in records:
            seq = record.line if record.seq is None else record.seq
            if seq > last:
                last = seq
                state = state_of(record.offset, record.item or 0) if state_of else record.state
                yield self._decision(record, self._actions[record.event][0], seq, state)

    def forget(self, contact: str) -> None:
        """A contact is done with."""
        self._people.pop(contact, None)

    def _ready(self, keep: int) -> list[LogEvent]:
        """Events whose place is certain."""
        out = self._out
        if not self._doubt.by_commit:
            out.sort(key=_when)
        cut = len(out) - keep
        self._out = out[cut:]
        return [event for _, _, event in out[:cut]]

    def _put(self, event: LogEvent) -> None:
        self._made += 1
        self._out.append((event.t, self._made, event))

    def _person(self, record: Record) -> Person:
        person = self._people.get(record.contact)
        if person is None:
            person = self._people[record.contact] = Person()
        return person

    def _intent(self, record: Record) -> str:
        """The name of the logical send a line is about, "" if it can't be told."""
        name = record.intent or record.key or record.message_id or ""
        return f"{name} to {record.contact}" if name and self._by_recipient else name

    # -- calls -----------------------------------------------------------------------------------

    def _operation(self, record: Record, action: Action, place: int) -> None:
        person, f = self._person(record), action.f
        if action.phase is Phase.BEGIN:
            begin_ns, _ = self._doubt.span(record)
            call = self._invoke(person, record, action, place=place, t=begin_ns)
            if call is not None:
                person.calls.append(call)
            return
        call = None
        if action.phase is not Phase.WHOLE:
            call = next((each for each in reversed(person.calls) if each.fits(record, f)), None)
        if call is not None:
            person.calls.remove(call)
            _, end_ns = self._doubt.span(record)
        else:
            if action.phase not in {Phase.WHOLE, Phase.REPLAY} and f in self._begun:
                self._assumed["end without begin"] += 1
            begin_ns, end_ns = self._doubt.whole(record)
            call = self._invoke(person, record, action, place=place, t=begin_ns)
        if call is not None:
            self._complete(person, record, action, call, max(end_ns, call.t))

    def _invoke(
        self, person: Person, record: Record, action: Action, *, place: int, t: int
    ) -> Call | None:
        """Write the begin; None where the log does not hold what it rests on."""
        f, token = action.f, record.token
        if self._numbers_grants and f in {"renew", "release"}:
            token = record.token = person.held.get(record.agent or NOBODY, 0)
        if f != "acquire" and token is not None and self._is_older(person, token):
            self._assumed[f"{f} under a lease from before the log"] += 1
            if f != "send":
                return None
            token = None
        if token is not None and f != "acquire":
            # Whoever names a token had been given it, however coarse the times are.
            t = max(t, person.given_ns.get(token, t))
        intent = self._intent(record) if f == "send" else ""
        call = Call(record, f, op=_name(record, place), t=t, intent=intent)
        if f == "send":
            person.sent.add(intent)
        self._write(record, call, OpType.INVOKE, asked(record, f, token, intent), t)
        return call

    def _is_older(self, person: Person, token: int) -> bool:
        """Whether the token was given before the log began, as far as tokens tell."""
        if not self._tells_grants:
            return False
        return person.first_token is None or token < person.first_token

    def _complete(self, person: Person, record: Record, action: Action, call: Call, t: int) -> None:
        """Write the end, and the delivery where the log has none of its own."""
        result = outcome(record, action)
        if call.f == "acquire" and kind_of(result) is OpType.OK:
            self._granted(person, record, t)
        intent = call.intent or self._intent(record)
        value = self._answers.answered(record, call.f, result, intent or "(no id in the log)")
        kind = kind_of(result)
        self._write(record, call, kind, value, t, code_of(result))
        if kind is not OpType.OK:
            return
        if call.f == "send" and result != "replay" and not self._tells_deliveries:
            self._arrive(record, intent, t)

    def _granted(self, person: Person, record: Record, t: int) -> None:
        """A lease is given, and known to its holder from then on."""
        if self._numbers_grants:
            person.grants += 1
            record.token = person.held[record.agent or NOBODY] = person.grants
        if record.token is None:
            return
        if person.first_token is None:
            person.first_token = record.token
        if len(person.given_ns) >= TOKENS_KEPT:
            person.given_ns.clear()
        person.given_ns[record.token] = t

    def _write(  # noqa: PLR0917 - a line of the history, in its order
        self,
        record: Record,
        call: Call,
        kind: OpType,
        value: MappingOf[str, Any],
        t: int,
        code: str | None = None,
    ) -> None:
        self._put(
            OpEvent(
                t=t,
                race=RACE,
                agent=call.agent,
                process=f"{call.agent}#{call.op}",
                op=call.op,
                type=kind,
                f=call.f,
                contact=record.contact,
                value=value,
                code=code,
            )
        )

    # -- deliveries and decisions ----------------------------------------------------------------

    def _delivery(self, record: Record) -> None:
        person, intent = self._person(record), self._intent(record)
        if record.message_id and not (record.key or record.intent):
            intent = person.intents.get(record.message_id, intent)
        _, end_ns = self._doubt.span(record)
        if not self._tells_sends or intent not in person.sent:
            if self._tells_sends:
                self._assumed["delivery without a send"] += 1
            self._imply_send(person, record, intent)
        self._arrive(record, intent, end_ns)

    def _imply_send(self, person: Person, record: Record, intent: str) -> None:
        """A send that the log does not hold: some time before its delivery, under whatever lease."""
        begin_ns, end_ns = self._doubt.span(record)
        if not self._doubt.by_commit:
            begin_ns -= self._settle_ns
        call = Call(record, "send", op=_name(record, 9), t=begin_ns, intent=intent)
        person.sent.add(intent)
        self._write(record, call, OpType.INVOKE, asked(record, "send", None, intent), begin_ns)
        value = self._answers.answered(record, "send", "ok", intent)
        self._write(record, call, OpType.OK, value, end_ns)

    def _arrive(self, record: Record, intent: str, t: int) -> None:
        self._put(
            DeliveryEvent(
                t=t,
                race=RACE,
                intent=intent,
                recipient=record.recipient,
                message_id=record.message_id or intent,
            )
        )

    def _decision(self, record: Record, action: Action, seq: int, state: Any) -> AuditEvent:
        event, decided = decision(record, action, begun=action.f in self._begun)
        value: dict[str, Any] = {
            "seq": seq,
            "at_ms": record.t // 1_000_000,
            "actor": record.agent or NOBODY,
            "event": event,
            "key": record.contact,
            "decision": decided,
            "token": record.token,
            "owner": record.owner or None,
            "reasons": [],
            "state": state or {},
            "message_id": record.message_id or None,
            "idempotency_key": record.key or None,
        }
        return AuditEvent(t=record.t, race=RACE, seq=seq, value=value)


def _when(item: tuple[int, int, LogEvent]) -> tuple[int, int]:
    return item[:2]


def _name(record: Record, place: int) -> str:
    """The operation's id: the line that begins it, so that a finding leads back to the log."""
    item = f"#{record.item + 1}" if record.item else ""
    part = f".{record.part}" if record.part else ""
    return f"L{record.line}{item}{part}{f'-{place}' if place else ''}"


__all__ = ["RACE", "Builder", "LogEvent"]
