"""Agents of ours as a user would write them: one callable for each habit, such as ``ours:uuid_per_call``.

They are the twins of the agents' rules: each bad habit must be recognised by its name, the good ones
come out clean (spec: A3). ``leaserace gate --agent leaserace.harness.agents.ours:well_behaved``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, MutableMapping
from functools import partial
from itertools import pairwise
from typing import Any

from ..clocks import AgentClock
from ..contract import Answer, Sent, Settings
from ..errand import Errand
from ..habits import HABITS
from .mailbox import AgentMailbox, StopSignal, answer_of
from .task import AgentTask, Assignment

RENEWALS_A_LEASE = 3
OPT_OUT = "unsubscribe"
"""The word by which these simple agents know an opt-out."""


class TaskSeat:
    """A seat for an `Errand`, made of what an agent under test is given.

    Args:
        mailbox: What it speaks to.
        task: What it is to do.
        stop: When it is to stop.
    """

    def __init__(self, mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
        self._mailbox = mailbox
        self._task = task
        self._stop = stop
        self.id = task.agent
        self.incarnation = task.attempt
        self.settings: Settings = task.settings
        self.clock: AgentClock = task.clock
        self.kept: MutableMapping[str, str] = task.memory
        self.rng = random.Random(f"{task.run}:{task.attempt}")

    def call(self, f: str, contact: str, **args: Any) -> Answer:  # noqa: ARG002 - a seat's form
        """One call of the mailbox; what is out is written down."""
        answer: Answer = answer_of(partial(getattr(self._mailbox, f), **args))
        if isinstance(answer, Sent):
            self.kept.setdefault(args["message"].intent, str(self.incarnation))
        return answer

    def was_sent(self, intent: str) -> bool:
        """Whether an earlier start of this run has sent it (spec: O1, layer two)."""
        return int(self.kept.get(intent, self.incarnation)) < self.incarnation

    def running(self) -> bool:
        """Until it is to stop."""
        return not self._stop.is_set()

    def wait_s(self, seconds: float) -> None:
        """Wait by the engine's time."""
        self._stop.wait(seconds)


def agent_of(habit: str) -> Callable[[AgentMailbox, AgentTask, StopSignal], None]:
    """The agent with this habit.

    Args:
        habit: Its name in `leaserace.harness.habits`.
    """
    errand = HABITS[habit].errand

    def run(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
        seat = TaskSeat(mailbox, task, stop)
        for address in task.recipients:
            _work(seat, errand, [each for each in task.messages if each.to == address], task)

    run.__name__ = run.__qualname__ = habit.replace("-", "_")
    run.__doc__ = HABITS[habit].summary
    return run


def _work(seat: TaskSeat, kind: type[Errand], messages: list[Assignment], task: AgentTask) -> None:
    """Write what is wanted of one contact, under one lease."""
    args = {"contact": messages[0].to, "address": messages[0].to, "run": task.run}
    own: Any = seat  # what an errand needs of a seat, and no more
    errand = kind(own, args, task.kind)
    if any(OPT_OUT in each.inbound.lower() for each in messages):
        errand.opted_out = True
        errand.give_back()
        return

    def write_all(errand: Errand) -> None:
        for wanted, following in pairwise([*messages, None]):
            assert wanted is not None
            if not _write(seat, errand, wanted, keep=following is not None):
                break
        errand.give_back()

    errand.perform(write_all)


def _write(seat: TaskSeat, errand: Errand, wanted: Assignment, *, keep: bool) -> bool:
    """Draft, then write one message, unless the table of what was sent says that it is out."""
    if not seat.running():
        return False
    if seat.was_sent(wanted.intent):
        return True
    if wanted.drafting_s and not _draft(seat, errand, wanted.drafting_s):
        return False
    return errand.write(wanted.step, keep=keep)


def _draft(seat: TaskSeat, errand: Errand, seconds: float) -> bool:
    """Spend the time under the lease, renewing it; False if it was lost (spec: L6, L10)."""
    if not errand.hold():
        return False
    beat_s = seat.settings.lease_s / RENEWALS_A_LEASE
    while seconds > 0 and seat.running():
        seat.wait_s(min(beat_s, seconds))
        seconds -= beat_s
        if not errand.renew():
            return False
    return True


def __getattr__(name: str) -> Callable[[AgentMailbox, AgentTask, StopSignal], None]:
    habit = name.replace("_", "-")
    if habit not in HABITS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return agent_of(habit)


__all__ = ["TaskSeat", "agent_of"]
