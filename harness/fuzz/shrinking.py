"""From a long plan that shows a finding to the shortest and plainest that still does.

Only steps and shape are shrunk; Hypothesis' own shrinker is off, so that a failure never has two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from itertools import combinations, pairwise
from typing import Any

from .stands import Played, Stand, play
from .steps import Plan, Shape, Step, Trouble, Verb

SECONDS_MAX = 10.0


def shrink(stand: Stand, played: Played, *, rule: str = "", seconds: float = SECONDS_MAX) -> Played:
    """Make a plan shorter for as long as the same rule has a finding.

    Args:
        stand: Where plans are played.
        played: A run with a finding.
        rule: The rule to keep; by default that of the first finding.
        seconds: Give up after so long; what was reached by then is returned.

    Returns:
        The run of the plan it came to.
    """
    wanted = rule or played.findings[0].rule
    ends = time.perf_counter() + seconds
    best = played

    def attempt(plan: Plan) -> bool:
        nonlocal best
        again = play(stand, plan)
        if _weight(again.plan) >= _weight(best.plan):
            return False  # steps that could not be made so were made otherwise
        if not any(finding.rule == wanted for finding in again.findings):
            return False
        best = again
        return True

    while time.perf_counter() < ends:
        before = best.plan
        for candidates in (
            _fewer_steps,
            _one_passage,
            _plainer_steps,
            _earlier_agents,
            _plainer_shape,
        ):
            _descend(lambda: best.plan, candidates, attempt, ends)
        if best.plan == before:
            break
    return best


def _weight(plan: Plan) -> tuple[int, int, tuple[int, ...]]:
    """Steps first, then all that is not as it usually is, then who acts first."""
    shape = plan.shape
    unusual = sum(getattr(shape, each.name) != each.default for each in fields(Shape))
    unusual += shape.agents
    for step in plan.steps:
        unusual += step.agent + sum(getattr(step, name) != usual for name, usual in _USUAL.items())
    return len(plan.steps), unusual, tuple(step.agent for step in plan.steps)


def _descend(
    current: Callable[[], Plan],
    candidates: Callable[[Plan], Iterable[Plan]],
    attempt: Callable[[Plan], bool],
    ends: float,
) -> None:
    """Take the first candidate that holds, and begin again from it, until none does."""
    went_on = True
    while went_on:
        went_on = False
        for plan in candidates(current()):
            if time.perf_counter() > ends:
                return
            if attempt(plan):
                went_on = True
                break


def _fewer_steps(plan: Plan) -> Iterator[Plan]:
    """Without a run of steps: half of them first, single ones last."""
    size = len(plan.steps)
    length = size // 2
    while length:
        for begin in range(size - length, -1, -1):
            yield plan.without(range(begin, begin + length))
        length //= 2


def _one_passage(plan: Plan) -> Iterator[Plan]:
    """Several passages of time in a row as one."""
    steps = plan.steps
    for place, (one, two) in enumerate(pairwise(steps)):
        if one.verb is two.verb is Verb.TIME:
            yield plan.without([place])
            yield plan.without([place + 1])


def _plainer_steps(plan: Plan) -> Iterator[Plan]:
    """One field of one step as it usually is."""
    for place, step in enumerate(plan.steps):
        for plainer in _plainer(step):
            steps = (*plan.steps[:place], plainer, *plan.steps[place + 1 :])
            yield replace(plan, steps=steps)


def _plainer(step: Step) -> Iterator[Step]:
    if step.trouble is not Trouble.NONE:
        yield replace(step, trouble=Trouble.NONE, point="")
    for name in ("habit", "token", "spelling", "contact", "back"):
        usual = _USUAL[name]
        if getattr(step, name) != usual:
            yield replace(step, **{name: usual})
    for agent in range(step.agent):
        yield replace(step, agent=agent)


def _earlier_agents(plan: Plan) -> Iterator[Plan]:
    """Two agents exchanged in every step."""
    highest = max((step.agent for step in plan.steps), default=0)
    for one, two in combinations(range(highest + 1), 2):
        exchanged = {one: two, two: one}
        steps = tuple(
            replace(step, agent=exchanged.get(step.agent, step.agent)) for step in plan.steps
        )
        yield replace(plan, steps=steps)


def _plainer_shape(plan: Plan) -> Iterator[Plan]:
    """One length or number as it usually is."""
    for each in fields(Shape):
        if getattr(plan.shape, each.name) != each.default:
            usual: Any = each.default
            yield replace(plan, shape=replace(plan.shape, **{each.name: usual}))
    if plan.shape.agents > 2:
        yield replace(plan, shape=replace(plan.shape, agents=plan.shape.agents - 1))


_USUAL: dict[str, Any] = {
    name: Step.__dataclass_fields__[name].default
    for name in ("contact", "spelling", "token", "back", "habit", "trouble")
}

__all__ = ["shrink"]
