"""The command ``fuzz``."""

from __future__ import annotations

import contextlib
import importlib
import re
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ..commands import common_options, make_run_dir
from ..contract import Target
from ..gate import versions
from ..history import History
from ..outcome import RunOutcome
from ..run_folder import seed_or_drawn
from ..targets import load_target
from ..verdict import RaceResult, Verdict
from .campaign import PROFILES, Budget, Campaign, Campaigned, Corpus
from .export import as_test, result_of, story
from .reached import Reached
from .replaying import tell_played, write_test
from .simulated import SimStand
from .stands import RACE, Played, Stand, play
from .steps import Plan

PROGRESS_S = 0.2
LIGHT = ("verdict.json", "junit.xml", "summary.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for on the command line."""

    target_name: str
    target: Target
    policy_file: Path | None
    seed: int
    report_dir: Path
    smtp_port: int
    real: bool
    budget: Budget
    must_reach: bool
    test_file: Path | None

    def again(self, played: Played | None = None) -> str:
        """The command that does it again: the one plan, or all of it."""
        parts = ["leaserace", "fuzz", "--target", self.target_name]
        if self.policy_file:
            parts += ["--policy", str(self.policy_file)]
        if played is not None:
            real = ["--real"] if played.is_real else []
            return shlex.join([*parts, *real, "--plan", played.plan.to_text()])
        if self.real:
            parts.append("--real")
        if self.budget.examples is not None:
            parts += ["--examples", str(self.budget.examples)]
        if self.budget.seconds is not None:
            parts += ["--seconds", f"{self.budget.seconds:g}"]
        return shlex.join([*parts, "--seed", str(self.seed)])


@click.command()
@common_options
@click.option("--real", is_flag=True, help="On real processes: signals, sockets, skewed clocks.")
@click.option("--examples", type=click.IntRange(1), help="End after so many runs.")
@click.option("--seconds", type=click.FloatRange(0.1), help="End after so long.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="dev",
    show_default=True,
    help="How much is tried where neither --examples nor --seconds is given.",
)
@click.option("--plan", metavar="TEXT", help="Play this one plan, as a finding prints it.")
@click.option(
    "--as-test",
    "test_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what is found as a pytest file.",
)
def fuzz(
    *,
    target: str,
    policy_file: Path | None,
    seed: int | None,
    report_dir: Path,
    smtp_port: int,
    as_json: bool,
    real: bool,
    examples: int | None,
    seconds: float | None,
    profile: str,
    plan: str | None,
    test_file: Path | None,
) -> int:
    """Draw the shape of the trouble: agents, lengths, pauses, crashes, clocks, retries, opt-outs.

    A state machine draws one step after the other, the simulator (or real processes, with --real)
    makes them, and the rules judge every run. What is found is shrunk to the fewest steps, told in
    plain words, and kept so that the next run tries it first.
    """
    chosen = PROFILES[profile]
    budget = Budget(
        examples=examples or (None if seconds else chosen.examples),
        seconds=seconds,
        steps=chosen.steps,
    )
    asked = Asked(
        target_name=target,
        target=load_target(target),
        policy_file=policy_file,
        seed=seed_or_drawn(seed),
        report_dir=report_dir,
        smtp_port=smtp_port,
        real=real,
        budget=budget,
        must_reach=chosen.must_reach,
        test_file=test_file,
    )
    if plan is not None:
        return _replay(asked, plan)
    run_dir = make_run_dir(report_dir, "fuzz", asked.seed)
    with _stand(asked, run_dir) as stand, _progress() as tell:
        result = _campaign(asked, stand, tell).run()
    outcome, history = _outcome(asked, result)
    _write(asked, result, outcome, history, run_dir)
    if as_json:
        click.echo(outcome.to_json().decode(), nl=False)
    else:
        for line in _lines(asked, result, run_dir):
            click.echo(line)
    return _status(asked, result)


def _campaign(asked: Asked, stand: Stand, tell: Any) -> Campaign:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", asked.target_name).strip("-")
    kept = asked.report_dir / "fuzz"
    return Campaign(
        stand,
        asked.budget,
        seed=asked.seed,
        folder=None if asked.real else kept / "examples",
        corpus=Corpus(kept / f"{slug}{'-real' if asked.real else ''}.txt"),
        shrink_at=(lambda: SimStand(asked.target, asked.policy_file)) if asked.real else None,
        on_progress=tell,
    )


@contextlib.contextmanager
def _stand(asked: Asked, run_dir: Path) -> Iterator[Stand]:
    """Where plans are played."""
    if not asked.real:
        with SimStand(asked.target, asked.policy_file) as simulated:
            yield simulated
        return
    from .real import RealStand

    with RealStand(
        asked.target_name,
        asked.target,
        run_dir=run_dir / "processes",
        seed=asked.seed,
        policy_file=asked.policy_file,
        smtp_port=asked.smtp_port,
    ) as stand:
        yield stand


@contextlib.contextmanager
def _progress() -> Iterator[Any]:
    """One line on stderr, where that is a terminal."""
    begun = last = time.perf_counter()
    if not sys.stderr.isatty():
        yield lambda _: None
        return

    def tell(reached: Reached) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last < PROGRESS_S:
            return
        last = now
        rate = reached.examples / (now - begun)
        text = f"{reached.examples} runs, {reached.steps} steps, {rate:.0f} runs a second"
        click.echo(f"\r{text:<70}", nl=False, err=True)

    yield tell
    click.echo(f"\r{'':<70}\r", nl=False, err=True)


def _replay(asked: Asked, text: str) -> int:
    """Play one plan and tell what came of it."""
    plan = Plan.from_text(text)
    run_dir = make_run_dir(asked.report_dir, "fuzz", asked.seed)
    with _stand(asked, run_dir) as stand:
        played = play(stand, plan)
    again = asked.again(played)
    return tell_played(
        played, plan, target=asked.target_name, again=again, test_file=asked.test_file
    )


def _outcome(asked: Asked, result: Campaigned) -> tuple[RunOutcome, History]:
    """What reports read: one race, the shortest run that shows the finding, or none."""
    case, reached = result.case, result.reached
    if case is not None:
        race = result_of(case.shortest, again=asked.again(case.shortest), rounds=reached.examples)
        history = case.shortest.history()
    else:
        race = _no_finding(asked, result)
        history = History()
    figures = reached.figures() | {"runs_per_second": round(result.rate, 1)}
    notices = [*reached.lines(asked.target.capabilities), *_doubts(result)]
    outcome = RunOutcome(
        command="fuzz",
        target=asked.target_name,
        seed=asked.seed,
        agents=(2, 4),
        verdict=result.verdict,
        races=(replace(race, figures=figures),),
        again=asked.again(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=result.seconds,
        versions=versions(),
        notices=tuple(notices),
    )
    return outcome, history


def _doubts(result: Campaigned) -> Iterator[str]:
    """Why what was found, or was not, is not certain."""
    case = result.case
    if case is not None and not case.is_certain:
        differed = f"; {case.flaky}" if case.flaky else ""
        yield f"flaky: {case.shown} of {case.replays} replays showed it{differed}"
    if result.unstable:
        yield f"flaky: {result.unstable}"


def _no_finding(asked: Asked, result: Campaigned) -> RaceResult:
    reached = result.reached
    reasons = [*reached.problems, *reached.never_answered(), result.unstable]
    return RaceResult(
        race=RACE,
        scenario=RACE,
        variant="plain",
        agents=2,
        verdict=result.verdict,
        expected="every rule holds, whatever the shape of the trouble",
        observed=f"{reached.examples} runs, {reached.steps} steps, no finding",
        reason="; ".join(filter(None, reasons)),
        rounds=reached.examples,
        again=asked.again(),
    )


def _write(
    asked: Asked, result: Campaigned, outcome: RunOutcome, history: History, run_dir: Path
) -> None:
    files = importlib.import_module("leaserace.reports.files")
    (run_dir / "history.jsonl").unlink(missing_ok=True)
    case = result.case
    if case is None:
        files.write_all(outcome, history, run_dir, only=LIGHT)
        return
    files.write_all(outcome, history, run_dir)
    case.first.history().save(run_dir / "history.first.jsonl")
    (run_dir / "plan.txt").write_text(case.shortest.plan.to_text() + "\n", encoding="utf-8")
    text = as_test(case.shortest, asked.target_name)
    write_test(run_dir / "test_found.py", text)
    if asked.test_file is not None:
        write_test(asked.test_file, text)


def _lines(asked: Asked, result: Campaigned, run_dir: Path) -> Iterator[str]:
    """What a person reads."""
    reached = result.reached
    engine = "real processes" if asked.real else "the simulator"
    yield f"fuzz: {asked.target_name} on {engine}, seed {asked.seed}"
    yield (
        f"{reached.examples} runs, {reached.steps} steps in {result.seconds:.1f} s "
        f"({result.rate:.0f} runs a second)"
    )
    yield from reached.lines(asked.target.capabilities)
    yield ""
    case = result.case
    if case is None:
        yield f"no finding: {result.verdict}"
        yield from _doubts(result)
    else:
        steps = f"{len(case.first.told)} steps, shrunk to {len(case.shortest.told)}"
        known = ", known from an earlier run" if case.from_corpus else ""
        where = " on the simulator" if asked.real and not case.shortest.is_real else ""
        yield f"found after {case.after} runs and {case.after_s:.1f} s{known}: {steps}{where}"
        yield from _doubts(result)
        yield ""
        yield story(case.shortest, again=asked.again(case.shortest))
        yield f"as a pytest file: {asked.test_file or run_dir / 'test_found.py'}"
    yield f"run folder: {run_dir}"


def _status(asked: Asked, result: Campaigned) -> int:
    """Exit status; a rule that a nightly run never exercised is an error of the fuzzer."""
    idle = result.reached.idle_rules(asked.target.capabilities)
    if asked.must_reach and idle and result.verdict is Verdict.VALID:
        click.echo(f"leaserace: rules that were never exercised: {', '.join(idle)}", err=True)
        return 3
    return result.verdict.exit_status
