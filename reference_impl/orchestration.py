"""The layers in front of the key, in the agent's own application (spec: O1, O2, O3).

The key at the mailbox is layer one. Layer two is a table of what was sent, which the agent's code asks
before it calls send: it has no window. Layer three keeps the results of finished steps, so that a
restart under the same run id goes on where the last one stopped. No layer is enough alone: the
mailbox's window ends, the table is written after the send, and a step may die before its result is
kept. Both keep their rows in a store of the application's; on SQLite open it with ``full_sync``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol, TypeVar

import msgspec

from leaserace.harness.contract import Message, Refused, Sent

from .idempotency import compared
from .recipes import DELIMITER, name_part
from .records import SentRow, StepRow
from .stores.protocol import BATCH_ROWS, Store, Transaction

Result = TypeVar("Result")
DEADLINE_S = 5.0
"""How long the application waits for its own store."""


class Sends(Protocol):
    """What of a mailbox is needed here."""

    def send(self, message: Message) -> Sent | Refused:
        """Send one message."""
        ...


class StepChanged(Exception):  # noqa: N818 - it is what happened to the step
    """A finished step is asked for again with another input: the run id or the name is wrong."""


class SentTable:
    """Layer two: what was sent, for ever, by the name of the logical send (spec: O1, O3).

    Args:
        store: The application's.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def send(self, mailbox: Sends, message: Message, logical: str | None = None) -> Sent | Refused:
        """Send unless the table says it was sent; what is told of the mailbox is as it answered.

        Two processes that ask at once may both find nothing: then the key decides (spec: O1).

        Args:
            mailbox: Who sends.
            message: What.
            logical: Name of the logical send where that is not the message's key: a key with a run id
                in it is another one tomorrow, the action of a campaign is not (spec: K7, O3).

        Raises:
            ValueError: There is neither a name nor a key.
        """
        name = _row_key(logical if logical is not None else message.key or "")
        earlier = self._find(name)
        if earlier is not None:
            return Sent(message_id=earlier.message_id, replay=True)
        answer = mailbox.send(message)
        if isinstance(answer, Sent):
            self._record(name, answer.message_id)
        return answer

    def message_id(self, logical: str) -> str | None:
        """The Message-ID this logical send left under, or None if it is not known to have left."""
        row = self._find(_row_key(logical))
        return row.message_id if row is not None else None

    def _find(self, name: str) -> SentRow | None:
        with self._store.transaction(DEADLINE_S) as tx:
            return tx.get(SentRow, name)

    def _record(self, name: str, message_id: str) -> None:
        with self._store.transaction(DEADLINE_S) as tx:
            if tx.get(SentRow, name) is None:
                tx.put(SentRow(key=name, message_id=message_id, at_ms=tx.now_ms))


def _row_key(name: str) -> str:
    """Compared as keys are (spec: K3)."""
    key = compared(name)
    if not key:
        raise ValueError("a send is looked up by its key or by a name: give one")
    return key


class Run:
    """Layer three: one run of an agent, its finished steps kept (spec: O1, O2).

    A framework's step calls `step` with its own name::

        run = Run(store, run_id)
        draft = run.step("draft", lambda: model.write(contact), str)
        run.send("send", mailbox, message(draft))

    Args:
        store: The application's.
        run_id: The same after a restart; a new one runs everything again (spec: O2). For work that a
            received message starts, make it from that message's id (spec: O4).

    Raises:
        InvalidPart: The run id can't be used.
    """

    def __init__(self, store: Store, run_id: str) -> None:
        self.run_id = run_id
        self._store = store
        self._prefix = name_part("run_id", run_id) + DELIMITER

    def step(
        self, name: str, action: Callable[[], Result], kind: Any = Any, about: str = ""
    ) -> Result:
        """The result of a step: of its first finish, whenever that was.

        It is durable before this returns, and so before the next step begins. An action that raises
        has not finished and is run again; what it may have done by then, layers one and two catch.

        Args:
            name: Of the step, one a run.
            action: Does it; its result is what JSON can carry, or of `kind`.
            kind: Type of the result, such as a dataclass.
            about: What the step works on; a finished step is not replayed for something else.

        Raises:
            InvalidPart: The name can't be used.
            StepChanged: The step was finished with another `about`.
        """
        return self._result(name_part("step", name), name, action, kind, about)

    def _result(
        self, part: str, name: str, action: Callable[[], Result], kind: Any, about: str = ""
    ) -> Result:
        key = self._prefix + part
        with self._store.transaction(DEADLINE_S) as tx:
            row = tx.get(StepRow, key)
        if row is None:
            row = self._finish(key, name, about, msgspec.json.encode(action()).decode())
        if row.about != about:
            raise StepChanged(
                f"step {name!r} of run {self.run_id!r} was about {row.about!r}, not {about!r}: "
                "give another thing another step or run"
            )
        result: Result = msgspec.json.decode(row.result, type=kind)
        return result

    def each(
        self, name: str, items: Iterable[str], action: Callable[[str], Result], kind: Any = Any
    ) -> dict[str, Result]:
        """One step with an effect for each item, each finished by itself (spec: K7, X18).

        One that fails keeps none of the others from being tried; a restart repeats only what failed.

        Args:
            name: Of the step.
            items: Recipients, for example; one twice is done once.
            action: Does it for one item.
            kind: Type of one result.

        Raises:
            ExceptionGroup: Some failed; the others are finished.
        """
        results: dict[str, Result] = {}
        part = name_part("step", name)
        failed: list[Exception] = []
        for item in dict.fromkeys(items):
            try:
                own = part + DELIMITER + name_part("item", item)
                results[item] = self._result(own, f"{name} {item}", partial(action, item), kind)
            except Exception as error:  # noqa: BLE001 - raised again below, with the others
                failed.append(error)
        if failed:
            raise ExceptionGroup(f"step {name!r}: {len(failed)} of its effects failed", failed)
        return results

    def send(self, name: str, mailbox: Sends, message: Message) -> Sent | Refused:
        """A step that sends: finished once the message was sent; a refusal is no end (spec: R, K7).

        Args:
            name: Of the step.
            mailbox: Who sends; a `SentTable` may stand before it.
            message: What; its key is made from the run id and this step's name (spec: K7).

        Raises:
            StepChanged: The step has sent a message under another key.
        """
        refused: list[Refused] = []

        def act() -> Sent:
            answer = mailbox.send(message)
            if isinstance(answer, Refused):
                refused.append(answer)
                raise _NotSent
            return answer

        try:
            return self.step(name, act, Sent, about=message.key or "")
        except _NotSent:
            return refused[0]

    def finished(self) -> list[str]:
        """Names of the finished steps, in the order in which they finished."""
        with self._store.transaction(DEADLINE_S) as tx:
            rows = self._rows(tx)
        return [row.step for row in sorted(rows, key=lambda row: row.number)]

    def forget(self) -> None:
        """Remove the run's steps: the same run id then begins anew."""
        with self._store.transaction(DEADLINE_S) as tx:
            for row in self._rows(tx):
                tx.delete(StepRow, row.key)

    def _finish(self, key: str, name: str, about: str, result: str) -> StepRow:
        """Keep the result; of two processes under one run id the first to finish counts."""
        with self._store.transaction(DEADLINE_S) as tx:
            row = tx.get(StepRow, key)
            if row is None:
                number = 1 + len(self._rows(tx))
                row = StepRow(
                    key=key, step=name, about=about, result=result, number=number, at_ms=tx.now_ms
                )
                tx.put(row)
            return row

    def _rows(self, tx: Transaction) -> list[StepRow]:
        found: list[StepRow] = []
        after = self._prefix
        while True:
            rows = tx.rows(StepRow, after, BATCH_ROWS)
            mine = [row for row in rows if row.key.startswith(self._prefix)]
            found += mine
            if len(mine) < BATCH_ROWS:
                return found
            after = mine[-1].key


class _NotSent(Exception):  # noqa: N818 - how a refusal leaves a step unfinished
    pass
