"""What a call was asked and answered, in the history's own form, from one line of a log."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from typing import Any

from ..contract import Code
from ..history import OpType
from .mapping import Action, Phase
from .records import Record

NOBODY = "(unknown)"
"""Who acted where the log names nobody."""
NO_PERSON = "(no person named)"
"""Who decided where the log names nobody; it is never the agent itself (spec: O7)."""
_REFUSALS = frozenset(map(str, Code))
_OUTCOMES: MappingOf[Phase, str] = {
    Phase.OK: "ok",
    Phase.REPLAY: "replay",
    Phase.UNKNOWN: "unknown",
}


def outcome(record: Record, action: Action) -> str:
    """``ok``, ``replay``, ``unknown``, a refusal's code, or "" for a refusal without one."""
    if action.phase in _OUTCOMES:
        replayed = record.replay or record.code == "replay"
        return "replay" if replayed and action.phase is Phase.OK else _OUTCOMES[action.phase]
    if action.code:
        return action.code
    if action.phase is Phase.FAIL:
        return record.code if record.code and record.code in _REFUSALS else ""
    if record.replay and record.code in {None, "ok"}:
        return "replay"
    return record.code or "ok"


def kind_of(result: str) -> OpType:
    """Whether it happened, did not, or is unknown."""
    if result in {"ok", "replay"}:
        return OpType.OK
    return OpType.INFO if result in {"unknown", Code.SEND_STATUS_UNKNOWN} else OpType.FAIL


def code_of(result: str) -> str | None:
    """The code of a completion."""
    if result in {"ok", "replay", ""}:
        return None
    return str(Code.SEND_STATUS_UNKNOWN) if result == "unknown" else result


def asked(record: Record, f: str, token: int | None, intent: str) -> dict[str, Any]:
    """Arguments of a call.

    Args:
        record: The line.
        f: The mailbox method.
        token: The token it is judged by; None where the log does not hold its grant.
        intent: Name of the logical send.
    """
    if f == "send":
        return {"message": _message(record, token, intent)}
    value: dict[str, Any] = {"address": record.recipient}
    if f in {"renew", "release"}:
        value["token"] = token
    elif f == "suppress":
        value["reason"] = "in the log"
    elif f in {"unsuppress", "override"}:
        value["person"] = record.person or NO_PERSON
    return value


def _message(record: Record, token: int | None, intent: str) -> dict[str, Any]:
    return {
        "to": record.recipient,
        "subject": record.subject or "",
        "body": record.body or "",
        "token": token,
        "key": record.key or None,
        "intent": intent,
        "kind": record.kind or "commercial",
    }


class Answers:
    """Answers of calls.

    Args:
        store_tells: Whether a line's own time is the store's time of its decision.
        lease_ms: Length of a lease whose end the log does not tell, or None.
    """

    def __init__(self, *, store_tells: bool, lease_ms: int | None) -> None:
        self._store_tells = store_tells
        self._lease_ms = lease_ms

    def answered(self, record: Record, f: str, result: str, name: str) -> dict[str, Any]:
        """The answer, as JSON.

        Args:
            record: The line.
            f: The mailbox method.
            result: What `outcome` said.
            name: What stands for a message id where the log has none.
        """
        kind = kind_of(result)
        if kind is not OpType.OK:
            return _refused(record, result)
        if f in {"acquire", "renew"}:
            return self._lease(record, f)
        if f == "release":
            key = record.lease_key or record.contact
            return {"answer": "Released", "key": key, "token": record.token or 0}
        if f == "send":
            return {
                "answer": "Sent",
                "message_id": record.message_id or name,
                "status": 201,
                "replay": result == "replay",
            }
        return {"answer": "Noted", "at_ms": self._store_ms(record) or record.t // 1_000_000}

    def _store_ms(self, record: Record) -> int | None:
        """The store's time of the decision, or None if the log does not tell."""
        if record.store_ms is not None:
            return record.store_ms
        return record.t // 1_000_000 if self._store_tells else None

    def _lease(self, record: Record, f: str) -> dict[str, Any]:
        value: dict[str, Any] = {
            "answer": "Lease",
            "key": record.lease_key or record.contact,
            "owner": record.owner or record.agent or NOBODY,
            "token": record.token or 0,
        }
        at_ms, ends_ms = self._store_ms(record), record.expires_ms
        if at_ms is not None:
            value["granted_at_ms"] = at_ms
            if ends_ms is None and self._lease_ms is not None:
                ends_ms = at_ms + self._lease_ms
        acquired_ms = record.acquired_ms if record.acquired_ms is not None else at_ms
        if f == "acquire" and acquired_ms is not None:
            value["acquired_at_ms"] = acquired_ms
        if ends_ms is not None:
            value["expires_at_ms"] = ends_ms
        return value


def _refused(record: Record, result: str) -> dict[str, Any]:
    code = code_of(result)
    if code is None:
        return {"answer": "NoReply", "why": "refused; the log does not say why"}
    value: dict[str, Any] = {"answer": "Refused", "code": code}
    told = {
        "owner": record.owner or None,
        "expires_at_ms": record.expires_ms,
        "until_ms": record.until_ms,
        "message_id": record.message_id or None,
    }
    return value | {name: item for name, item in told.items() if item is not None}


_DECISIONS = {"acquire": "granted", "renew": "renewed", "release": "released"}


def decision(record: Record, action: Action, *, begun: bool) -> tuple[str, str]:
    """Event and decision of the audit record a line stands for.

    Args:
        record: The line.
        action: What it means.
        begun: Whether the log tells begins of this method apart from its ends.
    """
    f = action.f
    if f == "dispatch":
        return "dispatch", "dispatching"
    if f == "delivery":
        return "deliver", "delivered"
    if action.phase is Phase.BEGIN:
        return f, "authorized" if f == "send" else "asked"
    result = outcome(record, action)
    if result == "ok":
        if f == "send":
            return ("deliver", "delivered") if begun else ("send", "authorized")
        return f, _DECISIONS.get(f, "noted")
    return f, {"replay": "replayed", "": "withdrawn"}.get(result, result)


__all__ = ["NOBODY", "Answers", "asked", "code_of", "decision", "kind_of", "outcome"]
