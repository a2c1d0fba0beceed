"""One race from its begin to its end: start, rounds, orderly end, one history."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..clocks import monotonic_ns
from ..contract import Capability, Environment, UsageError
from ..engine import RaceRun
from ..history import AnyEvent, AuditEvent, History, OpEvent, OpType, Writer, read_file
from ..rules.base import RaceInfo
from ..scenario import NotReached, Scenario, Variant
from .actors import ProcessActor
from .agent import Orders, environment_to_json
from .crew import Crew
from .deadlines import Deadlines, RaceAborted
from .door import Door
from .ledger import Ledger
from .race import ProcessRace, await_mail
from .remote import Host, Mail

_LAST_STOP_S = 1.0
"""How long a target's `stop` may take when the run is ended from outside: nothing outlives it by 2 s."""
_QUIET_S = 0.05
"""How long the end waits for a message whose sender never learned what became of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be run.

    Args:
        race: Its name in the history.
        scenario: The scenario.
        variant: The variant.
        info: What rules must know.
        rounds: How many rounds.
        seed: The run's seed.
        target: The target's name.
        policy_file: A policy file of the user's, or None.
        folder: A folder of its own.
    """

    race: str
    scenario: Scenario
    variant: Variant
    info: RaceInfo
    rounds: int
    seed: int
    target: str
    policy_file: Path | None
    folder: Path


class Running:
    """A race under way.

    Args:
        plan: What is to be run.
        door: Where processes come from.
        mail: The receiving mailbox.
        address: Where it listens.
        deadlines: How long things may take.
        progress: Told of each round.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        door: Door,
        mail: Mail,
        address: tuple[str, int],
        deadlines: Deadlines,
        progress: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._door = door
        self._mail = mail
        self._address = address
        self._deadlines = deadlines
        self._progress = progress
        self._begun = time.monotonic()
        self._events = plan.folder / "events"
        self._events.mkdir(parents=True)
        self.ledger = Ledger(self._events / "coordinator.jsonl")
        self._crew = Crew(door, self.ledger, deadlines)
        self._host: Host | None = None
        self._race: ProcessRace | None = None
        self._rounds = 0
        self._is_stopped = False
        self.is_aborted = False
        """Whether it was cut off; then its processes need not be waited for."""

    def run(self) -> RaceRun:
        """Run it to its end.

        Raises:
            UsageError: The target raised in `start` or `connect`, or can't be loaded.
        """
        plan = self._plan
        self.ledger.mark(
            "race.begin",
            plan.info.to_mark()
            | {"scenario": plan.scenario.id, "variant": plan.variant.name, "seed": plan.seed},
        )
        self._mail.race(self._events / "sink.jsonl")
        try:
            try:
                self._start()
                self._play_rounds()
            except RaceAborted:
                self.is_aborted = True
            self._end()
            return self._result()
        finally:
            self._stop_after_failure()
            self.ledger.close()

    # Start.

    def _start(self) -> None:
        """Start the target, then all agents at once."""
        plan = self._plan
        workdir = plan.folder / "target"
        workdir.mkdir()
        env = Environment(
            workdir=workdir,
            smtp=self._address,
            settings=plan.info.settings,
            policy_file=plan.policy_file,
        )
        host = self._host = Host(self._door.child(), plan.target, plan.folder / "target.log")
        host.declared(self._deadlines.import_s)
        host.begin("start", environment_to_json(env))
        self._door.prepare(len(plan.info.agents))  # while the target starts
        facts = host.result(self.ledger, "start", self._deadlines.start_s)
        told = environment_to_json(env) | {"facts": facts}
        self._crew.launch(*(self._agent(agent, told) for agent in plan.info.agents))
        self._race = ProcessRace(
            crew=self._crew,
            host=host,
            mail=self._mail,
            name=plan.race,
            variant=plan.variant.name,
            settings=plan.info.settings,
            capabilities=plan.info.capabilities,
            rng=random.Random(f"{plan.seed}:{plan.race}"),
        )

    def _agent(self, agent: str, env: Mapping[str, Any]) -> ProcessActor:
        orders = Orders(
            target=self._plan.target, agent=agent, seat=agent, incarnation=0, events="", env=env
        )
        return ProcessActor(
            self._crew, agent_id=agent, seat=agent, folder=self._events, orders=orders
        )

    # Rounds.

    def _play_rounds(self) -> None:
        race = self._race
        assert race is not None
        for number in range(self._plan.rounds):
            self._progress(f"{self._plan.race}: round {number + 1} of {self._plan.rounds}")
            race.begin_round(number)
            try:
                self._plan.scenario.script(race)
            except NotReached as error:
                self.ledger.problem(f"round {number + 1}: {error}")
                return
            except RaceAborted:
                raise
            except Exception as error:  # noqa: BLE001 - a script's own; it is said, never passed
                text = f"round {number + 1}: the script raised {type(error).__name__}: {error}"
                self.ledger.problem(text)
                return
            race.end_round()
            self._rounds += 1

    # End.

    def _end(self) -> None:
        """End the agents, wait for mail under way, ask for the audit log, stop the target."""
        try:
            self._settle()
            self._crew.end(self._deadlines.stop_s)
            self.ledger.end_all()
            self._await_mail()
            self._stop_target()
        except RaceAborted:
            self.is_aborted = True

    def _settle(self) -> None:
        """Bring the agents between calls; those that can't be are killed."""
        if self.is_aborted:
            self._crew.kill_busy()
            return
        for actor in self._crew.actors:
            actor.release_stops()
        for actor in self._crew.actors:
            actor.finish_calls()

    def _await_mail(self) -> None:
        """Wait, within bounds, for what was acknowledged, and a moment for what is unknown."""
        acknowledged, unknown = _intents(self._recorded())
        await_mail(self._mail, acknowledged, self._deadlines.settle_s)
        deadline = time.monotonic() + _QUIET_S
        while unknown and time.monotonic() < deadline:
            if not self._mail.count(awaited=unknown)["missing"]:
                break
            time.sleep(0.005)

    def _stop_target(self) -> None:
        host = self._host
        if host is None or self._is_stopped:
            return
        if not host.process.is_alive():
            if not self.is_aborted:
                self.ledger.problem(f"the target's process died; its log is {host.log}")
            return
        for step in (self._ask_for_audit, self._ask_to_stop):
            try:
                step(host)
            except UsageError as error:  # raised so late it no longer spoils the start
                self.ledger.problem(str(error))
        host.end()

    def _ask_for_audit(self, host: Host) -> None:
        if Capability.AUDIT in self._plan.info.capabilities:
            self._take_audit(host.ask(self.ledger, "audit", self._deadlines.audit_s))

    def _ask_to_stop(self, host: Host) -> None:
        self._is_stopped = True
        host.ask(self.ledger, "stop", self._deadlines.stop_s)

    def _stop_after_failure(self) -> None:
        """Let the target give back what it holds, also after a failed start or a Ctrl-C."""
        host = self._host
        if host is not None and not self._is_stopped and host.process.is_alive():
            self._is_stopped = True
            with contextlib.suppress(UsageError, RaceAborted):
                host.ask(self.ledger, "stop", min(_LAST_STOP_S, self._deadlines.stop_s))

    def _take_audit(self, records: list[Mapping[str, Any]]) -> None:
        writer = Writer(self._events / "audit.jsonl")
        t = monotonic_ns()
        for record in records:
            writer(AuditEvent(t=t, seq=record["seq"], value=record))
        writer.close()

    # Result.

    def _files(self) -> list[Path]:
        names = ["coordinator.jsonl", "sink.jsonl", "audit.jsonl"]
        own = [self._events / name for name in names]
        agents = [file for actor in self._crew.actors for file in actor.files]
        return [file for file in (*agents, *own) if file.exists()]

    def _recorded(self) -> list[AnyEvent]:
        """What the agents have recorded so far."""
        return [
            event
            for actor in self._crew.actors
            for file in actor.files
            if file.exists()
            for event in read_file(file)[0]
        ]

    def _result(self) -> RaceRun:
        """Merge all files into one history and check it."""
        plan = self._plan
        self.ledger.mark("race.end", {"rounds": self._rounds, "problems": self.ledger.problems})
        sources, notices = [], []
        for file in self._files():
            events, noticed = read_file(file)
            sources.append(sorted(events, key=lambda event: event.t))
            notices.extend(noticed)
        history = History(History.merge(sources, plan.race), notices)
        history.validate()
        return RaceRun(
            race=plan.race,
            scenario=plan.scenario,
            variant=plan.variant,
            agents=len(plan.info.agents),
            info=plan.info,
            history=history,
            rounds=self._rounds,
            problems=tuple(self.ledger.problems),
            aborted=self.is_aborted,
            seconds=time.monotonic() - self._begun,
            figures=self._figures(),
        )

    def _figures(self) -> dict[str, float]:
        figures = dict(self._race.figures) if self._race is not None else {}
        for name, values in (
            ("pause_confirmed_us", self.ledger.pause_confirmed_us),
            ("paused_after_us", self.ledger.paused_after_us),
        ):
            if values:
                figures[name] = sorted(values)[len(values) // 2]
                figures[f"{name}_worst"] = max(values)
        return figures


def _intents(events: list[AnyEvent]) -> tuple[set[str], set[str]]:
    """Intents of sends that were acknowledged, and of sends whose outcome is unknown."""
    asked: dict[str, str] = {}
    acknowledged: set[str] = set()
    for event in events:
        if not isinstance(event, OpEvent) or event.f != "send":
            continue
        if event.type is OpType.INVOKE:
            asked[event.op] = event.value["message"].get("intent", "")
            continue
        intent = asked.pop(event.op)
        if event.type is OpType.OK and not event.value.get("replay"):
            acknowledged.add(intent)
        elif event.type is OpType.INFO:
            asked[event.op] = intent
    return acknowledged - {""}, set(asked.values()) - acknowledged - {""}
