"""Literal histories and outcomes that the tests of reports share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from leaserace.harness.contract import Code
from leaserace.harness.history import (
    AnyEvent,
    AuditEvent,
    DeliveryEvent,
    FaultEvent,
    History,
    MarkEvent,
    OpEvent,
    OpType,
)
from leaserace.harness.outcome import CanaryResult, Contention, RunOutcome
from leaserace.harness.rules.base import RaceInfo
from leaserace.harness.verdict import Finding, RaceResult, Verdict

START_NS = 7_000_000_000_000
"""Where the samples' monotonic clock starts."""
EPOCH_MS = 1_800_000_000_000
"""What the store's clock says at that instant."""


class Log:
    """Writes one race's events; times are milliseconds since its start."""

    def __init__(self, race: str, contact: str = "contact-0-1") -> None:
        self.race = race
        self.contact = contact
        self.events: list[AnyEvent] = []
        self._ops: dict[str, int] = {}
        self._processes: dict[str, int] = {}
        self._faults = 0
        self._audit = 0

    def op(
        self,
        agent: str,
        f: str,
        begin_ms: float,
        end_ms: float | None,
        answer: Mapping[str, Any] | Code | None = None,
        *,
        contact: str | None = None,
        why: str = "reply_lost",
        **args: Any,
    ) -> str:
        """One operation; a `Code` is a refusal, None an unknown outcome. Returns its id."""
        number = self._ops[agent] = self._ops.get(agent, 0) + 1
        op = f"{agent}.0:{number}"
        process = f"{agent}#0.{self._processes.get(agent, 0)}"
        common: dict[str, Any] = {
            "agent": agent,
            "process": process,
            "op": op,
            "f": f,
            "contact": self.contact if contact is None else contact,
            "race": self.race,
        }
        self.events.append(OpEvent(t=ns(begin_ms), type=OpType.INVOKE, value=args, **common))
        if end_ms is None:
            self._processes[agent] = self._processes.get(agent, 0) + 1
            return op
        kind, value, code = _completion(answer, why)
        if kind is OpType.INFO:
            self._processes[agent] = self._processes.get(agent, 0) + 1
        self.events.append(OpEvent(t=ns(end_ms), type=kind, value=value, code=code, **common))
        return op

    def acquire(
        self,
        agent: str,
        begin_ms: float,
        end_ms: float,
        token: int,
        *,
        lease_ms: int = 300,
        contact: str | None = None,
    ) -> str:
        """A granted acquire."""
        at_ms = EPOCH_MS + int((begin_ms + end_ms) / 2)
        answer = {
            "answer": "Lease",
            "key": "jane.doe@acme.com",
            "owner": agent,
            "token": token,
            "acquired_at_ms": at_ms,
            "granted_at_ms": at_ms,
            "expires_at_ms": at_ms + lease_ms,
        }
        return self.op(
            agent, "acquire", begin_ms, end_ms, answer, contact=contact, address="Jane.Doe@Acme.com"
        )

    def send(  # noqa: PLR0917 - a line of a script, read from left to right
        self,
        agent: str,
        begin_ms: float,
        end_ms: float | None,
        token: int,
        intent: str,
        answer: Mapping[str, Any] | Code | None,
        *,
        contact: str | None = None,
        key: str | None = None,
    ) -> str:
        """A send."""
        message = {
            "to": "jane.doe@acme.com",
            "subject": "Follow-up",
            "body": "Hello",
            "token": token,
            "key": key or f"run:{intent}:send",
            "intent": intent,
        }
        return self.op(agent, "send", begin_ms, end_ms, answer, contact=contact, message=message)

    def fault(
        self,
        agent: str,
        fault: str,
        begin_ms: float,
        end_ms: float | None,
        point: str = "",
        **detail: Any,
    ) -> None:
        """Both instants of a fault, or only its begin."""
        self._faults += 1
        name = f"{fault}:{self._faults}"
        for phase, at_ms in (("begin", begin_ms), ("end", end_ms)):
            if at_ms is not None:
                self.events.append(
                    FaultEvent(
                        t=ns(at_ms),
                        race=self.race,
                        agent=agent,
                        fault=fault,
                        phase=phase,
                        id=name,
                        point=point,
                        detail=detail,
                    )
                )

    def delivery(self, at_ms: float, intent: str, message_id: str, *, replied: bool = True) -> None:
        """A message that arrived."""
        self.events.append(
            DeliveryEvent(
                t=ns(at_ms),
                race=self.race,
                intent=intent,
                recipient="jane.doe@acme.com",
                message_id=message_id,
                sender="agents@acme.example",
                replied=replied,
            )
        )

    def mark(self, at_ms: float, name: str, **data: Any) -> None:
        """Something the harness says."""
        self.events.append(MarkEvent(t=ns(at_ms), race=self.race, name=name, data=data))

    def audit(self, at_ms: float, actor: str, event: str, decision: str, **more: Any) -> None:
        """A decision of the target."""
        self._audit += 1
        value = {
            "seq": self._audit,
            "at_ms": EPOCH_MS + int(at_ms),
            "actor": actor,
            "event": event,
            "key": "jane.doe@acme.com",
            "decision": decision,
        }
        self.events.append(
            AuditEvent(t=ns(at_ms), race=self.race, seq=self._audit, value=value | more)
        )

    def history(self) -> History:
        """All of it, by time."""
        return History(sorted(self.events, key=lambda event: event.t))


def _completion(
    answer: Mapping[str, Any] | Code | None, why: str
) -> tuple[OpType, dict[str, Any], str | None]:
    if isinstance(answer, Code):
        return OpType.FAIL, {"answer": "Refused", "code": answer.value}, answer.value
    if answer is None:
        return OpType.INFO, {"answer": "NoReply", "why": why}, why
    return OpType.OK, dict(answer), None


def ns(at_ms: float) -> int:
    """An instant of the samples' clock."""
    return START_NS + round(at_ms * 1e6)


def sent(message_id: str, *, replay: bool = False) -> dict[str, Any]:
    """The answer to a send that was taken."""
    return {"answer": "Sent", "message_id": message_id, "status": 201, "replay": replay}


STALE = "stale_token[send.think]/2"
AGENTS = ("sales-01", "support-01")


def stale_token() -> History:
    """The first agent is paused past its expiry, another acquires, both send: both arrive."""
    log = Log(STALE)
    log.mark(0, "race.begin", **RaceInfo(agents=AGENTS).to_mark())
    log.mark(0.1, "contact", contact="contact-0-1", spellings=["jane.doe@acme.com"])
    log.acquire("sales-01", 1, 2, 41)
    log.fault("sales-01", "pause", 12, 340, "send.think")
    log.op("support-01", "acquire", 20, 21.5, Code.CONTACT_OWNED, address="jane.doe@acme.com")
    log.acquire("support-01", 310, 311.5, 42)
    log.send("support-01", 315, 322, 42, "stale.0.2", sent("<b2@acme.example>"))
    log.delivery(320, "stale.0.2", "<b2@acme.example>")
    log.send("sales-01", 341, 350, 41, "stale.0.1", sent("<a1@acme.example>"))
    log.delivery(348, "stale.0.1", "<a1@acme.example>")
    log.op("support-01", "release", 360, 361, {"answer": "Released", "key": "k", "token": 42})
    log.mark(370, "race.end")
    return log.history()


def stale_finding() -> Finding:
    """What the rule says of `stale_token`."""
    return Finding(
        rule="tokens.stale_never_sends",
        spec=("S3", "S10"),
        message="sales-01 sent to contact-0-1 with token 41 after support-01 was granted 42",
        ops=("sales-01.0:1", "support-01.0:2", "sales-01.0:2"),
        contact="contact-0-1",
        agents=("sales-01", "support-01"),
        t=ns(350),
    )


def stale_result() -> RaceResult:
    """The race of `stale_token`, invalid."""
    return RaceResult(
        race=STALE,
        scenario="stale_token",
        variant="send.think",
        agents=2,
        verdict=Verdict.INVALID,
        expected="stale_fencing_token; nothing leaves",
        observed="Sent",
        findings=(stale_finding(),),
        rounds=1,
        double_contacts=1,
        masked_by="a cooldown would have hidden it: it is off in this race",
        again="leaserace run stale_token --variant send.think --agents 2 --seed 7",
        figures={"pause_confirmed_us": 31.0},
    )


def valid_result(scenario: str = "one_lease", agents: int = 2, **more: Any) -> RaceResult:
    """A race that ended as it should."""
    values: dict[str, Any] = {
        "race": f"{scenario}[plain]/{agents}",
        "scenario": scenario,
        "variant": "plain",
        "agents": agents,
        "verdict": Verdict.VALID,
        "expected": "exactly one lease succeeds",
        "observed": "1 lease granted, 1 contact_owned",
        "rounds": 50,
        "masked_by": "",
        "again": f"leaserace run {scenario} --agents {agents} --seed 7",
    }
    return RaceResult(**(values | more))


def outcome(*races: RaceResult, **more: Any) -> RunOutcome:
    """A gate with these races."""
    values: dict[str, Any] = {
        "target": "ourpkg.mailbox:OurMailbox",
        "seed": 7,
        "agents": (2, 3),
        "verdict": Verdict.merge(race.verdict for race in races),
        "races": races,
        "again": "leaserace gate --target ourpkg.mailbox:OurMailbox --agents 2..3 --seed 7",
        "started_at": "2026-11-30T02:00:00+00:00",
        "elapsed_s": 11.4,
        "canary": CanaryResult(
            twin="without_fencing_check", rule="tokens.stale_never_sends", caught=True, seconds=0.62
        ),
        "contention": (
            Contention(
                race="contention/3",
                agents=3,
                seconds=2.0,
                contacts=4,
                attempts=900,
                grants=300,
                conflicts=600,
                sends=300,
                deliveries=300,
                share_by_agent={"sales-01": 110, "support-01": 100, "digest-01": 90},
                longest_wait_s=0.21,
            ),
        ),
        "versions": {"leaserace": "0.1.0", "python": "3.11.9"},
        "policy": {"lease_s": 0.3, "cooldown_s": 0.0},
    }
    return RunOutcome(**(values | more))


def failing() -> RunOutcome:
    """A gate that found the stale send and did not run the rest."""
    return outcome(
        valid_result(),
        stale_result(),
        replace(
            valid_result("retry_after_timeout"),
            verdict=Verdict.NOT_RUN,
            observed="",
            rounds=0,
            expected="original message ID; nothing new leaves",
            reason="the system leaks: race 1 or 2 failed (spec: T1)",
        ),
    )


def passing() -> RunOutcome:
    """A gate in which every race ended as it should."""
    return outcome(
        *(
            valid_result(name, agents)
            for agents in (2, 3)
            for name in ("one_lease", "stale_token", "retry_after_timeout")
        )
    )
