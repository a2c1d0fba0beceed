"""Many runs of the state machine within a budget: what was reached, and what was found.

Hypothesis draws in batches, each with a seed of its own made from the campaign's; what was found
before is tried first. Its profiles are never used: under CI they would forbid new examples.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..contract import UsageError
from ..verdict import Verdict
from .reached import Reached
from .shrinking import shrink
from .stands import Played, Stand, play
from .steps import Plan
from .words import difference

BATCH = 9
"""Runs Hypothesis draws on end, the plainest one first. From ten on it would draw few afresh: some
as plain as can be, and past its health checks five near-copies of each."""
TWICE_EVERY = 100
"""Simulated runs of which one is played a second time."""
REPLAYS = 3
"""How often a finding's plan is played again before it is called certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much is tried.

    Args:
        examples: Runs.
        steps: Rules that are drawn in a run; up to four steps each.
        must_reach: A rule that never had anything to judge is an error of the fuzzer.
    """

    examples: int
    steps: int = 10
    must_reach: bool = False


PROFILES = {
    "dev": Profile(examples=300),
    "ci": Profile(examples=1_500),
    "nightly": Profile(examples=20_000, steps=16, must_reach=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When a campaign ends.

    Args:
        examples: After so many runs; None for no bound.
        seconds: After so long; None for no bound.
        steps: Rules that are drawn in a run.
    """

    examples: int | None = None
    seconds: float | None = None
    steps: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A finding, as short as it could be made.

    Args:
        first: The run that showed it.
        shortest: The run of the shrunk plan.
        after: Runs until then.
        after_s: Seconds until then.
        shown: How many of the replays showed the same rule broken.
        replays: How often it was played again.
        flaky: Where two runs of the same plan differed first, or "".
        from_corpus: It was known from an earlier campaign.
    """

    first: Played
    shortest: Played
    after: int
    after_s: float
    shown: int
    replays: int
    flaky: str = ""
    from_corpus: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether every replay showed it."""
        return self.shown == self.replays


@dataclass(slots=True, kw_only=True)
class Campaigned:
    """What a campaign came to.

    Args:
        reached: What was reached.
        seconds: How long it took, shrinking left out.
        case: What was found, or None.
        unstable: What Hypothesis said of a run that could not be repeated, or "".
    """

    reached: Reached = field(default_factory=Reached)
    seconds: float = 0.0
    case: Case | None = None
    unstable: str = ""

    @property
    def verdict(self) -> Verdict:
        """Invalid with a finding; unknown if nothing ran, or a run could not be judged."""
        if self.case is not None:
            return Verdict.INVALID
        reached = self.reached
        if not reached.examples or reached.problems or reached.never_answered() or self.unstable:
            return Verdict.UNKNOWN
        return Verdict.VALID

    @property
    def rate(self) -> float:
        """Runs a second."""
        return self.reached.examples / self.seconds if self.seconds else 0.0


class _Over(BaseException):
    """The budget is used up, or something was found: no further run."""


class Corpus:
    """Plans that showed something before, a line each; they do not depend on Hypothesis.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def plans(self) -> list[Plan]:
        """What is in it; lines of another version are left out."""
        if not self._path.exists():
            return []
        plans = []
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                plans.append(Plan.from_text(line))
            except UsageError:
                continue
        return plans

    def add(self, plan: Plan) -> None:
        """Keep a plan."""
        if plan in self.plans():
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(plan.to_text() + "\n")


class Campaign:
    """Runs the state machine at a stand.

    Args:
        stand: Entered.
        budget: When it ends.
        seed: Of all draws.
        folder: Where Hypothesis keeps its examples; None for nowhere.
        corpus: Plans to try first, or None.
        shrink_at: Opens the stand findings are shrunk at, if that is another.
        on_progress: Told of what was reached, after each run.
    """

    def __init__(
        self,
        stand: Stand,
        budget: Budget,
        *,
        seed: int = 0,
        folder: Path | None = None,
        corpus: Corpus | None = None,
        shrink_at: Callable[[], AbstractContextManager[Stand]] | None = None,
        on_progress: Callable[[Reached], None] | None = None,
    ) -> None:
        self._stand = stand
        self._budget = budget
        self._seed = seed
        self._folder = folder
        self._corpus = corpus
        self._shrink_at = shrink_at
        self._on_progress = on_progress or (lambda _: None)
        self._found: Played | None = None
        self._from_corpus = False
        self._result = Campaigned()

    def run(self) -> Campaigned:
        """Run until the budget is used up or something was found."""
        self._begun = time.perf_counter()
        try:
            self._try_known()
            self._draw()
        except _Over:
            pass
        self._result.seconds = time.perf_counter() - self._begun
        if self._found is not None:
            self._result.case = self._examined(self._found)
        return self._result

    def _try_known(self) -> None:
        for plan in self._corpus.plans() if self._corpus else ():
            self._from_corpus = True
            self._hear(play(self._stand, plan))
        self._from_corpus = False

    def _hear(self, played: Played) -> None:
        """Count a run; end where there is a reason to.

        Raises:
            _Over: There is.
        """
        if self._found is not None:
            return  # Hypothesis runs a finding again
        reached = self._result.reached
        reached.take(played)
        self._on_progress(reached)
        if not self._stand.is_real and reached.examples % TWICE_EVERY == 0:
            self._again(played)
        if played.findings:
            self._found = played
            if self._folder is None or self._from_corpus:
                raise _Over
            return  # the machine tells Hypothesis, which keeps the example
        budget = self._budget
        if budget.examples is not None and reached.examples >= budget.examples:
            raise _Over
        if budget.seconds is not None and time.perf_counter() - self._begun >= budget.seconds:
            raise _Over

    def _again(self, played: Played) -> None:
        """A sample of runs is played twice: the simulator must not depend on anything it does not set.

        Raises:
            _Over: The two runs differ.
        """
        shape = played.plan.shape
        differs = difference(played.told, play(self._stand, played.plan).told, shape)
        if differs and not played.findings:
            self._result.unstable = f"the same steps came out otherwise the second time: {differs}"
            raise _Over

    def _draw(self) -> None:
        """One batch after the other."""
        from hypothesis import Phase, errors

        from .machine import Aborted, Found

        number = 0
        test = self._test([Phase.reuse, Phase.generate])
        afresh = self._test([Phase.generate])
        while self._found is None:
            try:
                self._batch(test if number == 0 else afresh, number)
            except Found:
                return
            except Aborted as aborted:
                raise aborted.error from None
            except errors.Flaky as error:
                if self._found is None:
                    self._result.unstable = " ".join(str(error).split())
                return
            number += 1

    def _test(self, phases: Sequence[Any]) -> Any:
        """The machine as Hypothesis runs it."""
        from hypothesis import HealthCheck, Verbosity, settings
        from hypothesis.stateful import get_state_machine_test

        from .machine import machine_for

        return get_state_machine_test(
            machine_for(self._stand, self._hear),
            settings=settings(
                max_examples=BATCH,
                stateful_step_count=self._budget.steps,
                phases=phases,
                database=self._database(),
                derandomize=False,
                deadline=None,
                print_blob=False,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
                verbosity=Verbosity.quiet,
            ),
        )

    def _batch(self, test: Any, number: int) -> None:
        from hypothesis import seed
        from hypothesis.errors import HypothesisWarning, NonInteractiveExampleWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)
            warnings.simplefilter("ignore", NonInteractiveExampleWarning)
            seed(self._seed * 1_000_003 + number)(test)()

    def _database(self) -> Any:
        from hypothesis.database import DirectoryBasedExampleDatabase

        return None if self._folder is None else DirectoryBasedExampleDatabase(self._folder)

    def _examined(self, found: Played) -> Case:
        """Play it again, shrink it if it is certain, keep it for the next campaign."""
        rule = found.findings[0].rule
        runs = [play(self._stand, found.plan) for _ in range(REPLAYS)]
        shown = [run for run in runs if any(each.rule == rule for each in run.findings)]
        shape = found.plan.shape
        differences = (difference(found.told, run.told, shape) for run in runs if run not in shown)
        shortest = self._shrunk(found, is_certain=len(shown) == REPLAYS)
        if self._corpus is not None:
            self._corpus.add(shortest.plan)
        return Case(
            first=found,
            shortest=shortest,
            after=self._result.reached.examples,
            after_s=self._result.seconds,
            shown=len(shown),
            replays=REPLAYS,
            flaky=next(filter(None, differences), ""),
            from_corpus=self._from_corpus,
        )

    def _shrunk(self, found: Played, *, is_certain: bool) -> Played:
        """The shortest run: on the simulator where that shows it too, else where it was found."""
        if self._shrink_at is not None:
            # Whatever keeps it from being simulated: what was found for real must not get lost.
            with contextlib.suppress(Exception), self._shrink_at() as stand:
                again = play(stand, found.plan)
                if again.findings:
                    return shrink(stand, again)
        return shrink(self._stand, found) if is_certain else found


__all__ = ["PROFILES", "Budget", "Campaign", "Campaigned", "Case", "Corpus", "Profile"]
