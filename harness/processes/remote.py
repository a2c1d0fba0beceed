"""The coordinator's side of the two servers of a race: the target's host and the receiving mailbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..contract import Target, UsageError
from ..faults import Behaviour
from ..kit import CONTRACT_MARK
from ..targets import capabilities_of
from . import door, wire
from .deadlines import RaceAborted
from .ledger import Ledger


class Declared(Target):
    """What a target in another process declares of itself.

    Args:
        facts: Name, capabilities, points and fixed lengths.

    Raises:
        UsageError: A capability has no such name.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._name = str(facts["name"])
        self.capabilities = capabilities_of(self._name, facts["capabilities"])
        self.points = frozenset(facts["points"])
        self.fixed = facts["fixed"]

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._name


class Host:
    """The target's own process.

    Args:
        process: A process that waits to be told its role.
        target: The target's name.
        log: File its output goes to.
    """

    def __init__(self, process: door.Child, target: str, log: Path) -> None:
        self.process = process
        self._target = target
        self.log = log
        process.be("host", log, {"target": target})

    def declared(self, within_s: float) -> Declared:
        """What the target declares of itself.

        Raises:
            UsageError: It can't be loaded, or not in time.
        """
        try:
            reply = self.process.reply(within_s)
        except EOFError:
            raise UsageError(f"target {self._target!r}: loading it ended the process") from None
        if reply is None:
            raise UsageError(
                f"target {self._target!r}: loading it did not end within {within_s:g} s"
            )
        if isinstance(reply, wire.Failed):
            raise UsageError(reply.why if reply.usage else f"target {self._target!r}: {reply.why}")
        assert isinstance(reply, wire.Ready)
        return Declared(reply.data)

    def begin(self, what: str, data: Mapping[str, Any] | None = None) -> None:
        """Begin a call of a method of the target."""
        self.process.send(wire.Ask(what=what, data=data or {}))

    def ask(self, ledger: Ledger, what: str, within_s: float) -> Any:
        """Call a method of the target; raises as `result` does."""
        self.begin(what)
        return self.result(ledger, what, within_s)

    def result(self, ledger: Ledger, what: str, within_s: float) -> Any:
        """Wait for what was begun.

        Raises:
            UsageError: The target raised.
            RaceAborted: It hung, died, or gave what the contract does not allow: that is a finding.
        """
        try:
            reply = self.process.reply(within_s)
        except EOFError:
            self._give_up(ledger, f"the target's process died in {what}()")
        if reply is None:
            self._give_up(ledger, f"the target's {what}() did not return within {within_s:g} s")
        if isinstance(reply, wire.Failed) and reply.broken:
            ledger.mark(CONTRACT_MARK, {"what": reply.why})
            ledger.problem(reply.why)
            raise RaceAborted(reply.why)
        if isinstance(reply, wire.Failed):
            raise UsageError(f"target {self._target!r}: {reply.why}")
        assert isinstance(reply, wire.Told)
        return reply.value

    def _give_up(self, ledger: Ledger, why: str) -> NoReturn:
        self.process.kill()
        text = f"{why} and was cut off; its log is {self.log}"
        ledger.problem(text)
        raise RaceAborted(text)

    def end(self) -> None:
        """Tell it to end; the door makes sure of it."""
        self.process.send(wire.End())


class Mail:
    """The receiving mailbox.

    Args:
        process: A process that waits to be told its role.
        log: File its output goes to.
        host: Address to listen at.
        port: Port to listen at; 0 for any that is free.
        within_s: How long one answer may take.
        searchable: Whether it can be asked for a message by its Message-ID.
    """

    def __init__(
        self,
        process: door.Child,
        log: Path,
        *,
        host: str,
        port: int,
        within_s: float,
        searchable: bool = False,
    ) -> None:
        self.process = process
        self._within_s = within_s
        self._behaviour: Behaviour | None = None
        process.be("sink", log, {"host": host, "port": port, "searchable": searchable})

    def address(self) -> tuple[str, int]:
        """Where it listens, once it does.

        Raises:
            UsageError: The port is taken.
        """
        reply = self._reply()
        if isinstance(reply, wire.Failed):
            raise UsageError(reply.why)
        assert isinstance(reply, wire.Ready)
        return reply.data["host"], reply.data["port"]

    def race(self, path: Path) -> None:
        """Count afresh, and write deliveries to `path`."""
        self._ask(wire.Race(path=str(path)))
        self.behave(Behaviour.ACCEPT, 0.0)

    def behave(self, behaviour: Behaviour, slow_s: float) -> None:
        """Say what it does from now on."""
        if behaviour is not self._behaviour:
            self._ask(wire.Behave(behaviour=behaviour, slow_s=slow_s))
            self._behaviour = behaviour

    def count(
        self,
        *,
        intents: Sequence[str] = (),
        recipients: Sequence[str] = (),
        awaited: Iterable[str] = (),
    ) -> dict[str, int]:
        """How many messages arrived, are missing, and are being taken."""
        told = self._ask(
            wire.Count(intents=intents, recipients=recipients, awaited=sorted(awaited))
        )
        counts: dict[str, int] = told
        return counts

    def end(self) -> None:
        """Tell it to end; the door makes sure of it."""
        self.process.send(wire.End())

    def _ask(self, command: wire.Command) -> Any:
        self.process.send(command)
        reply = self._reply()
        assert isinstance(reply, wire.Told)
        return reply.value

    def _reply(self) -> wire.Reply:
        try:
            reply = self.process.reply(self._within_s)
        except EOFError:
            raise RuntimeError("the receiving mailbox died") from None
        if reply is None:
            raise RuntimeError("the receiving mailbox does not answer")
        return reply
