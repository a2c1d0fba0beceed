"""A history for the checkers that Elle's command line offers, so that others can check us.

- `elle_tokens`, model ``list-append``: the tokens granted for a contact are appended to its list. Whoever
  renews, releases or sends under a token has read the list up to it; a refusal as stale has read it up to
  the stored token; at the end all lists are read whole, in the order of their tokens (spec: L4). A stale
  send that was let through is then a read of an old list after a newer one was written.
- `set_of_sends`, model ``set``: each acknowledged send is in what arrived, and nothing else is.
- `counter_of_sends`, model ``counter``: no more arrived than was asked for, however often it was tried.

An operation that can't be said in a form is left out and counted; nothing is invented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from .contract import Code
from .history import AnyEvent, DeliveryEvent, Operation, OpEvent, OpType, Pairer

TYPES = {OpType.INVOKE: "invoke", OpType.OK: "ok", OpType.FAIL: "fail", OpType.INFO: "info"}
"""Our types of events to Jepsen's."""
_HOLDERS = frozenset({"renew", "release"})
_READER = "the receiving mailbox"


class Processes:
    """Numbers for processes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __getitem__(self, process: str) -> int:
        return self._numbers.setdefault(process, len(self._numbers))


def operations_of(events: Iterable[AnyEvent]) -> Iterator[tuple[OpEvent, Operation]]:
    """Each event of an operation, with the operation as it stands after it."""
    pairer = Pairer()
    for event in events:
        if isinstance(event, OpEvent):
            yield event, pairer.feed(event)


Transaction = list[list[Any]]
"""Micro-operations: ``["append", contact, token]`` or ``["r", contact, tokens]``."""


def elle_tokens(events: Iterable[AnyEvent], left: Counter[str]) -> Iterator[dict[str, Any]]:
    """The tokens of each contact as a list, in transactions for Elle's list-append model.

    Args:
        events: Of one race.
        left: Counts what can't be said in this form.
    """
    listed = list(operations_of(events))
    lists = _Lists(op for event, op in listed if event.type is not OpType.INVOKE)
    wanted: dict[str, Transaction] = {}
    for event, op in listed:
        if event.type is OpType.INVOKE:
            continue
        told = lists.transaction(op)
        if told is None:
            left[f"{op.f} {op.type}"] += 1
        else:
            wanted[op.op] = told
    processes, index, last_ns = Processes(), 0, 0
    for event, _ in listed:
        last_ns = max(last_ns, event.t)
        told = wanted.get(event.op)
        if told is not None:
            invoke = event.type is OpType.INVOKE
            yield _line(index, told, processes[event.process], event.t, invoke=invoke)
            index += 1
    for invoke in (True, False):
        yield _line(index, lists.whole(), processes[_READER], last_ns + 1, invoke=invoke)
        index += 1


class _Lists:
    """Each contact's granted tokens, in their order.

    Args:
        ended: Operations that ended.
    """

    def __init__(self, ended: Iterable[Operation]) -> None:
        self._first: dict[tuple[str, int], str] = {}
        tokens: dict[str, set[int]] = {}
        for op in ended:
            token = op.answer.get("token")
            if op.f == "acquire" and op.type is OpType.OK and token:
                tokens.setdefault(op.contact, set()).add(token)
                self._first.setdefault((op.contact, token), op.op)
        self._tokens = {contact: sorted(each) for contact, each in tokens.items()}

    def transaction(self, op: Operation) -> Transaction | None:
        """What an operation has read or appended; None if that can't be said."""
        token = op.answer.get("token")
        if op.f == "acquire" and op.type is OpType.OK and token:
            # Elements are unique: a token granted again is a finding of ours, and no list of theirs.
            is_first = self._first[op.contact, token] == op.op
            return [["append", op.contact, token]] if is_first else None
        if op.f in _HOLDERS and op.type is OpType.OK:
            return self._read(op.contact, op.args.get("token") or token)
        if op.f == "send" and op.type is OpType.OK and not op.answer.get("replay"):
            return self._read(op.contact, (op.args.get("message") or {}).get("token"))
        if op.f == "send" and op.code == Code.STALE_FENCING_TOKEN:
            return self._read(op.contact, token)
        return None

    def _read(self, contact: str, token: int | None) -> Transaction | None:
        known = self._tokens.get(contact, [])
        if token not in known:
            return None
        return [["r", contact, known[: known.index(token) + 1]]]

    def whole(self) -> Transaction:
        """All lists, as the store leaves them."""
        return [["r", contact, tokens] for contact, tokens in self._tokens.items()]


def _line(
    index: int, told: Transaction, process: int, t_ns: int, *, invoke: bool
) -> dict[str, Any]:
    """One event of a transaction; before the answer nothing has been read."""
    asked = [[kind, key, None if kind == "r" else value] for kind, key, value in told]
    return {
        "index": index,
        "type": "invoke" if invoke else "ok",
        "f": "txn",
        "value": asked if invoke else told,
        "process": process,
        "time": t_ns,
    }


def set_of_sends(events: Iterable[AnyEvent]) -> Iterator[dict[str, Any]]:
    """Logical sends as the elements of a set, and what arrived as its final read (model: set).

    A replay adds nothing. The receiving mailbox reads once, at the end, as a process of its own.

    Args:
        events: Of one race.
    """
    kept, numbers, processes = list(events), Processes(), Processes()
    arrived = [numbers[intent] for intent in _arrivals(kept)]
    index = 0
    for event, op in operations_of(kept):
        intent = _intent(op)
        if intent:
            yield _flat(index, TYPES[event.type], "add", numbers[intent], processes, event)
            index += 1
    yield from _final_read(index, sorted(set(arrived)), processes, kept)


def counter_of_sends(events: Iterable[AnyEvent]) -> Iterator[dict[str, Any]]:
    """Logical sends as steps of a counter, and how much arrived as its final read (model: counter).

    However often one is tried it is one step, done if any try of it is acknowledged: so a duplicate is
    a counter that stands too high.

    Args:
        events: Of one race.
    """
    kept, processes = list(events), Processes()
    rank = {OpType.OK: 0, OpType.INFO: 1, OpType.INVOKE: 1, OpType.FAIL: 2}
    best: dict[str, Operation] = {}
    for event, op in operations_of(kept):
        intent = _intent(op)
        if intent and event.type is OpType.INVOKE:
            best.setdefault(intent, op)
        elif intent and rank[op.type] < rank[best[intent].type]:
            best[intent] = op
    steps = {op.op for op in best.values()}
    index = 0
    for event, op in operations_of(kept):
        if op.op in steps:
            yield _flat(index, TYPES[event.type], "add", 1, processes, event)
            index += 1
    yield from _final_read(index, len(list(_arrivals(kept))), processes, kept)


def _intent(op: Operation) -> str:
    """The logical send an operation is a try of, "" if it is none."""
    return (op.args.get("message") or {}).get("intent") or "" if op.f == "send" else ""


def _arrivals(events: Iterable[AnyEvent]) -> Iterator[str]:
    for event in events:
        if isinstance(event, DeliveryEvent) and event.intent:
            yield event.intent


def _flat(  # noqa: PLR0917 - a line of the file, in its order
    index: int, kind: str, f: str, value: Any, processes: Processes, event: OpEvent
) -> dict[str, Any]:
    process = processes[event.process]
    return {
        "index": index,
        "type": kind,
        "f": f,
        "value": value,
        "process": process,
        "time": event.t,
    }


def _final_read(
    index: int, value: Any, processes: Processes, events: list[AnyEvent]
) -> Iterator[dict[str, Any]]:
    """What the receiving mailbox holds when all is over."""
    last_ns = max((event.t for event in events), default=0)
    for place, (kind, told) in enumerate((("invoke", None), ("ok", value))):
        yield {
            "index": index + place,
            "type": kind,
            "f": "read",
            "value": told,
            "process": processes[_READER],
            "time": last_ns + 1,
        }


__all__ = [
    "TYPES",
    "Processes",
    "counter_of_sends",
    "elle_tokens",
    "operations_of",
    "set_of_sends",
]
