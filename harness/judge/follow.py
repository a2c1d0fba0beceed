"""A contact's calls, played in the simulator in the order of the log, and written as a schedule."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..contract import Target
from ..history import AnyEvent, OpEvent, OpType
from ..simulation.again import replay_schedule
from ..simulation.choices import AT, LOSE
from ..simulation.driver import Bounds, Driver
from ..simulation.fence import Fence, patched
from ..simulation.run import Outcome, Runner
from ..simulation.schedule import Schedule, code_hash, save
from ..simulation.subjects import parse
from ..simulation.task import READY, SLEEPING, Task
from .words import Move, Plan

DIFFERENCES_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A contact's calls as a schedule.

    Args:
        schedule: Ready for ``leaserace replay``.
        trace: Hash of what happened.
        findings: Rules that are broken here, with their messages.
        differences: Calls that were answered otherwise than in the log, one sentence each.
        problem: Why the order of the log could not be followed to its end, or "".
    """

    schedule: Schedule
    trace: str
    findings: tuple[str, ...]
    differences: tuple[str, ...]
    problem: str


class Follow:
    """Has agents move in the order of the log.

    Args:
        moves: What they do.
        early: Whether a call that others overlap is decided before them; else it is after them.
    """

    name = "log"

    def __init__(self, moves: Sequence[Move], *, early: bool) -> None:
        self._moves = moves
        self._early = early
        self._at = 0
        self._called: Counter[int] = Counter()
        """Agent to how many of its calls the moves so far have begun."""
        self._begun: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        self._lost: set[tuple[int, int]] = set()
        self.problem = ""

    def bind(self, driver: Driver) -> None:
        """The hub must ask: time passes between two moves."""

    def begin(self, driver: Driver) -> None:
        """Hear of every call's begin and end."""
        world = driver.world
        heard = world.sink

        def sink(event: AnyEvent) -> None:
            if isinstance(event, OpEvent):
                counts = self._begun if event.type is OpType.INVOKE else self._ended
                counts[event.agent] += 1
            heard(event)

        world.sink = sink
        self._enter()

    def end(self, driver: Driver) -> None:
        """Nothing is learnt."""

    def _enter(self) -> None:
        """A move comes up."""
        if self._at < len(self._moves) and self._moves[self._at].do != "end":
            self._called[self._moves[self._at].agent] += 1

    def pick(self, driver: Driver) -> int:
        """Choose what brings the agent of the current move on."""
        while self._at < len(self._moves):
            move = self._moves[self._at]
            task = driver.tasks[move.agent]
            if self._is_done(task, move):
                self._at += 1
                self._enter()
                continue
            if task.state is SLEEPING:
                return AT
            if task.state is not READY or task.waits_for in driver.world.holders:
                self.problem = self.problem or f"{task.id} could not go on at step {self._at + 1}"
                break
            return LOSE + task.index if self._loses(task, move) else task.index
        options = driver.options()
        return options[0] if options else -1

    def _loses(self, task: Task, move: Move) -> bool:
        """Whether the reply it holds is to be lost now; once for each call."""
        call = (task.index, self._begun[task.id])
        if not move.lost or not self._holds_reply(task) or call in self._lost:
            return False
        self._lost.add(call)
        return True

    def _holds_reply(self, task: Task) -> bool:
        """Whether it stands inside its call and has been answered; else its point is an old one."""
        return self._begun[task.id] > self._ended[task.id] and task.point.endswith(".returned")

    def _is_done(self, task: Task, move: Move) -> bool:
        call = self._called[move.agent]
        if move.do != "begin":
            return self._ended[task.id] >= call
        return self._begun[task.id] >= call and (not self._early or self._holds_reply(task))


def played(plan: Plan, target: Target, log: Mapping[str, OpEvent]) -> Played:
    """Play a contact's calls; of overlapping ones, in the order that is answered more like the log.

    Args:
        plan: The calls.
        target: The system to play them on.
        log: Operation to its end in the log.
    """
    tries = [_play(plan, target, log, early=early) for early in (False, True)]
    best = min(tries, key=lambda each: (bool(each.problem), len(each.differences)))
    outcome, _ = replay_schedule(target, best.schedule, best.trace)
    assert outcome.trail == list(best.schedule.choices)
    return best


def _play(plan: Plan, target: Target, log: Mapping[str, OpEvent], *, early: bool) -> Played:
    chooser = Follow(plan.moves, early=early)
    with (
        Runner(target) as runner,
        patched(runner.world),
        Fence().watching(runner.world, closely=False),
    ):
        outcome = runner.run(parse(plan.subject), plan.policy, chooser, Bounds())
    return Played(
        schedule=Schedule(
            subject=plan.subject,
            policy=plan.policy,
            code=code_hash(target),
            choices=tuple(outcome.trail),
        ),
        trace=outcome.trace_hash(),
        findings=tuple(f"{each.rule}: {each.message}" for each in outcome.findings),
        differences=tuple(_differences(plan, outcome, log)),
        problem=chooser.problem or outcome.problem,
    )


def _differences(plan: Plan, outcome: Outcome, log: Mapping[str, OpEvent]) -> Iterator[str]:
    """Calls that were answered otherwise here; those that a finding cut off are left out."""
    agents = parse(plan.subject).agents
    here = {agent: _ends(outcome.events, agent) for agent in agents}
    for agent, ops in zip(agents, plan.calls, strict=True):
        for op, end in zip(ops, here[agent], strict=False):
            there = log.get(op)
            if end is None or there is None or _told(there) == _told(end):
                continue
            yield f"{there.f} {op}: {_told(there)} in the log, {_told(end)} here"


def _ends(events: Sequence[AnyEvent], agent: str) -> list[OpEvent | None]:
    """An agent's calls in order, each by its end; None for one that has none."""
    mine = [event for event in events if isinstance(event, OpEvent) and event.agent == agent]
    ends = {event.op: event for event in mine if event.type is not OpType.INVOKE}
    return [ends.get(event.op) for event in mine if event.type is OpType.INVOKE]


def _told(end: OpEvent) -> str:
    if end.type is OpType.OK:
        return "replayed" if end.value.get("replay") else "ok"
    return "unknown" if end.type is OpType.INFO else end.code or "refused"


def write_schedule(path: Path, play: Played, *, target: str, finding: str) -> list[str]:
    """Write a schedule beside the steps; returns what is said of it.

    Args:
        path: The file.
        play: What to write.
        target: Name of the target it was played on.
        finding: What the log's finding was.
    """
    save(path, play.schedule, target=target, finding=finding, trace=play.trace)
    where = "" if target == "reference" else f"--target {target} "
    told = [f"  leaserace replay {where}{path}"]
    if play.findings:
        told.append(f"  on {target}: {play.findings[0]}")
    else:
        told.append(f"  on {target}: no rule is broken")
    told.extend(
        f"  differs: {each}" for each in itertools.islice(play.differences, DIFFERENCES_SHOWN)
    )
    more = len(play.differences) - DIFFERENCES_SHOWN
    if more > 0:
        told.append(f"  differs: {more} more calls")
    if play.problem:
        told.append(f"  the order of the log was followed only in part: {play.problem}")
    return told


__all__ = ["Follow", "Played", "played", "write_schedule"]
