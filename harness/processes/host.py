"""The target's own process: it is started, asked for its clock and its audit log, and stopped here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..answers import ContractBroken, check_clock
from ..contract import AuditRecord, Target
from . import wire
from .agent import environment_from_json, reason


def _declared(target: Target) -> dict[str, Any]:
    return {
        "name": target.name,
        "capabilities": sorted(target.capabilities),
        "points": sorted(target.points),
        "fixed": dict(target.fixed),
    }


def _answer(target: Target, ask: wire.Ask) -> Any:
    match ask.what:
        case "start":
            facts = target.start(environment_from_json(ask.data))
            return _json(dict(facts or {}), "the facts start() returned")
        case "now_ms":
            return check_clock(target.name, target.now_ms())
        case "audit":
            return [_record(record) for record in target.audit()]
        case "crash_store":
            target.crash_store()
            return None
        case "stop":
            target.stop()
            return None
        case _:
            raise AssertionError(ask.what)


def _record(record: object) -> Any:
    if not isinstance(record, AuditRecord):
        message = f"audit() gave {record!r:.100}, which is no AuditRecord"
        raise TypeError(message)
    return _json(record, "a record of audit()")


def _json(value: Any, what: str) -> Any:
    """The value as JSON.

    Raises:
        TypeError: It can't be JSON; the message says what was given.
    """
    try:
        return msgspec.to_builtins(value)
    except TypeError as error:
        message = f"{what} can't be written as JSON: {error}"
        raise TypeError(message) from error


def main(connection: wire.Connection, orders: Mapping[str, Any]) -> None:
    """Load the target, then answer until told to end."""
    from . import preload

    try:
        target = preload.target(orders["target"])
        wire.send(connection, wire.Ready(data=_json(_declared(target), "what it declares")))
    except Exception as error:  # noqa: BLE001 - a target's own; it is named to the user
        wire.send(connection, reason("loading it", error))
        return
    while True:
        try:
            command = wire.next_command(connection)
        except EOFError:
            return
        if isinstance(command, wire.End):
            wire.send(connection, wire.Ended())
            return
        if isinstance(command, wire.Ask):
            wire.send(connection, _told(target, command))


def _told(target: Target, ask: wire.Ask) -> wire.Reply:
    try:
        return wire.Told(value=_answer(target, ask))
    except ContractBroken as error:
        return wire.Failed(why=str(error), broken=True)
    except Exception as error:  # noqa: BLE001 - a target's own; it is named to the user
        return reason(f"{ask.what}()", error)
