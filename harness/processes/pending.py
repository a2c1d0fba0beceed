"""What a script holds of an agent: a call under way, and a fault that is aimed at a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..clocks import monotonic_ns
from ..contract import Answer, Sent
from ..faults import AimedFault, FaultKind
from ..scenario import NotReached
from .deadlines import RaceAborted

if TYPE_CHECKING:
    from .actors import ProcessActor


class ProcessPending:
    """A call under way.

    Args:
        actor: Who makes it.
        f: The mailbox method.
        intent: Of the message it sends, or "".
    """

    def __init__(self, actor: ProcessActor, f: str, intent: str) -> None:
        self._actor = actor
        self.f = f
        self._intent = intent
        self._answer: Answer | None = None

    def take(self, answer: Answer) -> None:
        """Learn the answer."""
        crew = self._actor.crew
        self._answer = answer
        crew.note(answer)
        if isinstance(answer, Sent) and not answer.replay and self._intent:
            crew.acknowledged.add(self._intent)

    def is_done(self) -> bool:
        """Whether the answer is there."""
        if self._answer is None:
            self._actor.crew.hear(0.0)
        return self._answer is not None

    def answer(self) -> Answer:
        """Wait for it and return what the agent saw.

        Raises:
            RaceAborted: It did not come in time; the agent was cut off.
        """
        crew = self._actor.crew
        if not crew.wait_for(lambda: self._answer is not None, crew.deadlines.call_s):
            self._actor.cut_off(f"{self.f} did not answer within {crew.deadlines.call_s:g} s")
        assert self._answer is not None
        return self._answer


class ProcessStop:
    """A pause, a hold or a crash that is aimed at a point.

    Args:
        actor: Whom it strikes.
        fault: What, and where.
        number: By which the agent reports it.
    """

    def __init__(self, actor: ProcessActor, fault: AimedFault, number: int) -> None:
        self._actor = actor
        self._fault = fault
        self.number = number
        self._struck = False
        self._fault_id: str | None = None

    def wait(self) -> None:
        """Wait until the agent stands at the point and is stopped.

        Raises:
            NotReached: The call ended, or the deadline passed, without coming by.
        """
        crew = self._actor.crew
        within_s = self._actor.time_left_s
        crew.wait_for(lambda: self._struck or not self._actor.is_busy, within_s)
        if not self._struck:
            self._actor.disarm(self)
            raise NotReached(f"{self._actor.id} did not come by {self._fault.point}")

    def strike(self, reached_ns: int) -> None:
        """The agent reports that it stands at the point and waits."""
        self._struck = True
        ledger = self._actor.crew.ledger
        point = self._fault.point
        match self._fault.kind:
            case FaultKind.PAUSE:
                confirmed_us = self._actor.stop_process()
                after_us = (monotonic_ns() - reached_ns) / 1000
                self._fault_id = ledger.begin(
                    FaultKind.PAUSE,
                    self._actor.id,
                    point=point,
                    confirmed_us=confirmed_us,
                    after_us=after_us,
                    **self._actor.who,
                )
                ledger.pause_confirmed_us.append(confirmed_us)
                ledger.paused_after_us.append(after_us)
            case FaultKind.CRASH:
                self._actor.kill(point)
            case kind:
                self._fault_id = ledger.begin(kind, self._actor.id, point=point, **self._actor.who)

    def resume(self) -> None:
        """Let the agent go on, or forget the point if it has not come there."""
        if not self._struck:
            self._actor.disarm(self)
        elif self._fault_id is not None:
            self.lift()
            self._actor.go_on(paused=self._fault.kind is FaultKind.PAUSE)
        self._actor.stops.pop(self.number, None)

    def lift(self) -> None:
        """Write the fault's last instant: the agent is about to go on, or is dead."""
        self._actor.crew.ledger.end(self._fault_id)
        self._fault_id = None


class ProcessEngaged:
    """A playbook under way in an agent's process.

    Args:
        actor: Who plays it.
    """

    def __init__(self, actor: ProcessActor) -> None:
        self._actor = actor

    def is_done(self) -> bool:
        """Whether it ended, or its agent is dead."""
        self._actor.crew.hear(0.0)
        return not self._actor.is_playing

    def wait(self) -> None:
        """Wait for its end.

        Raises:
            RaceAborted: It did not come; the agent was cut off.
        """
        actor = self._actor
        try:
            said = actor.played(actor.time_left_s)
        except RaceAborted:
            # What an agent left undone because it was killed is no fault of its own.
            actor.crew.ledger.begin(FaultKind.CRASH, actor.id, **actor.who)
            raise
        if said is not None and said.problem:
            actor.crew.ledger.problem(f"{actor.id}: {said.problem}")
