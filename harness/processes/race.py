"""What a scenario's script holds when agents are processes."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Any

from ..clocks import monotonic_ns
from ..contract import Answer, Capability, Lease, Message, MessageKind, Settings
from ..faults import Behaviour, FaultKind
from ..scenario import Actor, Call, Contact, Engaged, NotReached, Pending, Playbook, Race
from . import wire
from .actors import ProcessActor
from .crew import Crew
from .deadlines import RaceAborted
from .pending import ProcessEngaged
from .remote import Host, Mail
from .seat import name_of

_LEAD_NS = 3_000_000
"""How far ahead a common start lies: long enough for every agent to have read its command."""
_POLL_S = 0.002
_CLOCK_POLL_MAX_S = 0.02
LONGEST_WAIT = 2.0
"""How many times the longest length in force an honest target may make us wait."""
_SLOW_SHARE = 0.5
"""A slow transport takes this share of the transport's timeout."""


class ProcessRace(Race):
    """A race of processes.

    Args:
        crew: Its agents, connected.
        host: The target's process.
        mail: The receiving mailbox.
        name, variant, settings, capabilities, rng: As in `Race`.
    """

    def __init__(
        self,
        *,
        crew: Crew,
        host: Host,
        mail: Mail,
        name: str,
        variant: str,
        settings: Settings,
        capabilities: Set[Capability],
        rng: random.Random,
    ) -> None:
        super().__init__(
            name=name, variant=variant, settings=settings, capabilities=capabilities, rng=rng
        )
        self._crew = crew
        self._host = host
        self._mail = mail
        self._agents: tuple[ProcessActor, ...] = tuple(crew.actors)
        self._replicas: dict[str, list[ProcessActor]] = defaultdict(list)
        self._handed_out: dict[str, int] = defaultdict(int)
        self._intents: dict[str, list[str]] = defaultdict(list)
        self._transport: str | None = None
        self.figures: dict[str, float] = {}

    # Rounds.

    def begin_round(self, number: int) -> None:
        """Make ready for the next round."""
        self.round = number
        self._handed_out.clear()
        self.mark("round.begin", round=number)

    def end_round(self) -> None:
        """Leave nothing of this round to the next one: no fault, no open call, nobody dead."""
        self.transport(Behaviour.ACCEPT)
        self._crew.settle()

    # Agents.

    @property
    def agents(self) -> Sequence[Actor]:
        """The agents, without their replicas."""
        return self._agents

    def replica(self, actor: Actor) -> Actor:
        """Another process under the same id; from round to round the same one."""
        assert isinstance(actor, ProcessActor)
        made = self._replicas[actor.id]
        number = self._handed_out[actor.id]
        self._handed_out[actor.id] += 1
        if number == len(made):
            made.append(actor.replica(number + 2))
            self._crew.launch_later(made[-1])
        return made[number]

    def together(self, *calls: Call) -> list[Answer]:
        """Begin all calls at one instant and wait for all."""
        at_ns = monotonic_ns() + _LEAD_NS
        pending = [_start(call, at_ns) for call in calls]
        return [each.answer() for each in pending]

    def play(
        self, playbook: Playbook, plays: Mapping[str, Mapping[str, Any]], seconds: float
    ) -> None:
        """Let agents act on their own for so long."""
        draw = self.rng.getrandbits(64)
        name = name_of(playbook)
        actors = [actor for actor in self._agents if actor.id in plays]
        for actor in actors:
            actor.learn(name)
        for actor in actors:
            actor.await_learnt()
        at_ns = monotonic_ns() + 2 * _LEAD_NS
        until_ns = at_ns + int(seconds * 1e9)
        for actor in actors:
            actor.play(
                wire.Play(
                    playbook=name,
                    data=plays[actor.id],
                    at_ns=at_ns,
                    until_ns=until_ns,
                    seed=f"{draw}:{actor.id}",
                )
            )
        within_s = seconds + self._crew.deadlines.call_s
        self._note_plays({actor.id: actor.played(within_s) for actor in actors})

    def engage(
        self, actor: Actor, playbook: Playbook, args: Mapping[str, Any], seconds: float
    ) -> Engaged:
        """Let one agent act on its own while the script goes on."""
        assert isinstance(actor, ProcessActor)
        name = name_of(playbook)
        actor.learn(name)
        actor.await_learnt()
        now_ns = monotonic_ns()
        actor.play(
            wire.Play(
                playbook=name,
                data=args,
                at_ns=now_ns,
                until_ns=now_ns + int(seconds * 1e9),
                seed=f"{self.rng.getrandbits(64)}:{actor.id}",
            )
        )
        return ProcessEngaged(actor)

    def _note_plays(self, played: Mapping[str, wire.Played | None]) -> None:
        """Who did how much: a round in which one agent starved was no contention."""
        for agent, said in played.items():
            if said is not None:
                name = f"ops.{agent}"
                self.figures[name] = self.figures.get(name, 0.0) + said.calls
                longest_s = max(self.figures.get("longest_wait_s", 0.0), said.longest_s)
                self.figures["longest_wait_s"] = longest_s
                if said.problem:
                    self._crew.ledger.problem(f"{agent}: {said.problem}")
        ops = [value for name, value in self.figures.items() if name.startswith("ops.")]
        if ops and max(ops) > 0:
            self.figures["slowest_share"] = min(ops) / max(ops)

    # What is seen and said.

    def mark(self, name: str, *, agent: str = "", **data: Any) -> None:
        """Write a mark into the history."""
        self._crew.ledger.mark(name, data, agent)

    def message(
        self,
        contact: Contact,
        *,
        lease: Lease | None = None,
        spelling: int = 0,
        kind: MessageKind = MessageKind.COMMERCIAL,
    ) -> Message:
        """A new logical send, remembered as one to this contact."""
        made = super().message(contact, lease=lease, spelling=spelling, kind=kind)
        self._intents[contact.name].append(made.intent)
        return made

    def transport(self, behaviour: str) -> None:
        """Say what the receiving side does from now on."""
        wanted = Behaviour(behaviour)
        self._mail.behave(wanted, self.settings.transport_timeout_s * _SLOW_SHARE)
        self._crew.ledger.end(self._transport)
        self._transport = None
        if wanted is not Behaviour.ACCEPT:
            self._transport = self._crew.ledger.begin(FaultKind.TRANSPORT, behaviour=behaviour)

    def crash_store(self) -> None:
        """Let the store crash and come back."""
        ledger = self._crew.ledger
        fault = ledger.begin(FaultKind.STORE_CRASH)
        self._host.ask(ledger, "crash_store", self._crew.deadlines.start_s)
        ledger.end(fault)

    def deliveries(self, contact: Contact) -> int:
        """How many messages to this person arrived so far."""
        intents = self._intents[contact.name]
        awaited = self._crew.acknowledged.intersection(intents)
        await_mail(self._mail, awaited, self._crew.deadlines.settle_s)
        return self._mail.count(intents=intents, recipients=contact.spellings)["arrived"]

    def pass_store_time(self, until_ms: int) -> None:
        """Wait until the store's clock has passed `until_ms`."""
        first_ms = self._store_ms()
        self._refuse_endless(until_ms - first_ms)
        bound_s = max(0, until_ms - first_ms) / 1000 + self._crew.deadlines.call_s
        deadline_ns = monotonic_ns() + int(bound_s * 1e9)
        now_ms = first_ms
        while now_ms <= until_ms:
            if monotonic_ns() > deadline_ns:
                self._abort(f"the store's clock did not pass {until_ms} within {bound_s:.1f} s")
            left_s = (until_ms - now_ms + 1) / 1000
            self._crew.wait_for(lambda: False, min(left_s, _CLOCK_POLL_MAX_S))
            now_ms = self._store_ms()

    def _refuse_endless(self, wait_ms: int) -> None:
        """A target that answers with an end far off is judged by what it said, not waited for."""
        longest_s = max(self.settings.lease_s, self.settings.cooldown_s)
        if wait_ms / 1000 > LONGEST_WAIT * longest_s + self._crew.deadlines.clock_s:
            raise NotReached(
                f"the target names an end {wait_ms / 1000:.1f} s from now, though no length in force"
                f" is above {longest_s:g} s"
            )

    def _store_ms(self) -> int:
        """The store's now, or what it has reached for certain by the leases it gave."""
        ledger = self._crew.ledger
        told: int | None = self._host.ask(ledger, "now_ms", self._crew.deadlines.clock_s)
        if told is not None:
            return told
        ahead_ns = self._crew.store_ahead_ns
        if ahead_ns is None:
            self._abort("the store's clock can't be read, and no lease tells its time")
        assert ahead_ns is not None
        return (monotonic_ns() + ahead_ns) // 1_000_000

    def _abort(self, why: str) -> None:
        self._crew.ledger.problem(why)
        raise RaceAborted(why)


def _start(call: Call, at_ns: int) -> Pending:
    assert isinstance(call.actor, ProcessActor)
    return call.actor.start(call, at_ns)


def await_mail(mail: Mail, awaited: Set[str], within_s: float) -> bool:
    """Wait until what was acknowledged has arrived and nothing is being taken.

    Returns:
        Whether it did so in time.
    """
    deadline = time.monotonic() + within_s
    while True:
        count = mail.count(awaited=awaited)
        if not count["missing"] and not count["under_way"]:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
