"""A run's history as pandas frames, with every column and its unit written down.

`COLUMNS` is the documentation and the schema at once. Times are milliseconds since the first event of
the history, as floats; ``*_store_ms`` are the store's own milliseconds since the Unix epoch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from leaserace.harness.contract import UsageError
from leaserace.harness.history import AnyEvent

from .picture import Picture, intent_of, message_of, pictures, token_of
from .waits import refusals, waits_ns

if TYPE_CHECKING:
    import pandas as pd

TEXT, MS, WHOLE, FLAG = "string", "float64", "Int64", "boolean"

_RACE = {"race": (TEXT, "the race it belongs to")}
COLUMNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "operations": _RACE
    | {
        "op": (TEXT, "id that joins invoke and completion, unique in a race"),
        "agent": (TEXT, "who called"),
        "process": (TEXT, "logical client; a new one after each unknown outcome"),
        "contact": (TEXT, "the person, the same for every spelling"),
        "f": (TEXT, "the mailbox method"),
        "address": (TEXT, "the recipient as the agent spelled it"),
        "outcome": (TEXT, "ok, fail, info (unknown) or invoke (never answered)"),
        "code": (TEXT, "refusal code, or why the outcome is unknown"),
        "token": (WHOLE, "fencing token granted, else the one given"),
        "invoked_ms": (MS, "when it began"),
        "completed_ms": (MS, "when it ended; missing while unanswered"),
        "duration_ms": (MS, "between the two"),
    },
    "leases": _RACE
    | {
        "contact": (TEXT, "the person"),
        "agent": (TEXT, "who held it"),
        "token": (WHOLE, "fencing token"),
        "granted_ms": (MS, "when the store granted it"),
        "ended_ms": (MS, "when it ended"),
        "held_ms": (MS, "between the two"),
        "waited_ms": (MS, "since the agent's first refused ask for the contact"),
        "ended_by": (TEXT, "released, freed by another agent, expired, open"),
        "overlaps": (FLAG, "another grant of the contact began while it lived"),
        "renewals": (WHOLE, "how often it was renewed"),
        "op": (TEXT, "the acquire that got it"),
    },
    "sends": _RACE
    | {
        "op": (TEXT, "id of the call"),
        "agent": (TEXT, "who sent"),
        "contact": (TEXT, "the person"),
        "intent": (TEXT, "id of the logical send; retries share it"),
        "key": (TEXT, "idempotency key"),
        "token": (WHOLE, "fencing token it was sent under"),
        "outcome": (TEXT, "as in operations"),
        "code": (TEXT, "as in operations"),
        "message_id": (TEXT, "Message-ID of the answer"),
        "replay": (FLAG, "an earlier call did the work"),
        "arrived": (WHOLE, "messages of this intent that reached the receiving mailbox"),
        "invoked_ms": (MS, "when it began"),
        "completed_ms": (MS, "when it ended"),
    },
    "refusals": _RACE
    | {
        "op": (TEXT, "id of the call"),
        "agent": (TEXT, "who was refused"),
        "contact": (TEXT, "the person"),
        "f": (TEXT, "the mailbox method"),
        "code": (TEXT, "why"),
        "owner": (TEXT, "who held the lease, if the answer says"),
        "repeat": (WHOLE, "the how-manieth such refusal of this agent on this contact in a row"),
        "t_ms": (MS, "when the answer came"),
    },
    "faults": _RACE
    | {
        "agent": (TEXT, "whom it struck; empty for store and transport"),
        "fault": (TEXT, "pause, crash, lost_reply, slow_reply, hold, skew, transport"),
        "point": (TEXT, "where it was aimed"),
        "begin_ms": (MS, "when it began"),
        "end_ms": (MS, "when it ended; missing if never"),
        "detail": (TEXT, "figures, as JSON"),
    },
    "deliveries": _RACE
    | {
        "t_ms": (MS, "when it arrived"),
        "intent": (TEXT, "its logical send"),
        "contact": (TEXT, "the person; empty if no send names the intent"),
        "agent": (TEXT, "who asked for it last before it arrived"),
        "message_id": (TEXT, "Message-ID header"),
        "recipient": (TEXT, "envelope recipient"),
        "number": (WHOLE, "1 for the first of its intent"),
        "duplicate": (FLAG, "number above 1"),
        "replied": (FLAG, "false if the receiving side dropped its reply"),
    },
    "decisions": _RACE
    | {
        "seq": (WHOLE, "position in the commit order"),
        "at_store_ms": (WHOLE, "the store's now"),
        "actor": (TEXT, "agent or person that asked"),
        "event": (TEXT, "the operation"),
        "key": (TEXT, "recipient key"),
        "decision": (TEXT, "granted, authorized, delivered, ... or a refusal code"),
        "token": (WHOLE, "fencing token it was about"),
        "owner": (TEXT, "lease owner in the state used"),
        "reasons": (TEXT, "every refusal that held, strongest first"),
        "message_id": (TEXT, "resulting Message-ID"),
        "idempotency_key": (TEXT, "key of the send"),
        "state": (TEXT, "policy state the decision was made on, as JSON"),
    },
}
"""Frame to its columns, in order, each with its type and what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """One frame a kind of thing; `COLUMNS` says what stands in each."""

    operations: pd.DataFrame
    leases: pd.DataFrame
    sends: pd.DataFrame
    refusals: pd.DataFrame
    faults: pd.DataFrame
    deliveries: pd.DataFrame
    decisions: pd.DataFrame

    def items(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Name and frame, in the order of `COLUMNS`."""
        return ((name, getattr(self, name)) for name in COLUMNS)

    def to_csv(self, folder: Path) -> list[Path]:
        """Write one CSV file a frame, values as they were recorded.

        Args:
            folder: Made if absent.
        """
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, frame in self.items():
            paths.append(folder / f"{name}.csv")
            frame.to_csv(paths[-1], index=False, lineterminator="\n")
        return paths

    def to_parquet(self, folder: Path) -> list[Path]:
        """Write one Parquet file a frame.

        Args:
            folder: Made if absent.

        Raises:
            UsageError: The extra ``parquet`` is not installed.
        """
        try:
            import pyarrow as pa  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
        except ImportError as error:
            raise UsageError(
                "Parquet needs an extra: pip install 'leaserace[parquet]', or export CSV"
            ) from error
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, frame in self.items():
            paths.append(folder / f"{name}.parquet")
            frame.to_parquet(paths[-1], index=False)
        return paths


def frames(events: Iterable[AnyEvent]) -> Frames:
    """The frames of a history.

    Args:
        events: A history, or any stream of events in order.

    Raises:
        InvalidHistory: The events can't be a history.
    """
    return frames_of(pictures(events).values())


def frames_of(races: Iterable[Picture]) -> Frames:
    """The frames of races that are pictures already."""
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
    pictures_ = list(races)
    zero_ns = min((picture.begin_ns for picture in pictures_), default=0)
    for picture in pictures_:
        for name, make in _MAKERS.items():
            rows[name].extend(make(picture, zero_ns))
    return Frames(**{name: _frame(name, rows[name]) for name in COLUMNS})


def _frame(name: str, rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    columns = COLUMNS[name]
    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    kinds = {column: kind for column, (kind, _) in columns.items()}
    return typed_frame(kinds, dict(zip(columns, values, strict=True)))


def typed_frame(kinds: Mapping[str, str], cells: Mapping[str, Iterable[Any]]) -> pd.DataFrame:
    """A frame whose columns have these types, also where it is empty."""
    import pandas as pd

    make: Any = pd.array
    return pd.DataFrame({name: make(list(cells[name]), dtype=kinds[name]) for name in kinds})


def _ms(t_ns: int | None, zero_ns: int) -> float:
    return float("nan") if t_ns is None else (t_ns - zero_ns) / 1e6


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _whole(value: object) -> int | None:
    """A whole number that fits 64 bits; whatever else a history holds there is missing."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    return None


def _json(value: object) -> str | None:
    return msgspec.json.encode(value, order="sorted").decode() if value else None


def _operations(picture: Picture, zero_ns: int) -> Iterator[tuple[Any, ...]]:
    for op in picture.operations:
        begin_ms, end_ms = _ms(op.invoked_ns, zero_ns), _ms(op.completed_ns, zero_ns)
        yield (
            picture.race,
            op.op,
            op.agent,
            op.process,
            op.contact,
            op.f,
            _text(op.args.get("address") or message_of(op).get("to")),
            op.type.value,
            _text(op.code),
            _whole(token_of(op)),
            begin_ms,
            end_ms,
            end_ms - begin_ms,
        )


def _leases(picture: Picture, zero_ns: int) -> Iterator[tuple[Any, ...]]:
    waits = dict(waits_ns(picture.operations))
    for span in picture.leases:
        yield (
            picture.race,
            span.contact,
            span.agent,
            _whole(span.token),
            _ms(span.begin_ns, zero_ns),
            _ms(span.end_ns, zero_ns),
            (span.end_ns - span.begin_ns) / 1e6,
            waits.get(span.op, 0) / 1e6,
            span.ended_by,
            span.overlaps,
            len(span.renewals_ns),
            span.op,
        )


def _sends(picture: Picture, zero_ns: int) -> Iterator[tuple[Any, ...]]:
    arrived = Counter(arrival.intent for arrival in picture.arrivals)
    for op in picture.operations:
        if op.f != "send":
            continue
        message, intent = message_of(op), intent_of(op)
        yield (
            picture.race,
            op.op,
            op.agent,
            op.contact,
            intent,
            _text(message.get("key")),
            _whole(token_of(op)),
            op.type.value,
            _text(op.code),
            _text(op.answer.get("message_id")),
            bool(op.answer.get("replay")),
            arrived[intent],
            _ms(op.invoked_ns, zero_ns),
            _ms(op.completed_ns, zero_ns),
        )


def _refusals(picture: Picture, zero_ns: int) -> Iterator[tuple[Any, ...]]:
    for op, repeat in refusals(picture.operations):
        yield (
            picture.race,
            op.op,
            op.agent,
            op.contact,
            op.f,
            str(op.code),
            _text(op.answer.get("owner")),
            repeat,
            _ms(op.completed_ns, zero_ns),
        )


def _faults(picture: Picture, zero_ns: int) -> Iterator[tuple[Any, ...]]:
    for span in picture.faults:
        yield (
            picture.race,
            span.agent,
            span.fault,
            span.point,
            _ms(span.begin_ns, zero_ns),
            _ms(span.end_ns, zero_ns),
            _json(span.detail),
        )


def _deliveries(picture: Picture, zero_ns: int) -> Iterator[tuple[Any, ...]]:
    for arrival in picture.arrivals:
        yield (
            picture.race,
            _ms(arrival.t_ns, zero_ns),
            arrival.intent,
            arrival.contact,
            arrival.agent,
            arrival.message_id,
            arrival.recipient,
            arrival.number,
            arrival.number > 1,
            arrival.replied,
        )


def _decisions(picture: Picture, _: int) -> Iterator[tuple[Any, ...]]:
    for event in picture.decisions:
        value = event.value
        yield (
            picture.race,
            _whole(event.seq),
            _whole(value.get("at_ms")),
            _text(value.get("actor")),
            _text(value.get("event")),
            _text(value.get("key")),
            _text(value.get("decision")),
            _whole(value.get("token")),
            _text(value.get("owner")),
            " ".join(map(str, value.get("reasons", ()))) or None,
            _text(value.get("message_id")),
            _text(value.get("idempotency_key")),
            _json(value.get("state")),
        )


_MAKERS = {
    "operations": _operations,
    "leases": _leases,
    "sends": _sends,
    "refusals": _refusals,
    "faults": _faults,
    "deliveries": _deliveries,
    "decisions": _decisions,
}
