"""The command ``crash``."""

from __future__ import annotations

import contextlib
import importlib
import shlex
import time
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from ..commands import common_options, exit_status, make_run_dir
from ..engine import Engine
from ..gate import Canary, Plan, run_plan
from ..history import History
from ..judging import result_of
from ..outcome import CanaryResult, RunOutcome
from ..run_folder import seed_or_drawn
from ..scenario import Scenario, Variant
from ..watcher import Watcher
from .campaign import CALLS, CANARIES, RANDOM, SEND, Campaign, crash_scenario
from .fates import CallRow, by_call, call_figures, call_table, tally_calls
from .tally import Row, figures, table, tally

KILLS = 200
KILLS_MAX = 1_000_000
AGENTS_MAX = 5
GROUP = "leaserace.crash_canaries"
TABLE_FILE = "kills.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kills(Plan):
    """What a kill campaign is asked to do.

    Args:
        kills: Calls whose caller is killed.
        calls: Which calls; empty for all.
    """

    kills: int
    calls: tuple[str, ...] = ()

    def whole(self) -> str:
        """The command that runs it again."""
        numbers = ["--kills", str(self.kills), "--agents", str(self.agents[1])]
        calls = [word for call in self.calls for word in ("--call", call)]
        return shlex.join(["leaserace", "crash", *numbers, *calls, *self._common()])

    def again(self, scenario: Scenario, variant: Variant, agents: int) -> str:  # noqa: ARG002
        """The same: there is one race only."""
        return self.whole()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What stands on the command line beside the plan."""

    plan: Kills
    smtp_port: int
    run_dir: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What came of the kills.

    Args:
        sends: Inside sends, by point.
        calls: Inside other calls, by call.
    """

    sends: list[Row]
    calls: list[CallRow]

    def lines(self) -> list[str]:
        """As text: a table each, and which call was hit how often."""
        tables = [*table(self.sends), ""] if self.sends else []
        tables += [*call_table(self.calls), ""] if self.calls else []
        return [*tables, by_call(self.sends, self.calls)] if tables else []

    def figures(self) -> dict[str, float]:
        """By name, for ``verdict.json``."""
        sends, calls = figures(self.sends), call_figures(self.calls)
        kills = sends["kills"] + sum(row.kills for row in self.calls)
        return sends | calls | {"kills": kills, f"kills.{SEND}": sends["kills"]}


def _target_option(command: Any) -> Any:
    """The reference as it is killed is the default here."""
    for param in command.params:
        if param.name == "target":
            param.default = "durable"
    return command


@_target_option
@click.command()
@common_options
@click.option(
    "--kills",
    type=click.IntRange(1, KILLS_MAX),
    default=KILLS,
    show_default=True,
    help="Calls whose caller is killed; some retries of sends are killed too.",
)
@click.option(
    "--call",
    "calls",
    multiple=True,
    type=click.Choice(CALLS),
    help="Kill inside this call only; may be given again. Default: sends half of the time, and every "
    "other call the target has.",
)
@click.option(
    "--agents",
    type=click.IntRange(2, AGENTS_MAX),
    default=2,
    show_default=True,
    help="How many agents.",
)
def crash(
    *,
    target: str,
    policy_file: Path | None,
    seed: int | None,
    report_dir: Path,
    smtp_port: int,
    as_json: bool,
    kills: int,
    agents: int,
    calls: tuple[str, ...],
) -> int:
    """Kill agents inside their calls, start them again, and let them ask what became of it.

    Each kill is a SIGKILL at a point of the call that is drawn: those the target declares, those of
    the agent's own side, after the answer, and at any instant. Every second one strikes a send. The
    restarted agent looks its key up and tries again with the same key where that is right; some try
    without looking, some are killed again. Counted is what arrived: no message twice, none lost that was
    said to be sent, and each outcome delivered, or unknown and then settled.

    The others strike claims, renewals, releases, opt-outs, cancellations and clean-ups. What was answered
    must hold: a lease is still there or over by time, a free one free, an opt-out in force, a cancelled
    send never made. What was not answered is done wholly or not at all, and can be done again.

    First a broken copy of the reference is killed too, and what it doubles or forgets must be found.
    """
    calls = tuple(dict.fromkeys(calls))
    campaign = Campaign(kills=kills, calls=calls)
    plan = Kills(
        target_name=target,
        scenarios=[crash_scenario(campaign)],
        variant=RANDOM.name,
        agents=(agents, agents),
        seconds=0.0,
        seed=seed_or_drawn(seed),
        policy_file=policy_file,
        command="crash",
        kills=kills,
        calls=calls,
    )
    asked = Asked(
        plan=plan, smtp_port=smtp_port, run_dir=make_run_dir(report_dir, "crash", plan.seed)
    )
    outcome, history, counted = _carry_out(asked, campaign)
    if as_json:
        click.echo(outcome.to_json().decode(), nl=False)
    else:
        _print(outcome, history, counted, asked.run_dir)
    return exit_status(outcome)


def _carry_out(asked: Asked, campaign: Campaign) -> tuple[RunOutcome, History, Counted]:
    """Feed the canary, run the campaign, write the files."""
    from ..processes.signals import terminated_as_exception

    show = importlib.import_module("leaserace.reports.show")
    files = importlib.import_module("leaserace.reports.files")
    with terminated_as_exception(), contextlib.ExitStack() as stack:
        watcher: Watcher = stack.enter_context(show.live())
        canary = _feed_canary(asked, stack)

        def open_engine(target: str, folder: Path) -> Engine:
            engine = _engine(asked, stack, target, folder)
            campaign.declared = tuple(sorted(engine.target.points))
            campaign.tell = watcher.racing
            if canary is not None:
                watcher.canary(canary)
            return engine

        outcome = run_plan(
            asked.plan, run_dir=asked.run_dir, open_engine=open_engine, watcher=watcher
        )
    history = History.load(asked.run_dir / "history.jsonl")
    counted = Counted(sends=tally(history), calls=tally_calls(history))
    outcome = _with_counts(replace(outcome, canary=canary), counted)
    files.write_all(outcome, history, asked.run_dir)
    if lines := counted.lines():
        (asked.run_dir / TABLE_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return outcome, history, counted


def _engine(asked: Asked, stack: contextlib.ExitStack, target: str, folder: Path) -> Engine:
    from ..processes.engine import ProcessEngine

    mine = target == asked.plan.target_name
    engine: Engine = stack.enter_context(
        ProcessEngine(
            target=target,
            run_dir=folder,
            seed=asked.plan.seed,
            policy_file=asked.plan.policy_file if mine else None,
            smtp_port=asked.smtp_port if mine else 0,
            searchable=True,
        )
    )
    return engine


def _feed_canary(asked: Asked, stack: contextlib.ExitStack) -> CanaryResult | None:
    """Kill a broken twin, drawn by the seed: a campaign that can't find that finds nothing.

    One that is broken in a call that is killed in, where there is one.
    """
    known = [Canary(**each) for entry in entry_points(group=GROUP) for each in entry.load()]
    twins = [twin for twin in known if CANARIES.get(twin.variant) in asked.plan.calls] or known
    if not twins:
        return None
    twin = twins[asked.plan.seed % len(twins)]
    started = time.monotonic()
    folder = asked.run_dir / "canary"
    folder.mkdir()
    engine = _engine(asked, stack, twin.target, folder)
    scenario = asked.plan.scenarios[0]
    variant = next(each for each in scenario.variants if each.name == twin.variant)
    result, _ = result_of(engine.run(scenario, variant, agents=2, rounds=1))
    return CanaryResult.of(
        result, twin=twin.twin, rule=twin.rule, seconds=time.monotonic() - started
    )


def _with_counts(outcome: RunOutcome, counted: Counted) -> RunOutcome:
    """The outcome with the counts; each send is a round."""
    if not counted.lines():
        return outcome
    counts = counted.figures()
    sends = int(counts["sends"])
    races = tuple(
        replace(race, figures=race.figures | counts, rounds=sends or race.rounds)
        for race in outcome.races
    )
    return replace(outcome, races=races)


def _print(outcome: RunOutcome, history: History, counted: Counted, run_dir: Path) -> None:
    show = importlib.import_module("leaserace.reports.show")
    for line in counted.lines():
        click.echo(line)
    if counted.lines():
        click.echo()
    show.print_outcome(outcome, history, run_dir)


__all__ = ["crash"]
