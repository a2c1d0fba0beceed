"""The options ``--agent`` and ``--situation``, and what they make of a gate."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..contract import UsageError
from ..run_folder import seed_or_drawn

if TYPE_CHECKING:
    from ..gate import Plan

REFERENCE = "reference"
SECONDS = 5.0
"""How long an agent is explored where nothing else is said."""


def agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of commands that take an agent under test."""
    command = click.option(
        "--situation",
        "situations",
        multiple=True,
        metavar="NAME",
        help="Only this situation of the agent's; may be given again.",
    )(command)
    return click.option(
        "--agent",
        metavar="MODULE:FUNCTION",
        help="An agent of yours to judge: run(mailbox, task, stop).",
    )(command)


def plan_for_agent(plan: Plan, agent: str, situations: Sequence[str]) -> Plan:
    """The plan that judges an agent.

    Args:
        plan: The gate's own plan.
        agent: ``module:function``.
        situations: Names of the only situations that are wanted; all if empty.

    Raises:
        UsageError: The agent's name has another form, or there is no such situation.
    """
    from ..gate import Canary
    from .gate import CANARY_AGENTS, CANARY_RULE, agent_scenario
    from .races import AGENT
    from .under_test import agent_called

    agent_called(agent)
    check_situations(situations)
    six = [each for each in plan.scenarios if each.group == "six"]
    return replace(
        plan,
        agent=agent,
        situations=tuple(situations),
        scenarios=[*(() if plan.target_name == REFERENCE else six), agent_scenario(agent)],
        agents=(2, 2),
        seconds=0.0,
        canaries=[
            Canary(
                twin=habit,
                target=REFERENCE,
                scenario=AGENT,
                variant=situation,
                rule=CANARY_RULE,
                agent=name,
            )
            for habit, name, situation in CANARY_AGENTS
        ],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """What ``leaserace explore --agent`` was asked for; arguments as its options."""

    agent: str | None
    target: str
    situations: tuple[str, ...]
    seed: int | None
    seconds: float | None
    schedules: int | None
    policy_file: Path | None
    report_dir: Path
    as_json: bool
    refused: tuple[str, ...] = ()


def explore_with(asked: AgentRun) -> int:
    """Explore an agent, write the run's files, show its table, return its exit status.

    Raises:
        UsageError: There is no agent, or an option was given that has no meaning with one.
    """
    from ..commands import exit_status, make_run_dir
    from ..targets import load_target
    from .exploring import Plan, explore_agent
    from .under_test import agent_called

    if asked.agent is None:
        raise UsageError("--situation is one of an agent under test: give --agent too")
    if asked.refused:
        raise UsageError(f"{asked.refused[0]} says what other agents do: leave it out with --agent")
    agent_called(asked.agent)
    check_situations(asked.situations)
    seconds = SECONDS if asked.seconds is None and asked.schedules is None else asked.seconds
    seed = seed_or_drawn(asked.seed)
    plan = Plan(
        target=asked.target,
        agent=asked.agent,
        situations=asked.situations,
        seed=seed,
        seconds=seconds,
        schedules=asked.schedules,
        policy_file=asked.policy_file,
    )
    outcome, history = explore_agent(load_target(asked.target), plan)
    run_dir = make_run_dir(asked.report_dir, "explore", seed)
    history.save(run_dir / "history.jsonl")
    importlib.import_module("leaserace.reports.files").write_all(outcome, history, run_dir)
    if asked.as_json:
        click.echo(outcome.to_json().decode(), nl=False)
    else:
        show = importlib.import_module("leaserace.reports.show")
        show.print_outcome(outcome, history, run_dir)
    return exit_status(outcome)


def check_situations(names: Sequence[str]) -> None:
    """Refuse names of situations there are not.

    Raises:
        UsageError: There is none of this name; near spellings are named.
    """
    from .races import SITUATIONS

    for name in names:
        if name not in SITUATIONS:
            near = get_close_matches(name, SITUATIONS, n=3)
            hint = (
                f"did you mean {' or '.join(near)}?"
                if near
                else f"there are {', '.join(SITUATIONS)}"
            )
            raise UsageError(f"no situation is called {name[:60]!r}; {hint}")
