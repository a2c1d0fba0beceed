"""One working day in virtual time: agents that behave as the table of answers says (spec: R, A1, A2).

Agents, one task at a time, replies first. Each thinks, claims the contact, makes its calls, renews
between two calls when less than half of its lease is left (never on a timer of its own, spec: L6),
sends, releases. What it does next is the table's row: after a conflict it puts the task aside until
the lease in the way ends, as it was told; refused too often by one lease, the task goes to a person;
inside a cooldown it drops the message, or takes it up after ``until`` if that is today; after an
expiry it claims again and goes on with its draft; after a stale token the draft is thrown away.

What is not modelled: the time a call of the mailbox takes, its store's lock, lost replies, failing
transports, opt-outs, overrides, skewed clocks and agents that misbehave. The races are for those.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from ..contract import Code
from .cell import Bursts, Cell, quantiles_s
from .door import Door
from .traffic import DAY_MS, HOUR_MS, RESTART_MS, Task

RENEW_BELOW = 0.5
"""Share of the lease below which an agent renews before its next call."""
BURST_ABOVE = 3
Step = Callable[["_Agent", Task], None]


class _Agent:
    """Who works: at most one task in hand, the others in two queues."""

    __slots__ = ("is_busy", "number", "others", "replies")

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_busy = False
        self.replies: deque[Task] = deque()
        self.others: deque[Task] = deque()


class Day:
    """One run over one day.

    Args:
        door: The mailbox.
        tasks: The tasks of each agent; they are used up.
        lease_ms: Length of a lease.
        burst_above: Messages to one contact in an hour that are still no burst.
    """

    def __init__(
        self,
        door: Door,
        tasks: Sequence[Sequence[Task]],
        *,
        lease_ms: int,
        burst_above: int = BURST_ABOVE,
    ) -> None:
        self._door = door
        self._renew_below_ms = int(lease_ms * RENEW_BELOW)
        self._now_ms = 0
        self._next = 0
        self._events: list[tuple[int, int, Step, _Agent, Task]] = []
        self.tasks = self.replies = 0
        for number, mine in enumerate(tasks):
            agent = _Agent(number)
            for task in mine:
                self._events.append((task.at_ms, self._next, self._arrive, agent, task))
                self._next += 1
                self.replies += task.is_reply
        self.tasks = self._next
        heapify(self._events)
        self.attempts = self.conflicts = self.grants = self.renewals = 0
        self.delivered = self.blocked = self.dropped = 0
        self.escalated = self.expired = self.stale = self.crashes = 0
        self.held_ms = self.idle_ms = 0
        self.waits_ms, self.refused_waits_ms = array("q"), array("q")
        self.reply_ms = array("q")
        self.bursts = Bursts(burst_above)
        self._held: set[Task] = set()

    def run(self) -> None:
        """Go through the day to its end."""
        events = self._events
        while events and events[0][0] < DAY_MS:
            self._now_ms, _, step, agent, task = heappop(events)
            step(agent, task)
        for task in self._held:
            self.held_ms += min(task.ends_ms, DAY_MS) - task.granted_ms

    def _later(self, delay_ms: int, step: Step, agent: _Agent, task: Task) -> None:
        self._next += 1
        heappush(self._events, (self._now_ms + delay_ms, self._next, step, agent, task))

    # -- what to do next -------------------------------------------------------------------------

    def _arrive(self, agent: _Agent, task: Task) -> None:
        (agent.replies if task.is_reply else agent.others).append(task)
        if not agent.is_busy:
            self._take_up(agent)

    def _return(self, agent: _Agent, task: Task) -> None:
        """A task put aside comes back, before those that were not begun."""
        (agent.replies if task.is_reply else agent.others).appendleft(task)
        if not agent.is_busy:
            self._take_up(agent)

    def _take_up(self, agent: _Agent) -> None:
        queue = agent.replies or agent.others
        agent.is_busy = bool(queue)
        if queue:
            task = queue.popleft()
            self._later(
                0 if task.token or task.asked_ms >= 0 else task.think_ms, self._ask, agent, task
            )

    def _put_aside(self, agent: _Agent, task: Task, until_ms: int) -> None:
        self._later(max(until_ms - self._now_ms, 0) + task.spread_ms, self._return, agent, task)
        self._take_up(agent)

    # -- the lease -------------------------------------------------------------------------------

    def _ask(self, agent: _Agent, task: Task) -> None:
        now_ms = self._now_ms
        answer: Any = self._door.acquire(agent.number, task.contact, now_ms)
        self.attempts += 1
        if len(answer) == 3:
            self._granted(agent, task, *answer)
            return
        self.conflicts += 1
        code, ends_ms = answer
        if task.asked_ms < 0:
            task.asked_ms = now_ms
        if code is Code.CONTACT_OWNED:
            self._put_aside(agent, task, ends_ms)
        else:
            self.escalated += 1
            self._take_up(agent)

    def _granted(
        self, agent: _Agent, task: Task, token: int, ends_ms: int, cooldown_until_ms: int
    ) -> None:
        now_ms = self._now_ms
        self.grants += 1
        if task.asked_ms >= 0:
            self.refused_waits_ms.append(now_ms - task.asked_ms)
            self.waits_ms.append(now_ms - task.asked_ms)
            task.asked_ms = -1
        else:
            self.waits_ms.append(0)
        task.token, task.granted_ms, task.ends_ms = token, now_ms, ends_ms
        self._held.add(task)
        if cooldown_until_ms and not task.is_reply:
            self._release(agent, task)
            self._cooled(agent, task, cooldown_until_ms)
        else:
            self._work(agent, task)

    def _release(self, agent: _Agent, task: Task) -> None:
        self._door.release(agent.number, task.contact, task.token, self._now_ms)
        self._let_go(task)

    def _let_go(self, task: Task) -> None:
        """Count the lease's time: to its release or to its own end."""
        self._held.discard(task)
        self.held_ms += min(self._now_ms, task.ends_ms, DAY_MS) - task.granted_ms

    def _lost(self, agent: _Agent, task: Task, code: Code) -> None:
        """Refused as holder: claim again, and after a stale token begin anew (spec: L6, R)."""
        self._let_go(task)
        if code is Code.STALE_FENCING_TOKEN:
            self.stale += 1
            task.begin_again()
        else:
            self.expired += 1
        self._ask(agent, task)

    # -- the work --------------------------------------------------------------------------------

    def _work(self, agent: _Agent, task: Task) -> None:
        """The next call, or the send once all are made."""
        if task.done == len(task.calls_ms):
            self._send(agent, task)
            return
        length_ms = task.calls_ms[task.done]
        if task.done == task.crash_at:
            task.crash_at = -1
            self._later(length_ms // 2, self._crash, agent, task)
            return
        if task.done == task.hang_at:
            task.hang_at = -1
            begin_ms = self._now_ms + length_ms
            length_ms += task.hang_ms
            self._idle(task, begin_ms, begin_ms + task.hang_ms)
        self._later(length_ms, self._called, agent, task)

    def _called(self, agent: _Agent, task: Task) -> None:
        task.done += 1
        left_ms = task.ends_ms - self._now_ms
        if task.done < len(task.calls_ms) and left_ms < self._renew_below_ms:
            answer = self._door.renew(agent.number, task.contact, task.token, self._now_ms)
            if isinstance(answer, Code):
                self._lost(agent, task, answer)
                return
            self.renewals += 1
            task.ends_ms = answer
        self._work(agent, task)

    def _crash(self, agent: _Agent, task: Task) -> None:
        """The process is gone, the draft with it; the lease lives on until it ends by itself."""
        self.crashes += 1
        self._idle(task, self._now_ms, task.ends_ms)
        self._held.discard(task)
        self.held_ms += min(task.ends_ms, DAY_MS) - task.granted_ms
        task.begin_again()
        self._later(RESTART_MS, self._ask, agent, task)

    def _idle(self, task: Task, begin_ms: int, end_ms: int) -> None:
        self.idle_ms += max(0, min(end_ms, task.ends_ms, DAY_MS) - begin_ms)

    # -- the send --------------------------------------------------------------------------------

    def _send(self, agent: _Agent, task: Task) -> None:
        now_ms = self._now_ms
        code, until_ms = self._door.send(
            agent.number, task.contact, task.token, task.number, now_ms, is_reply=task.is_reply
        )
        if code is not None and code is not Code.COOLDOWN_ACTIVE:
            self._lost(agent, task, code)
            return
        self._release(agent, task)
        if code is not None:
            self._cooled(agent, task, until_ms)
            return
        self.delivered += 1
        self.bursts.delivered(task.contact, now_ms)
        if task.is_reply:
            self.reply_ms.append(now_ms - task.at_ms)
        self._take_up(agent)

    def _cooled(self, agent: _Agent, task: Task, until_ms: int) -> None:
        """Drop the message, or take it up after `until` (spec: R); a blocked reply is counted once."""
        if task.is_reply and not task.was_blocked:
            self.blocked += 1
            task.was_blocked = True
        if until_ms < DAY_MS:
            task.asked_ms = -1
            self._put_aside(agent, task, until_ms)
            return
        self.dropped += 1
        self._take_up(agent)

    def cell(self, *, lease: str, cooldown: str, lease_s: float, agents: int) -> Cell:
        """The figures of the day, after `run`."""
        done = self.delivered + self.dropped + self.escalated
        return Cell(
            agents=agents,
            lease=lease,
            cooldown=cooldown,
            lease_s=lease_s,
            tasks=self.tasks,
            attempts=self.attempts,
            conflicts=self.conflicts,
            grants=self.grants,
            renewals=self.renewals,
            wait_s=quantiles_s(self.waits_ms),
            waited=len(self.refused_waits_ms),
            refused_wait_s=quantiles_s(self.refused_waits_ms),
            reply_s=quantiles_s(self.reply_ms),
            held_s=self.held_ms / 1000,
            idle_s=self.idle_ms / 1000,
            delivered=self.delivered,
            replies=self.replies,
            replies_blocked=self.blocked,
            dropped=self.dropped,
            bursts=self.bursts.count,
            burst_contacts=len(self.bursts.contacts),
            escalated=self.escalated,
            expired=self.expired,
            stale=self.stale,
            crashes=self.crashes,
            unfinished=self.tasks - done,
            hours=DAY_MS / HOUR_MS,
        )
