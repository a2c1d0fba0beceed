"""A run told as a column per agent, one line per step, with the finding pinned."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..history import AnyEvent, DeliveryEvent, FaultEvent, OpEvent, OpType
from ..verdict import Finding
from .world import EPOCH_MS

COLUMN_MIN, COLUMN_MAX = 24, 44


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line.

    Args:
        at_ms: The store's clock, from the run's begin.
        who: The column.
        text: What happened.
        op: Id of the operation, or "".
        is_time: It only says that time passed.
    """

    at_ms: int
    who: str
    text: str
    op: str = ""
    is_time: bool = False


def steps_of(events: Iterable[AnyEvent]) -> list[Step]:
    """The run's steps: calls, mail that arrives, faults, and the time that passes between them.

    A call that nothing interrupts is one step; else its begin and its end are one each.
    """
    told = [event for event in events if isinstance(event, OpEvent | FaultEvent | DeliveryEvent)]
    teller = _Teller()
    steps: list[Step] = []
    now_ms = 0
    for event, following in zip(told, [*told[1:], None], strict=True):
        step = teller.step(event, following)
        if step is None:
            continue
        if step.at_ms > now_ms:
            text = f"{_seconds(step.at_ms - now_ms)} pass by the store's clock"
            steps.append(Step(at_ms=step.at_ms, who="", text=text, is_time=True))
            now_ms = step.at_ms
        steps.append(step)
    return steps


class _Teller:
    """Puts events into words; it remembers calls that are under way and who sent what."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._senders: dict[str, str] = {}
        self._keys: dict[str, str] = {}

    def step(self, event: OpEvent | FaultEvent | DeliveryEvent, following: object) -> Step | None:
        """The event as a step, or None where the next one tells of both."""
        at_ms = event.t // 1_000_000 - EPOCH_MS
        if isinstance(event, DeliveryEvent):
            text = f"{_short(event.intent)} arrives in the mailbox"
            return Step(at_ms=at_ms, who=self._senders.get(event.intent, ""), text=text)
        if isinstance(event, FaultEvent):
            text = _fault(event)
            who = event.detail.get("seat", event.agent)
            return Step(at_ms=at_ms, who=who, text=text) if text else None
        who = event.process.partition("#")[0]
        if event.type is OpType.INVOKE:
            call = self._call(event, who)
            if isinstance(following, OpEvent) and following.op == event.op:
                self._calls[event.op] = call
                return None
            return Step(at_ms=at_ms, who=who, text=f"{call} …", op=event.op)
        call = self._calls.pop(event.op, f"… {event.f}")
        return Step(at_ms=at_ms, who=who, text=f"{call} → {_answer(event)}", op=event.op)

    def _call(self, event: OpEvent, who: str) -> str:
        value = event.value
        if event.f == "send":
            message: Mapping[str, Any] = value["message"]
            self._senders.setdefault(message["intent"], who)
            how = message.get("endpoint", event.f)
            other = self._other_key(message)
            return f"{how} {_short(message['intent'])} with token {message['token']}{other}"
        if event.f in {"lookup", "cancel"}:
            return f"{event.f} {value.get('key')}"
        if event.f == "receive":
            return f"receive {value['event']['event_id']}"
        if event.f in {"renew", "release"}:
            return f"{event.f} token {value.get('token')}"
        if event.f == "suppress":
            return f"suppress ({value.get('reason')})"
        return event.f

    def _other_key(self, message: Mapping[str, Any]) -> str:
        """Said where a try does not carry the key of the message's first one (spec: K9)."""
        key = (message.get("key") or "").strip().casefold()
        return "" if self._keys.setdefault(message["intent"], key) == key else " under another key"


def _answer(event: OpEvent) -> str:
    value = event.value
    if event.type is OpType.INFO and event.code in {"reply_lost", None}:
        return "no reply"
    if event.code:
        return str(event.code)
    match value.get("answer"):
        case "Lease":
            until = _seconds(value["expires_at_ms"] - EPOCH_MS)
            return f"token {value['token']} until {until}"
        case "Sent":
            return "replayed" if value.get("replay") else "sent"
        case "Found":
            return str(value.get("state"))
        case "Released":
            return "released"
        case "Cleaned":
            return f"{value.get('rows')} rows removed"
        case "Taken":
            return "taken, the first" if value.get("first") else "taken before"
        case _:
            return "noted"


def _fault(event: FaultEvent) -> str:
    if event.fault == "crash":
        return f"crashes at {event.point}" if event.phase == "begin" else "starts again"
    if event.phase != "begin":
        return ""
    match event.fault:
        case "store_crash":
            return "the store crashes and comes back"
        case "lost_reply":
            return "the reply is lost"
        case "transport":
            silent = event.detail.get("behaviour") == "silent"
            return (
                "the transport takes it and says nothing" if silent else "the transport refuses it"
            )
        case "skew":
            return _clock_of(event.detail)
        case _:
            return event.fault.replace("_", " ")


def _clock_of(detail: Mapping[str, Any]) -> str:
    drift = detail.get("drift")
    if drift:
        return f"its clock now runs at {1 + drift:g} of the speed"
    return f"its clock now stands {detail.get('offset_ms', 0) / 1000:+g} s off"


def _short(intent: str) -> str:
    return intent.rpartition(".")[2] or "a message"


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


def tell(events: Sequence[AnyEvent], findings: Sequence[Finding], *, again: str = "") -> str:
    """The story as text.

    Args:
        events: The run.
        findings: What the rules found; the first one is told.
        again: The line that runs it again.
    """
    finding = findings[0]
    steps = steps_of(events)
    columns = list(dict.fromkeys(step.who for step in steps if step.who))
    width = max(COLUMN_MIN, min(COLUMN_MAX, max((len(step.text) for step in steps), default=0)))
    pinned = _pinned(steps, finding)
    lines = [f"{finding.message}.", f"{finding.rule} (spec {', '.join(finding.spec)})", ""]
    lines.append("     " + "  ".join(name.ljust(width) for name in columns).rstrip())
    for number, step in enumerate(steps, start=1):
        lines += _lines(number, step, columns, width)
        if number == pinned:
            lines.append(f"     ▲ {finding.rule}: here")
    if pinned == 0:
        lines.append(f"     ▲ {finding.rule}: at the end")
    if again:
        lines += ["", again]
    return "\n".join(lines) + "\n"


def _pinned(steps: Sequence[Step], finding: Finding) -> int:
    """Number of the last step that is part of the proof; 0 if none is."""
    numbers = [number for number, step in enumerate(steps, start=1) if step.op in finding.ops]
    return max(numbers, default=0)


def _lines(number: int, step: Step, columns: Sequence[str], width: int) -> list[str]:
    if step.is_time:
        return [f"{number:3}  ── {step.text} " + "─" * 8]
    place = columns.index(step.who) if step.who in columns else 0
    indent = " " * (place * (width + 2))
    parts = textwrap.wrap(step.text, width) or [""]
    return [
        (f"{number:3}  " if first else "     ") + indent + part
        for first, part in zip([True] + [False] * (len(parts) - 1), parts, strict=True)
    ]
