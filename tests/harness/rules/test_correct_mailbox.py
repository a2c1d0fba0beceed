"""No rule ever has a finding on a mailbox that is correct: the reference, whatever is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaserace.harness.clocks import ManualClock
from leaserace.harness.contract import (
    AgentContext,
    Capability,
    Environment,
    Lease,
    Message,
    MessageKind,
    NoAnswer,
    Outgoing,
    Rejected,
    Settings,
)
from leaserace.harness.history import AnyEvent, AuditEvent, DeliveryEvent, FaultEvent
from leaserace.harness.kit import Kit
from leaserace.harness.rules import ALL
from leaserace.harness.rules.base import Judgement, RaceInfo, judge
from leaserace.reference_impl.target import ReferenceTarget

AGENTS = ("sales-01", "support-01")
SPELLINGS = ("jane.doe@gmail.com", "Jane.Doe@googlemail.com")
LENGTHS = [
    Settings(lease_s=1.0),
    Settings(lease_s=1.0, cooldown_s=3.0),
    Settings(lease_s=2.0, cooldown_s=0.5, key_window_s=1.5),
]


class World:
    """A reference mailbox on a clock that moves by hand; one call at a time.

    Args:
        lengths: Settings in force.
        skewed: The second agent's clock is an hour ahead.
        target: The reference, or what stands in its place.
    """

    def __init__(
        self, lengths: Settings, *, skewed: bool, target: ReferenceTarget | None = None
    ) -> None:
        self.clock = ManualClock()
        self.events: list[AnyEvent] = []
        self.fate = "accept"
        self._count = 0
        self._sends = 0
        self.target = target or ReferenceTarget()
        environment = Environment(
            workdir=Path(),
            smtp=("127.0.0.1", 0),
            settings=lengths,
            clock=self.clock,
            transport=self,
        )
        self.target.start(environment)
        ahead = ManualClock(self.clock.now_ms() + 3_600_000 * skewed)
        self.kits = [
            self._connect(agent, environment, clock)
            for agent, clock in zip(AGENTS, (self.clock, ahead), strict=True)
        ]
        self.tokens = [1, 1]
        self.last: list[Message | None] = [None, None]
        self.info = RaceInfo(
            settings=lengths, capabilities=frozenset(Capability), agents=AGENTS, clock="virtual"
        )

    def _connect(self, agent: str, environment: Environment, clock: ManualClock) -> Kit:
        context = AgentContext(id=agent, incarnation=0, env=environment, clock=clock)
        return Kit(
            mailbox=self.target.connect(context),
            agent=agent,
            incarnation=0,
            record=self.events.append,
            now_ns=self.now_ns,
        )

    def now_ns(self) -> int:
        self._count += 1
        return self.clock.now_ms() * 1_000_000 + self._count

    def hand_over(self, outgoing: Outgoing) -> None:
        """The transport: it does what `fate` says."""
        if self.fate == "accept":
            self._deliver(outgoing, replied=True)
            return
        self.events.append(
            FaultEvent(t=self.now_ns(), agent="", fault="transport", phase="begin", id="t")
        )
        if self.fate == "refuse":
            raise Rejected("no")
        self._deliver(outgoing, replied=False)
        raise NoAnswer("silence")

    def _deliver(self, outgoing: Outgoing, *, replied: bool) -> None:
        self.events.append(
            DeliveryEvent(
                t=self.now_ns(),
                intent=outgoing.intent,
                recipient=outgoing.recipient,
                message_id=outgoing.message_id,
                replied=replied,
            )
        )

    # -- what can be done --------------------------------------------------------------------------

    def do(self, who: int, what: str, spelling: int) -> None:
        """One step of an agent, or of the world around it."""
        if what in {"accept", "silent", "refuse"}:
            self.fate = what
        elif what == "lose a reply":
            self.kits[who].lose_next_reply()
        elif what.isdigit():
            self.clock.advance_ms(int(what))
            self._count = 0
        elif what in {"send", "reply", "send under the other's token"}:
            self._sends += 1
            kind = MessageKind.TRANSACTIONAL if what == "reply" else MessageKind.COMMERCIAL
            token = self.tokens[who if what != "send under the other's token" else 1 - who]
            self._send(who, _message(f"i{self._sends}", SPELLINGS[spelling], token, kind))
        elif what == "retry":
            self._send(who, self.last[who])
        elif what == "retry of the other":
            self._send(who, self.last[1 - who])
        else:
            self._call(who, what, SPELLINGS[spelling])

    def _call(self, who: int, f: str, address: str) -> None:
        """A call that is no send."""
        message = self.last[who]
        person = {"address": address, "person": "a person"}
        args: dict[str, dict[str, Any]] = {
            "acquire": {"address": address},
            "renew": {"address": address, "token": self.tokens[who]},
            "release": {"address": address, "token": self.tokens[who]},
            "suppress": {"address": address, "reason": "opt-out"},
            "unsuppress": person,
            "override": {**person, "reason": "asked"},
            "lookup": {"key": message.key if message else "none"},
        }
        answer = self.kits[who].call(f, "jane", args[f])
        if f == "acquire" and isinstance(answer, Lease):
            self.tokens[who] = answer.token

    def _send(self, who: int, message: Message | None) -> None:
        if message is not None:
            self.last[who] = message
            self.kits[who].call("send", "jane", {"message": message})

    def judged(self) -> Judgement:
        """What all rules say, the audit log included."""
        events = list(self.events)
        for record in self.target.audit():
            value = {name: getattr(record, name) for name in record.__dataclass_fields__}
            events.append(AuditEvent(t=self.now_ns(), seq=record.seq, value=value))
        return judge(events, self.info, ALL)


def _message(intent: str, address: str, token: int, kind: MessageKind) -> Message:
    return Message(
        to=address,
        subject="Hello",
        body=f"[intent:{intent}]",
        token=token,
        key=f"key:{intent}",
        intent=intent,
        kind=kind,
        headers={"X-Campaign": "spring"},
    )


CALLS = ["acquire", "renew", "release", "send", "reply", "retry", "retry of the other", "lookup"]
SELDOM = [
    "send under the other's token",
    "suppress",
    "unsuppress",
    "override",
    "lose a reply",
    "accept",
    "silent",
    "refuse",
]
TIMES = ["1", "499", "500", "999", "1000", "1001", "3000"]
STEPS = st.tuples(
    st.integers(0, 1),
    st.one_of(*map(st.sampled_from, (CALLS, CALLS, CALLS, TIMES, SELDOM))),
    st.integers(0, 1),
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LENGTHS), st.booleans(), st.lists(STEPS, max_size=40))
def test_whatever_two_agents_do_in_turn_no_rule_has_a_finding(
    lengths: Settings, skewed: bool, steps: list[tuple[int, str, int]]
) -> None:
    """spec: S10."""
    world = World(lengths, skewed=skewed)
    world.do(0, "acquire", 0)
    for who, what, spelling in steps:
        world.do(who, what, spelling)
    judgement = world.judged()
    assert not judgement.unknown
    assert not judgement.findings


@pytest.mark.parametrize("change", ["token", "mail", "audit"])
def test_the_same_history_with_one_thing_changed_has_one(change: str) -> None:
    """The property above can fail: the histories it judges are really looked at."""
    world = World(LENGTHS[0], skewed=False)
    for who, what in ((0, "acquire"), (0, "send"), (1, "acquire"), (0, "release"), (1, "acquire")):
        world.do(who, what, 0)
    assert not world.judged().findings
    if change == "token":
        grant: Any = next(e for e in world.events if getattr(e, "code", 0) is None and _is_ok(e))
        grant.value["token"] = 99
    elif change == "mail":
        world.events = [event for event in world.events if not isinstance(event, DeliveryEvent)]
    else:
        world.target.audit = lambda: ()  # type: ignore[method-assign]
    assert world.judged().findings


def _is_ok(event: Any) -> bool:
    return bool(event.type == "ok" and event.f == "acquire")
