"""One free run: agents with playbooks or programs, rules that watch, every choice recorded."""

from __future__ import annotations

import hashlib
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..contract import Settings, Target
from ..engine import race_name
from ..history import AnyEvent, History, MarkEvent
from ..points import listen
from ..rules.base import Judge, RaceInfo, Rule
from ..scenario import NotReached
from ..verdict import Finding
from .driver import Bounds, Chooser, Driver
from .engine import race_info
from .race import SimRace
from .records import audit_events, race_begin
from .seat import SimSeat
from .subjects import POLICIES, SeatPlan, Subject
from .task import DORMANT, IDLE, Job, Task
from .world import Stuck, World

_encoder = msgspec.json.Encoder()
BEGINS_MAX = 256
"""Beginnings of histories that are kept; drawn programs would fill the memory."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of one run.

    Args:
        trail: The choices made.
        events: What happened.
        findings: What the rules found, in order.
        problem: Why it could not be judged to its end, or "".
    """

    trail: list[int]
    events: list[AnyEvent]
    findings: list[Finding]
    problem: str = ""

    def trace_hash(self) -> str:
        """A hash of everything that happened, in order, with its times."""
        digest = hashlib.blake2b(digest_size=16)
        for event in self.events:
            digest.update(_encoder.encode(event))
        return digest.hexdigest()

    def history(self, race: str) -> History:
        """The events under a race's name."""
        return History.merge([self.events], race=race)


class Runner:
    """Runs subjects against one target, again and again.

    Args:
        target: The system under test.
        rules: Rules that watch; None for all.
        policy_file: A policy file of the user's, or None.
        workdir: The target's folder.
    """

    def __init__(
        self,
        target: Target,
        *,
        rules: Sequence[type[Rule]] | None = None,
        policy_file: Path | None = None,
        workdir: Path = Path(),
    ) -> None:
        self.target = target
        self.world = World(target, workdir=workdir, policy_file=policy_file)
        self._rules = _all_rules() if rules is None else rules
        self._audited = 0
        self._begins: dict[tuple[str, str], list[AnyEvent]] = {}
        self._infos: dict[tuple[str, tuple[str, ...]], RaceInfo] = {}

    def __enter__(self) -> Runner:
        listen(self.world)
        return self

    def __exit__(self, *_: object) -> None:
        self.world.close()
        listen(None)

    def info(self, policy: str, agents: tuple[str, ...]) -> RaceInfo:
        """What rules must know of a run under this policy."""
        key = (policy, agents)
        if key not in self._infos:
            self._infos[key] = race_info(self.target, POLICIES[policy], agents)
        return self._infos[key]

    def begin(self, subject: Subject, policy: str) -> tuple[list[AnyEvent], Judge]:
        """Start a fresh run; its events and the judge that hears of them."""
        world = self.world
        info = self.info(policy, subject.agents)
        events, judge = self.start(info, subject, policy)
        for task, plan in zip(world.tasks, subject.seats, strict=True):
            task.play = _job(world, plan, info.settings)
            task.begin(task.play)
            if plan.optional:
                task.state = DORMANT
        return events, judge

    def start(
        self, info: RaceInfo, subject: Subject, policy: str = ""
    ) -> tuple[list[AnyEvent], Judge]:
        """Start the world afresh and write how the history begins."""
        judge = Judge(info, self._rules)
        events: list[AnyEvent] = []

        def sink(event: AnyEvent) -> None:
            events.append(event)
            judge.feed(event)

        self._audited = 0
        self.world.begin(info.settings, subject.agents, sink)
        for mark in self._marks(subject, policy, info):
            sink(mark)
        return events, judge

    def _marks(self, subject: Subject, policy: str, info: RaceInfo) -> list[AnyEvent]:
        """What every history of this subject begins with; they are made once."""
        key = (subject.text, policy)
        made = self._begins.get(key)
        if made is None:
            world = self.world
            made = [race_begin(world, info, subject=subject.text, policy=policy)]
            for name, spellings in subject.contacts.items():
                data = {"contact": name, "spellings": list(spellings)}
                made.append(MarkEvent(t=world.now_ns(), name="contact", data=data))
            if len(self._begins) >= BEGINS_MAX:
                self._begins.clear()
            self._begins[key] = made
        self.world.count_from(len(made))
        return made

    def run(
        self,
        subject: Subject,
        policy: str,
        chooser: Chooser,
        bounds: Bounds,
        *,
        coarse: bool = False,
        on_begin: Callable[[Judge], None] | None = None,
    ) -> Outcome:
        """Run once, until nobody can move or a rule has a finding.

        Args:
            subject: What runs.
            policy: Name of the policy variant.
            chooser: Who decides.
            bounds: How much may go wrong.
            coarse: Nobody stands still inside a section or between an invoke and its call.
            on_begin: Given the judge; then the audit log is judged as it grows, not at the end.
        """
        self.world.is_coarse = coarse
        if subject.race is not None:
            return run_race(self, subject, chooser)
        self.world.hands_on = not any(plan.optional for plan in subject.seats)
        events, judge = self.begin(subject, policy)
        if on_begin is not None:
            on_begin(judge)
        findings = judge.findings
        driver = Driver(self.world, chooser, bounds, findings)
        problem = ""
        commits = 0
        seats = self.world.tasks
        optional = [plan.optional for plan in subject.seats]
        try:
            while not findings and _goes_on(seats, optional) and driver.step():
                if on_begin is not None and self.world.commits != commits:
                    commits = self.world.commits
                    self._audit(events, judge)
        except Stuck as error:
            problem = str(error)
        chooser.end(driver)
        if not findings:
            self.close(events, judge)
        return Outcome(
            trail=driver.trail,
            events=events,
            findings=findings,
            problem=problem or "; ".join(judge.unknown),
        )

    def close(self, events: list[AnyEvent], judge: Judge) -> None:
        """The run is over: the audit log is judged, and what never completed."""
        world = self.world
        world.take_down()
        self._audit(events, judge)
        judge.finish()

    def _audit(self, events: list[AnyEvent], judge: Judge) -> None:
        """Judge the decisions that were committed since."""
        records = list(self.target.audit())[self._audited :]
        if records:
            self._audited += len(records)
            for event in audit_events(records, self.world):
                events.append(event)
                judge.feed(event)


def run_race(runner: Runner, subject: Subject, chooser: Chooser) -> Outcome:
    """Run one round of a scenario's script; what goes wrong in it is written in the script itself."""
    plan, world = subject.race, runner.world
    assert plan is not None
    name = race_name(plan.scenario, plan.variant, plan.agents)
    settings = plan.variant.settings or plan.scenario.settings
    info = race_info(runner.target, settings, subject.agents)
    events, judge = runner.start(info, subject)
    world.hands_on = False
    driver = Driver(world, chooser, Bounds(), judge.findings)
    race = SimRace(
        world=world,
        driver=driver,
        name=name,
        variant=plan.variant.name,
        settings=info.settings,
        capabilities=info.capabilities,
        rng=random.Random(name),
    )
    problem = ""
    try:
        plan.scenario.script(race)
        race.drive(lambda: False)
    except (NotReached, Stuck) as error:
        problem = str(error)
    chooser.end(driver)
    runner.close(events, judge)
    return Outcome(
        trail=driver.trail,
        events=events,
        findings=judge.findings,
        problem=problem or "; ".join(judge.unknown),
    )


def _all_rules() -> Sequence[type[Rule]]:
    from ..rules import ALL

    return ALL


def _goes_on(tasks: list[Task], optional: list[bool]) -> bool:
    """Whether somebody who has to act is not done."""
    for task, may in zip(tasks, optional, strict=True):
        state = task.state
        if state is not IDLE and not (may and state is DORMANT):
            return True
    return False


def _job(world: World, plan: SeatPlan, settings: Settings) -> Job:
    seed = zlib.crc32(plan.agent.encode())

    def job(task: object) -> None:
        seat = SimSeat(world, task, settings, seed)  # type: ignore[arg-type]
        plan.playbook(seat, plan.args)

    return job
