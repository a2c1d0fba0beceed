"""Leases as spans of time: from grant to release or expiry, by the store's clock (spec: L5)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from leaserace.harness.history import Operation, OpType

from .storetime import StoreTime, store_now_ms

RELEASED, FREED, EXPIRED, OPEN = "released", "freed by another agent", "expired", "open"
LIMIT = 1 << 62
"""No time is further away, whatever a broken history says."""
MISSING = -LIMIT - 1
_CALLS = frozenset({"acquire", "renew", "release"})


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseCall:
    """What an answer says of a lease or of the store's clock.

    Args:
        f: The mailbox method.
        agent: Who called.
        contact: For whom.
        token: Fencing token granted or given, or None.
        invoked_ns: When it began.
        completed_ns: When it ended.
        now_ms: The store's now in the answer, or None.
        expires_ms: The store's expiry in the answer, or None.
        op: Id of the acquire, "" of other calls.
    """

    f: str
    agent: str
    contact: str
    token: int | None
    invoked_ns: int
    completed_ns: int
    now_ms: int | None
    expires_ms: int | None
    op: str

    @classmethod
    def of(cls, op: Operation, token: int | None) -> LeaseCall | None:
        """The call of an operation that succeeded; None if it says nothing of either."""
        now_ms = store_now_ms(op)
        if op.type is not OpType.OK or (op.f not in _CALLS and now_ms is None):
            return None
        expires_ms = op.answer.get("expires_at_ms")
        return cls(
            f=op.f,
            agent=op.agent,
            contact=op.contact,
            token=token,
            invoked_ns=op.invoked_ns,
            completed_ns=op.completed_ns or op.invoked_ns,
            now_ms=_fitting(now_ms),
            expires_ms=_fitting(expires_ms),
            op=op.op if op.f == "acquire" else "",
        )


def _fitting(value: object) -> int | None:
    """A time that is one; a target may answer anything."""
    return value if isinstance(value, int) and abs(value) <= LIMIT else None


class LeaseCalls:
    """Calls of a race in the order of their ends, in columns: half a million of them fit."""

    def __init__(self) -> None:
        self._names: list[tuple[str, ...]] = []
        self._kinds: dict[tuple[str, ...], int] = {}
        self._kind = array("l")
        self._tokens: list[int | None] = []
        self._times = tuple(array("q") for _ in range(4))
        self._ops: list[str] = []

    def append(self, call: LeaseCall) -> None:
        """Take one in."""
        kind = (call.f, call.agent, call.contact)
        number = self._kinds.setdefault(kind, len(self._names))
        if number == len(self._names):
            self._names.append(kind)
        self._kind.append(number)
        self._tokens.append(call.token)
        self._ops.append(call.op)
        times = (call.invoked_ns, call.completed_ns, call.now_ms, call.expires_ms)
        for column, value in zip(self._times, times, strict=True):
            column.append(MISSING if value is None else max(-LIMIT, min(LIMIT, value)))

    def __len__(self) -> int:
        return len(self._ops)

    def __getitem__(self, place: int) -> LeaseCall:
        f, agent, contact = self._names[self._kind[place]]
        invoked_ns, completed_ns, now_ms, expires_ms = (column[place] for column in self._times)
        return LeaseCall(
            f=f,
            agent=agent,
            contact=contact,
            token=self._tokens[place],
            invoked_ns=invoked_ns,
            completed_ns=completed_ns,
            now_ms=None if now_ms == MISSING else now_ms,
            expires_ms=None if expires_ms == MISSING else expires_ms,
            op=self._ops[place],
        )

    def __iter__(self) -> Iterator[LeaseCall]:
        return map(self.__getitem__, range(len(self)))


def lease_spans(calls: LeaseCalls, lease_s: float, end_ns: int) -> list[LeaseSpan]:
    """Grants, in the order the store made them, each with what ended it by the store's clock.

    Args:
        calls: Of one race.
        lease_s: Length to assume where an answer names no expiry.
        end_ns: When the race ended.
    """
    time = StoreTime((call.invoked_ns, call.completed_ns, call.now_ms) for call in calls)
    made: list[LeaseSpan] = []
    live: dict[tuple[str, int | None], LeaseSpan] = {}
    newest: dict[str, LeaseSpan] = {}
    placed_ns = array("q", (_at(time, call) for call in calls))
    for place in sorted(range(len(calls)), key=placed_ns.__getitem__):
        t_ns, call = placed_ns[place], calls[place]
        key = (call.contact, call.token)
        span = live.get(key)
        if call.f == "acquire":
            before = newest.get(call.contact)
            if before is not None and before.end_ns > t_ns:
                before.overlaps = True
            live[key] = newest[call.contact] = span = LeaseSpan(
                agent=call.agent,
                contact=call.contact,
                token=call.token or 0,
                begin_ns=t_ns,
                end_ns=_expiry_ns(time, call, t_ns, lease_s),
                op=call.op,
            )
            made.append(span)
        elif span is not None and call.f == "renew":
            span.renewals_ns.append(t_ns)
            span.end_ns = _expiry_ns(time, call, t_ns, lease_s)
        elif span is not None and call.f == "release" and t_ns < span.end_ns:
            span.end_ns = t_ns
            span.ended_by = RELEASED if call.agent == span.agent else FREED
            del live[key]
    _close(made, end_ns)
    return made


def _close(spans: Iterable[LeaseSpan], end_ns: int) -> None:
    """What nobody released expired, or lives at the race's end; spans end with the race."""
    for span in spans:
        if span.ended_by is OPEN and span.end_ns <= end_ns:
            span.ended_by = EXPIRED
        span.end_ns = max(span.begin_ns, min(span.end_ns, end_ns))


def _at(time: StoreTime, call: LeaseCall) -> int:
    return time.of_answer(call.invoked_ns, call.completed_ns, call.now_ms)


def _expiry_ns(time: StoreTime, call: LeaseCall, t_ns: int, lease_s: float) -> int:
    """When the lease of an answer ends, on the history's clock."""
    if call.expires_ms is not None and call.now_ms is not None:
        return t_ns + (call.expires_ms - call.now_ms) * 1_000_000
    if call.expires_ms is not None and time.offset_ns is not None:
        return call.expires_ms * 1_000_000 + time.offset_ns
    return t_ns + round(lease_s * 1e9)
