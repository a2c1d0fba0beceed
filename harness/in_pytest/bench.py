"""The target and the engines of one pytest process; what a race leaves behind."""

from __future__ import annotations

import contextlib
import importlib
import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ..contract import Target, UsageError
from ..engine import Engine, RaceRun
from ..gate import versions
from ..history import History
from ..judging import result_of
from ..outcome import RunOutcome
from ..pytest_plugin import ASKED, PREFIX
from ..targets import load_target
from ..verdict import RaceResult, Verdict

NO_TARGET = (
    "no mailbox is named: give --leaserace-target MODULE:ATTR, or the ini option leaserace_target"
)
STORIES_MAX = 3
LIGHT = ("verdict.json", "junit.xml", "summary.md")
"""Files written at once; the page and the charts can be made from the folder later."""


class Bench:
    """The target and the engines of one pytest process, made when first used.

    Args:
        config: pytest's configuration, with the plugin's choices.
    """

    def __init__(self, config: pytest.Config) -> None:
        asked = config.stash[ASKED]
        self.target_name = asked.target
        self.agents = asked.agents
        self.rounds = asked.rounds
        self.seed = asked.seed
        self.folder = Path(asked.folder)
        self.policy_file = Path(asked.policy) if asked.policy else None
        self._worker = getattr(config, "workerinput", {}).get("workerid", "main")
        self._target: Target | None = None
        self._engines: dict[str, Engine] = {}
        self._stack = contextlib.ExitStack()

    @property
    def target(self) -> Target:
        """The mailbox under test.

        Raises:
            UsageError: None is named, or it can't be loaded.
        """
        if self.target_name is None:
            raise UsageError(NO_TARGET)
        if self._target is None:
            self._target = load_target(self.target_name)
        return self._target

    def check(self) -> None:
        """Load the target now.

        Raises:
            pytest.UsageError: It can't be loaded; one line says why.
        """
        try:
            _ = self.target
        except UsageError as error:
            raise pytest.UsageError(f"leaserace: {error}") from error
        if self.policy_file is not None and not self.policy_file.is_file():
            raise pytest.UsageError(f"leaserace: no policy file {str(self.policy_file)!r}")

    def engine(self, kind: str) -> Engine:
        """The engine of this kind, started once."""
        if kind not in self._engines:
            self._engines[kind] = self._started(kind)
        return self._engines[kind]

    def _started(self, kind: str) -> Engine:
        target = self.target
        assert self.target_name is not None
        if kind == "simulation":
            from ..simulation.engine import SimulationEngine

            return SimulationEngine(target, seed=self.seed, policy_file=self.policy_file)
        from ..processes.engine import ProcessEngine

        folder = self.folder / f"processes-{self._worker}"
        folder.mkdir(parents=True, exist_ok=True)
        engine: Engine = self._stack.enter_context(
            ProcessEngine(
                target=self.target_name,
                run_dir=folder,
                seed=self.seed,
                policy_file=self.policy_file,
            )
        )
        return engine

    def close(self) -> None:
        """End what the engines started."""
        self._engines.clear()
        self._stack.close()

    def again(self, nodeid: str) -> str:
        """The command that runs one item again."""
        policy = ["--leaserace-policy", str(self.policy_file)] if self.policy_file else []
        parts = ["pytest", nodeid, "--leaserace-target", str(self.target_name)]
        if self.agents != 2:
            parts += ["--leaserace-agents", str(self.agents)]
        return shlex.join([*parts, "--leaserace-seed", str(self.seed), *policy])


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A race that was run, judged and written down."""

    result: RaceResult
    history: History
    folder: Path

    @property
    def text(self) -> str:
        """What a failure shows: the sentence first, then the operations that prove it."""
        if self.result.verdict is not Verdict.INVALID:
            return f"{self.result.verdict}: {self.result.reason}\nrun folder: {self.folder}"
        story = importlib.import_module("leaserace.reports.story")
        text = story.stories_text(self.result, self.history, limit=STORIES_MAX)
        return f"{text}run folder: {self.folder}"


def keep(bench: Bench, run: RaceRun, nodeid: str) -> Kept:
    """Judge a run and write its folder.

    Args:
        bench: Whose run.
        run: What an engine gave back.
        nodeid: The item's id.
    """
    result, _ = result_of(run, again=bench.again(nodeid))
    folder = bench.folder / _slug(nodeid)
    outcome = RunOutcome(
        command="pytest",
        target=str(bench.target_name),
        seed=bench.seed,
        agents=(run.agents, run.agents),
        verdict=result.verdict,
        races=(result,),
        again=result.again,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=run.seconds,
        versions=versions(),
        notices=run.history.notices,
    )
    files = importlib.import_module("leaserace.reports.files")
    files.write_all(outcome, run.history, folder, only=LIGHT, latest=False)
    return Kept(result=result, history=run.history, folder=folder)


def _slug(nodeid: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", nodeid.removeprefix(f"{PREFIX}::")).strip("-")


def report(item: pytest.Item, kept: Kept) -> None:
    """Attach the verdict and the run's folder to the item's report."""
    item.user_properties += [
        ("leaserace_verdict", str(kept.result.verdict)),
        ("leaserace_run", str(kept.folder)),
    ]
    item.add_report_section("call", PREFIX, f"run folder: {kept.folder}\n{kept.result.observed}\n")


def failed(text: str) -> BaseException:
    """A failure that shows its text and no traceback into this code."""
    return pytest.fail.Exception(text, pytrace=False)


def left_out(reason: str) -> BaseException:
    """A skip that is shown where the race is written."""
    return pytest.skip.Exception(f"not applicable: {reason}", _use_item_location=True)
