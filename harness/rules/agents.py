"""Rules about the agent that is under test: what it does with the answers it is given (spec: A).

They judge the agents that a mark ``agent.under_test`` names, and wake only when one stands in the
history. The mailbox is taken for correct: its own rules judge it. What each act is measured by is what
had reached the agent's process when it called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from ..contract import Capability
from ..history import FaultEvent, MarkEvent, Operation
from ..verdict import Finding
from . import agents_again, agents_habits, agents_keys, agents_next, agents_renewals
from .agents_draft import draft_of
from .agents_seen import Seen
from .agents_slip import Act, Detector, Slip
from .base import RaceInfo, Rule
from .ledger import Ledger
from .people import View

UNDER_TEST = "agent.under_test"
"""The mark that names an agent whose actions are judged."""
_SHOWS = "shows the habit "


class AgentRule(Rule):
    """What the rules of this family share: whom they judge, and what those have seen.

    Attributes:
        before: Look at a call that begins.
        after: Look at a call that ended.
    """

    needs_mark = UNDER_TEST
    before: ClassVar[tuple[Detector, ...]] = ()
    after: ClassVar[tuple[Detector, ...]] = ()

    def __init__(self, info: RaceInfo, ledger: Ledger) -> None:
        super().__init__(info, ledger)
        self._agents: set[str] = set()
        self._seen = Seen()

    def state(self) -> object:
        """Who is under test, and what they have seen."""
        return (frozenset(self._agents), self._seen.picture())

    def marked(self, event: MarkEvent) -> Iterable[Finding]:
        if event.name == UNDER_TEST:
            self._agents.add(event.agent)
        return ()

    def struck(self, event: FaultEvent) -> Iterable[Finding]:
        self._seen.struck(event)
        return ()

    def invoked(self, view: View) -> Iterable[Finding]:
        if view.op.agent in self._agents:
            act = self._act(view)
            yield from self._told(self.before, act)
            self._seen.called(act.op, act.draft)

    def completed(self, view: View) -> Iterable[Finding]:
        if view.op.agent in self._agents:
            act = self._act(view)
            yield from self._told(self.after, act)
            self._seen.answered(view, act.draft)

    def _act(self, view: View) -> Act:
        return Act(
            view=view,
            draft=draft_of(view.op),
            seen=self._seen,
            ledger=self.ledger,
            capabilities=self.info.capabilities,
        )

    def _told(self, detectors: Sequence[Detector], act: Act) -> Iterator[Finding]:
        for look in detectors:
            for slip in look(act):
                yield from self.tell(slip)

    def tell(self, slip: Slip) -> Iterable[Finding]:
        """Make findings of a slip."""
        yield self.finding(f"{slip.ops[-1].agent} {slip.what}", *slip.ops)


class NextAction(AgentRule):
    """After each answer the agent does what the action table of spec R says.

    Spec: A1, R1. Nothing is sent after a conflict without a grant, nothing before a cooldown's end,
    nothing under a token it knows to be dead, nothing to a contact it knows to be suppressed; a send
    whose outcome is unknown is looked up, and tried again only if no message id exists; `store_busy` is
    waited for; what was refused for its key, its text, its address or its scope is not asked again as it
    was; what a person has to decide is left to that person.

    Legal::

        sales-01 send -> send_status_unknown
        sales-01 lookup -> unknown, no message id
        sales-01 send -> sent

    Illegal::

        sales-01 send -> send_status_unknown
        sales-01 send -> sent, a replay
    """

    name = "agent.next_action"
    spec = ("A1", "R", "R1")
    before = (agents_next.before, agents_again.before)
    after = (agents_again.after,)

    def invoked(self, view: View) -> Iterable[Finding]:
        self.exercised += view.op.agent in self._agents
        return super().invoked(view)


class Keys(AgentRule):
    """One key for each logical send: the same at every try, another for another send.

    Spec: A1, K1, K7. Compared as written, over all processes of the agent. A key that the mailbox
    refused, or a message that it refused, is followed by another key; so is a try that was refused for
    certain and is drafted anew.

    Legal::

        sales-01 send i1 key a -> no reply
        sales-01 send i1 key a -> sent, a replay

    Illegal::

        sales-01 send i1 key a -> no reply
        sales-01 send i1 key b -> sent
    """

    name = "agent.keys"
    spec = ("A1", "K1", "K7")
    needs = frozenset({Capability.SEND, Capability.IDEMPOTENCY})
    before = (agents_keys.before,)

    def invoked(self, view: View) -> Iterable[Finding]:
        self.exercised += view.op.agent in self._agents and "message" in view.op.args
        return super().invoked(view)


class Renewals(AgentRule):
    """The agent renews only while it works, stops when that fails, and gives back what it holds.

    Spec: A2, L6, R2. Three renewals in a row after its last send under a lease, with nothing else done
    until the lease's end, are a timer that nobody stopped; so are ten in a row at any time. A lease it
    neither used nor gave back, one it holds at the end of the history, and a fourth claim against one
    lease are findings; a crash excuses the first two.

    Legal::

        sales-01 acquire -> granted
        sales-01 renew   -> renewed
        sales-01 send    -> sent
        sales-01 release -> released

    Illegal::

        sales-01 acquire -> granted
        sales-01 renew   -> lease_expired
        sales-01 send    -> lease_expired
    """

    name = "agent.renewals"
    spec = ("A2", "L6", "R2")
    needs = frozenset({Capability.LEASE})
    before = (agents_renewals.before,)
    after = (agents_renewals.after,)

    def invoked(self, view: View) -> Iterable[Finding]:
        held = view.op.f in {"acquire", "renew", "release"}
        self.exercised += held and view.op.agent in self._agents
        return super().invoked(view)

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        for slip in agents_renewals.at_end(self._seen, self.ledger, open_ops):
            yield from self.tell(slip)


class Habits(AgentRule):
    """A bad habit is recognised by what was done, and named once for each agent.

    Spec: A3, K9, C3, O2, O3. The finding carries the operations that show it first. The names are those
    of `leaserace.harness.habits`.

    Legal::

        sales-01 send i1 key run:1:jane -> no reply
        sales-01 send i1 key run:1:jane -> sent, a replay

    Illegal::

        sales-01 send i1 key run:1:jane:1800000000000 -> no reply
        sales-01 send i1 key run:1:jane:1800000000050 -> sent
    """

    name = "agent.habits"
    spec = ("A3", "K9")
    before = (
        agents_next.before,
        agents_again.before,
        agents_keys.before,
        agents_renewals.before,
        agents_habits.before,
    )
    after = (agents_again.after, agents_renewals.after)

    def __init__(self, info: RaceInfo, ledger: Ledger) -> None:
        super().__init__(info, ledger)
        self._named: set[tuple[str, str]] = set()

    def state(self) -> object:
        """What was named already counts too."""
        return (super().state(), frozenset(self._named))

    def invoked(self, view: View) -> Iterable[Finding]:
        self.exercised += view.op.agent in self._agents
        return super().invoked(view)

    def finish(self, open_ops: Sequence[Operation]) -> Iterable[Finding]:
        for slip in agents_renewals.at_end(self._seen, self.ledger, open_ops):
            yield from self.tell(slip)

    def tell(self, slip: Slip) -> Iterable[Finding]:
        agent = slip.ops[-1].agent
        if slip.habit and (agent, slip.habit) not in self._named:
            self._named.add((agent, slip.habit))
            yield self.finding(f"{agent} {_SHOWS}{slip.habit}: it {slip.what}", *slip.ops)


def habit_in(finding: Finding) -> str:
    """The habit that a finding of `agent.habits` names, or ""."""
    _, shows, rest = finding.message.partition(_SHOWS)
    return rest.partition(":")[0] if shows and finding.rule == Habits.name else ""


AGENT_RULES: tuple[type[AgentRule], ...] = (NextAction, Keys, Renewals, Habits)
"""The rules of this family."""

__all__ = ["AGENT_RULES", "UNDER_TEST", "AgentRule", "habit_in"]
