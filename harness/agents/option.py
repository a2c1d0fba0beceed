"""The options ``--agent`` and ``--situation``, and what they make of a gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from ..contract import UsageError

if TYPE_CHECKING:
    from ..gate import Plan

REFERENCE = "reference"


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
