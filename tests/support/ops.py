"""Literal histories: each line of a test is one thing that happened."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from leaserace.harness.contract import Capability, Settings
from leaserace.harness.history import (
    AnyEvent,
    AuditEvent,
    DeliveryEvent,
    FaultEvent,
    MarkEvent,
    OpEvent,
    OpType,
)
from leaserace.harness.rules import ALL
from leaserace.harness.rules.base import Judge, Judgement, RaceInfo, Rule
from leaserace.harness.verdict import Finding

EPOCH_MS = 1_800_000_000_000
"""What the store's clock says when the history's clock says 0."""

SALES = "sales-01"
SUPPORT = "support-01"
DIGEST = "digest-01"
JANE = "jane"
BOB = "bob"


UNLOGGED = frozenset(Capability) - {
    Capability.AUDIT,
    Capability.MESSAGE_ID,
    Capability.CONTACT_LOAD,
}
"""All that a target can do, except that it keeps no log, tells ids of its own and counts no load."""


class Tape:
    """Writes a history; every event takes one millisecond unless the time is set.

    Args:
        settings: Lengths in force, as in `Settings`; leases last one second by default.
        capabilities: What the target can do.
        clock: ``real`` or ``virtual``.
    """

    def __init__(
        self,
        *,
        capabilities: Iterable[Capability] = UNLOGGED,
        clock: str = "real",
        **settings: float,
    ) -> None:
        lengths = {"lease_s": 1.0, **settings}
        self.race = RaceInfo(
            settings=Settings(**lengths), capabilities=frozenset(capabilities), clock=clock
        )
        self.events: list[AnyEvent] = []
        self.ms = 0
        self._ops: dict[str, tuple[str, str, str, str]] = {}
        self._seq = 0

    # -- time ------------------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        """The store's clock."""
        return EPOCH_MS + self.ms

    def at(self, ms: int) -> Tape:
        """The next event happens at this millisecond."""
        self.ms = ms - 1
        return self

    def _t(self) -> int:
        self.ms += 1
        return self.ms * 1_000_000

    # -- operations --------------------------------------------------------------------------------

    def invoke(self, agent: str, f: str, contact: str = JANE, **args: Any) -> str:
        """An operation begins; returns its id."""
        op = f"{agent}:{len(self._ops) + 1}"
        process = f"{agent}#{len(self._ops) + 1}"
        self._ops[op] = (agent, process, f, contact)
        if f == "send":
            args = {"message": message(**args)}
        elif f not in {"lookup", "cancel"}:
            args.setdefault("address", f"{contact}@example.com")
        self._write(op, OpType.INVOKE, args, None)
        return op

    def _write(self, op: str, kind: OpType, value: dict[str, Any], code: str | None) -> None:
        agent, process, f, contact = self._ops[op]
        self.events.append(
            OpEvent(
                t=self._t(),
                agent=agent,
                process=process,
                op=op,
                type=kind,
                f=f,
                contact=contact,
                value=value,
                code=code,
            )
        )

    def ok(self, op: str, **answer: Any) -> str:
        """It happened."""
        self._write(op, OpType.OK, answer, None)
        return op

    def fail(self, op: str, code: str, **answer: Any) -> str:
        """It was refused."""
        self._write(op, OpType.FAIL, {"answer": "Refused", "code": code, **answer}, code)
        return op

    def info(self, op: str, code: str = "raised", **answer: Any) -> str:
        """Its outcome is unknown."""
        self._write(op, OpType.INFO, answer, code)
        return op

    # -- whole operations --------------------------------------------------------------------------

    def lease(self, op: str, token: int, **more: Any) -> str:
        """A grant or renewal is answered, for one length from the store's now."""
        agent, _, _, contact = self._ops[op]
        at_ms = more.pop("at_ms", self.now_ms)
        answer = {
            "answer": "Lease",
            "key": f"{contact}@example.com",
            "owner": agent,
            "token": token,
            "acquired_at_ms": at_ms,
            "granted_at_ms": at_ms,
            "expires_at_ms": at_ms + int(self.race.settings.lease_s * 1000),
        }
        answer |= more
        return self.ok(op, **{name: item for name, item in answer.items() if item is not None})

    def granted(self, agent: str, token: int, contact: str = JANE, **more: Any) -> str:
        """An acquire from begin to end."""
        return self.lease(self.invoke(agent, "acquire", contact), token, **more)

    def renewed(self, agent: str, token: int, contact: str = JANE, **more: Any) -> str:
        """A renewal from begin to end."""
        return self.lease(self.invoke(agent, "renew", contact, token=token), token, **more)

    def released(self, agent: str, token: int, contact: str = JANE) -> str:
        """A release from begin to end."""
        op = self.invoke(agent, "release", contact, token=token)
        return self.ok(op, answer="Released", key=f"{contact}@example.com", token=token)

    def sent(self, agent: str, contact: str = JANE, *, arrives: bool = True, **args: Any) -> str:
        """A send from begin to end, with its delivery."""
        op = self.invoke(agent, "send", contact, **args)
        if arrives:
            self.delivery(args.get("intent", "i1"), contact)
        return self.accept(op)

    def accept(self, op: str, message_id: str = "<m1>", **answer: Any) -> str:
        """A send is answered with "sent"."""
        return self.ok(op, answer="Sent", message_id=message_id, **{"status": 201, **answer})

    def replay(self, op: str, message_id: str = "<m1>", **answer: Any) -> str:
        """A send is answered with the original answer."""
        return self.accept(op, message_id, replay=True, **answer)

    def refused(self, agent: str, f: str, code: str, contact: str = JANE, **args: Any) -> str:
        """A refused call from begin to end."""
        return self.fail(self.invoke(agent, f, contact, **args), code)

    def noted(self, agent: str, f: str, contact: str = JANE, **more: Any) -> str:
        """A suppression, its end or an override, from begin to end."""
        op = self.invoke(agent, f, contact)
        return self.ok(op, answer="Noted", at_ms=more.get("at_ms", self.now_ms))

    # -- everything else ---------------------------------------------------------------------------

    def delivery(self, intent: str = "i1", contact: str = JANE, *, replied: bool = True) -> None:
        """A message reaches the receiving mailbox."""
        self.events.append(
            DeliveryEvent(
                t=self._t(),
                intent=intent,
                recipient=f"{contact}@example.com",
                message_id=f"<{intent}>",
                replied=replied,
            )
        )

    def fault(self, fault: str, agent: str = "", phase: str = "begin", **detail: Any) -> None:
        """One instant of a fault."""
        id_ = f"{fault}:{agent}"
        self.events.append(
            FaultEvent(t=self._t(), agent=agent, fault=fault, phase=phase, id=id_, detail=detail)
        )

    def mark(self, name: str, **data: Any) -> None:
        """The harness says something."""
        self.events.append(MarkEvent(t=self._t(), name=name, data=data))

    def audit(self, event: str, decision: str, actor: str = SALES, **record: Any) -> None:
        """A decision of the audit log."""
        self._seq = record.pop("seq", self._seq + 1)
        value = {
            "seq": self._seq,
            "at_ms": record.pop("at_ms", self.now_ms),
            "actor": actor,
            "event": event,
            "key": "jane@example.com",
            "decision": decision,
            **record,
        }
        self.events.append(AuditEvent(t=self._t(), seq=self._seq, value=value))

    # -- the judgement -----------------------------------------------------------------------------

    def judge(self, *rules: type[Rule]) -> Judgement:
        """What the rules say of it; all of them by default."""
        judge = Judge(self.race, rules or ALL)
        for event in self.events:
            judge.feed(event)
        judge.finish()
        judgement = judge.judgement()
        assert not judgement.unknown, judgement.unknown
        return judgement

    def findings(self, *rules: type[Rule]) -> tuple[Finding, ...]:
        """What the rules find."""
        return self.judge(*rules).findings

    def broken(self) -> set[str]:
        """Names of all rules that find something."""
        return {finding.rule for finding in self.findings()}


def message(**fields: Any) -> dict[str, Any]:
    """A message as JSON."""
    intent = fields.get("intent", "i1")
    return {
        "to": "jane@example.com",
        "subject": "Hello",
        "body": f"About {intent}",
        "token": 41,
        "key": f"key-{intent}",
        "intent": intent,
        "kind": "commercial",
        "headers": {},
        **fields,
    }
