"""Every schedule within a bound, fewer by what can't matter.

Depth first, each schedule run from its begin. What is left out, and why it may be:

* **Glued steps.** A step of one agent that touches nothing shared commutes with all others. So an agent
  that has done nothing shared since it was chosen goes on, and so does one whose next step is known to
  be its own affair: its call is invoked as late and completed as early as can be, which is when
  rules by intervals judge most strictly. Inside a section nobody else can do anything shared.
* **Sleep sets.** Two steps that touch different contacts and keys commute: one order is enough
  (Godefroid, 1996). What a step touches is what its points said when it ran.
* **Symmetry.** Of agents that have not begun and are of one kind, the first begins.
* **Visited states.** Where store, clock, agents, rules and what may still go wrong are the same, the
  rest is the same.

A schedule shares its begin with the one before; there, nothing is weighed again.

Unreduced search (`reduce=False`) does none of this; tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..choices import CRASH, LOSE, REFUSE, SILENT, TIME
from ..states import key_of
from ..task import State, Task
from ..transport import SimTransport
from .frames import Count, Footprint, Frame, Pruned, Relearn, Taken

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ...rules.base import Judge
    from ..driver import Driver

NOTHING: frozenset[str] = frozenset()
OWN_POINTS = (".think", ".invoked", ".returned")
"""Points of the kit: they say nothing of what is touched."""
SILENT_POINTS = frozenset({"start", SimTransport.POINT})
"""So do these, which are the simulator's own."""


class Exhaustive:
    """The chooser of an exhaustive search, kept from schedule to schedule.

    Args:
        content: How the store's content is read; None: no visited states.
        reduce: Leave out what can't matter.
        kinds: The kind of each agent; equal kinds may be exchanged.
    """

    name = "exhaustive"

    def __init__(
        self,
        *,
        content: Callable[[], Hashable] | None,
        reduce: bool = True,
        kinds: tuple[str, ...] = (),
    ) -> None:
        self._content = content if reduce else None
        self._reduce = reduce
        self._kinds = kinds
        self._shared: set[str] = set()
        """Points after which a step was seen to touch something shared."""
        self.count = Count()
        self.visited: dict[int, frozenset[int]] = {}
        self.judge: Judge | None = None
        self.is_exhausted = False
        self._frames: list[Frame] = []
        self._path: list[Taken] = []
        self._reset()

    def _reset(self) -> None:
        self._depth = 0
        self._place = 0
        self._commits = 0
        self._prints: set[str] = set()
        self._movers: set[int] = set()
        self._anything = self._declared = False
        self._from = ""

    def bind(self, driver: Driver) -> Callable[[], Task | None]:
        """Moves that are taken again need no way round by the hub; the hub asks for all else.

        It also has the word after each commit: then the audit log is judged as it grows.
        """
        path, tasks, world, findings = self._path, driver.tasks, driver.world, driver.findings

        def ask() -> Task | None:
            place = self._place
            if place >= len(path) or findings or world.commits != self._commits:
                return None
            taken = path[place]
            if taken.choice >= CRASH:
                return None
            task = tasks[taken.choice]
            if task.state is not State.READY:
                return None
            self._take_again(driver, taken)
            driver.trail.append(taken.choice)
            driver.last = taken.choice
            return task

        return ask

    def begin(self, driver: Driver) -> None:  # noqa: ARG002
        """A schedule begins."""
        self._reset()

    def end(self, driver: Driver) -> None:  # noqa: ARG002
        """A schedule has ended, or was cut off where it had been before."""
        self._close(self._footprint())

    def restart(self) -> None:
        """Forget everything but which points are shared."""
        self.visited.clear()
        self._frames.clear()
        self._path.clear()
        self.count = Count(restarts=self.count.restarts + 1)

    def advance(self) -> bool:
        """Go to the next schedule; False if there is none left."""
        self.count.schedules += 1
        frames = self._frames
        while frames:
            frame = frames[-1]
            frame.at += 1
            if frame.at < len(frame.options):
                del self._path[frame.place :]
                return True
            frames.pop()
        self.is_exhausted = True
        return False

    # -- one choice ------------------------------------------------------------------------------

    def pick(self, driver: Driver) -> int:
        """Choose.

        Raises:
            Pruned: This place was explored before.
            Relearn: What was taken for an agent's own step was not.
        """
        self._commits = driver.world.commits
        if self._place < len(self._path):
            taken = self._path[self._place]
            self._take_again(driver, taken)
            return taken.choice
        moves = driver.offered
        last = driver.tasks[driver.last] if driver.last >= 0 else None
        if last is not None:
            self._learn(last)
        was_fresh = last is not None and last.fresh
        glued = self._reduce and not driver.is_forced and last is not None and self._glued(last)
        if glued and last is not None:
            options = [last.index, *self._faults(driver, last)]
        else:
            options = self._switch(driver, moves, last)
        is_free = len(options) > 1 or (self._reduce and not glued)
        choice = self._at_frame(driver, options) if is_free else options[0]
        stale = was_fresh and last is not None and not last.fresh
        self._path.append(Taken(choice, glued, stale, is_free, driver.is_forced))
        self._go(driver, choice, glued=glued)
        return choice

    def _take_again(self, driver: Driver, taken: Taken) -> None:
        """Take a step of the schedule before once more."""
        last = driver.tasks[driver.last] if driver.last >= 0 else None
        if last is not None:
            self._learn(last)
            if taken.stale:
                last.fresh = False
        driver.is_forced = taken.forced
        if taken.framed:
            self._depth += 1
            self._forget()
        self._go(driver, taken.choice, glued=taken.glued)

    def _go(self, driver: Driver, choice: int, *, glued: bool) -> None:
        """A step is being taken."""
        self._place += 1
        if choice < TIME:
            self._chosen(driver.tasks[choice & 15], choice, glued=glued)
        else:
            self._from = ""

    def _forget(self) -> None:
        """What was touched up to here counts for the choice before."""
        self._prints, self._movers = set(), set()
        self._anything = self._declared = False

    def _glued(self, last: Task) -> bool:
        """Whether the agent that moved last goes on without a choice."""
        if last.state is not State.READY or last.waits_for is not None:
            return False
        point = last.point
        if last.holds or point.endswith(".invoked"):
            return True
        if point.endswith(".think"):
            return not last.touched
        return not last.touched or point not in self._shared

    def _switch(self, driver: Driver, moves: list[int], last: Task | None) -> list[int]:
        """What can happen where any agent may move."""
        if not self._reduce:
            return moves + driver.extras()
        options = moves if driver.is_forced else self._without_twins(driver, moves)
        if driver.time_steps < driver.bounds.time_steps and not driver.is_forced:
            options = options + driver.times()
        if last is not None and last.state is State.READY:
            options = options + self._faults(driver, last)
        return options

    def _without_twins(self, driver: Driver, moves: list[int]) -> list[int]:
        """Of agents of one kind that have not begun, only the first."""
        kinds = self._kinds
        if not kinds:
            return moves
        seen: set[str] = set()
        kept = []
        for index in moves:
            if driver.tasks[index].point == "start" and driver.tasks[index].incarnation == 0:
                if kinds[index] in seen:
                    continue
                seen.add(kinds[index])
            kept.append(index)
        return kept

    def _faults(self, driver: Driver, last: Task) -> list[int]:
        """Faults that strike the agent that has just come to its point, where they make a difference.

        A crash makes one where something shared happened, or a call ended, since it was offered last;
        inside a section it is rolled back.
        """
        bounds = driver.bounds
        point = last.point
        fresh = last.fresh and not last.holds
        if fresh:
            last.fresh = False
        if driver.world.faults >= bounds.faults:
            return []
        found = []
        if CRASH in bounds.kinds and fresh:
            found.append(CRASH + last.index)
        if LOSE in bounds.kinds and point.endswith(".returned"):
            found.append(LOSE + last.index)
        if point == SimTransport.POINT:
            found += [kind + last.index for kind in (SILENT, REFUSE) if kind in bounds.kinds]
        return found

    # -- frames ------------------------------------------------------------------------------------

    def _at_frame(self, driver: Driver, options: list[int]) -> int:
        depth = self._depth
        self._depth += 1
        footprint = self._footprint()
        above = self._frames[depth - 1] if depth else None
        if above is not None:
            above.done[above.choice] = footprint
        if depth < len(self._frames):
            frame = self._frames[depth]
        else:
            sleep = self._sleep_after(above, footprint)
            options = self._unvisited(driver, options, sleep)
            frame = Frame(options=options, sleep=sleep, place=self._place)
            self._frames.append(frame)
        self._forget()
        return frame.choice

    def _close(self, footprint: Footprint) -> None:
        if 0 < self._depth <= len(self._frames):
            frame = self._frames[self._depth - 1]
            frame.done.setdefault(frame.choice, footprint)

    def _sleep_after(self, above: Frame | None, footprint: Footprint) -> dict[int, Footprint]:
        """Moves that were explored before this one and commute with it."""
        if above is None or footprint is None or above.choice >= CRASH or not self._reduce:
            return {}
        before = {choice: print_ for choice, print_ in above.done.items() if choice < CRASH}
        return {
            choice: print_
            for choice, print_ in (above.sleep | before).items()
            if print_ is not None and choice not in self._movers and not print_ & footprint
        }

    def _unvisited(
        self,
        driver: Driver,
        options: list[int],
        sleep: dict[int, Footprint],
    ) -> list[int]:
        """What is left to explore here.

        Raises:
            Pruned: Nothing is.
        """
        awake = [choice for choice in options if choice not in sleep]
        self.count.asleep += len(options) - len(awake)
        if self._content is not None and self.judge is not None:
            key = hash((key_of(driver, self.judge, self._content()), tuple(options)))
            before = self.visited.get(key)
            if before is not None:
                awake = [choice for choice in awake if choice in before]
                self.visited[key] = before.intersection(sleep)
            else:
                self.visited[key] = frozenset(sleep)
        if not awake:
            raise Pruned
        return awake

    # -- footprints ----------------------------------------------------------------------------------

    def _learn(self, last: Task) -> None:
        """Whether its last step touched something shared, and so what follows which point.

        Raises:
            Relearn: That step was taken for the agent's own affair.
        """
        if last.stepped:
            last.stepped = False
            last.touched = last.fresh = True
            if self._from and self._from not in self._shared:
                self._shared.add(self._from)
                if self._reduce and not self._from.endswith(OWN_POINTS[:2]):
                    raise Relearn(self._from)
        elif last.point.endswith(".think") and last.view:
            last.fresh = True

    def _note(self, last: Task) -> None:
        """Add what the step after the agent's point is said to touch."""
        if last.point in SILENT_POINTS or last.point.endswith(OWN_POINTS):
            return
        self._declared = True
        if last.touches:
            self._prints.update(last.touches)
        else:
            self._anything = True

    def _footprint(self) -> Footprint:
        if self._anything or not self._declared:
            return None
        return frozenset(self._prints)

    def _chosen(self, task: Task, choice: int, *, glued: bool) -> None:
        """Note where the next step starts and what it is said to touch."""
        self._from = task.point if choice < CRASH else ""
        self._movers.add(task.index)
        if not glued:
            task.touched = False
        if choice < CRASH:
            self._note(task)


__all__ = ["Count", "Exhaustive", "Pruned", "Relearn"]
