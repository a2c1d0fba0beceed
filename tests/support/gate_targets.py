"""Targets for tests of the gate: the reference, cut down or spoilt."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from leaserace.harness import (
    AgentContext,
    Capability,
    Code,
    Environment,
    Mailbox,
    Message,
    Refused,
    Sent,
)
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.target import ReferenceTarget


class DoesNothing(ReferenceTarget):
    """Declares no capability."""

    capabilities = frozenset[Capability]()


class LeasesOnly(ReferenceTarget):
    """Declares leases, and passes no points."""

    capabilities = frozenset({Capability.LEASE})
    points = frozenset[str]()


class RaisesInStart(ReferenceTarget):
    """Its database is not there."""

    def start(self, env: Environment) -> None:
        raise ConnectionError("no database at localhost:5432")


class RaisesInConnect(ReferenceTarget):
    """Its credential is wrong."""

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        raise PermissionError(f"no credential for {agent.id}")


class _Spoilt:
    """A mailbox with one method replaced."""

    def __init__(self, mailbox: Mailbox, send: Callable[[Message], Sent | Refused]) -> None:
        self._mailbox = mailbox
        self.send = send

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)


def _raise(message: Message) -> Sent:
    raise ValueError(f"can't send {message.subject}")


def _hang(message: Message) -> Sent:
    while True:
        time.sleep(1.0)


class RaisesInSend(ReferenceTarget):
    """Every send raises."""

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        return _Spoilt(super().connect(agent), _raise)  # type: ignore[return-value]


class HangsInSend(ReferenceTarget):
    """No send ever answers."""

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        return _Spoilt(super().connect(agent), _hang)  # type: ignore[return-value]


class _Refusing:
    """Whatever is asked, somebody else has it."""

    def __getattr__(self, name: str) -> Callable[..., Refused | None]:
        if name == "close":
            return lambda: None
        return lambda *_, **__: Refused(code=Code.CONTACT_OWNED, detail="no")


class RefusesEverything(ReferenceTarget):
    """Safe, and of no use."""

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        return _Refusing()  # type: ignore[return-value]
