"""What every engine offers: run one variant of one scenario, give back its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Protocol

from .contract import Settings, Target, UsageError
from .history import History
from .rules.base import RaceInfo
from .scenario import Scenario, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRun:
    """One variant of one scenario, run.

    Args:
        race: Its name in the history, ``<scenario>[<variant>]/<agents>``.
        scenario: The scenario.
        variant: The variant.
        agents: How many agents took part.
        info: What rules must know.
        history: Its events, merged and validated; begins with ``race.begin``.
        rounds: Rounds the script finished.
        problems: Why the outcome can't be judged (a skew that did not take, a point not reached, a
            call cut off by its deadline, an agent that died); any of them makes it unknown.
        aborted: The target hung or died and was cut off; a problem says where.
        seconds: Wall-clock seconds it took.
        figures: Measured figures: ``pause_confirmed_us`` and the like.
    """

    race: str
    scenario: Scenario
    variant: Variant
    agents: int
    info: RaceInfo
    history: History
    rounds: int
    problems: tuple[str, ...] = ()
    aborted: bool = False
    seconds: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)


class Engine(Protocol):
    """Runs scenarios against one target."""

    @property
    def target(self) -> Target:
        """What the target declares of itself."""
        ...

    def run(
        self, scenario: Scenario, variant: Variant, *, agents: int, rounds: int | None = None
    ) -> RaceRun:
        """Run one variant.

        Args:
            scenario: What to run.
            variant: Which of its variants.
            agents: How many agents take part, at least 2 (spec: T3).
            rounds: How many rounds; None for the variant's or scenario's own number.

        Raises:
            UsageError: The target can't be started for a reason that is the user's to mend.
        """
        ...


def race_name(scenario: Scenario, variant: Variant, agents: int) -> str:
    """The race's name in a history, such as ``stale_token[send.checked]/2``."""
    return f"{scenario.id}[{variant.name}]/{agents}"


def settings_in_force(scenario: Scenario, variant: Variant, target: Target) -> Settings:
    """The lengths a race asks for, after what the target can't change.

    Raises:
        UsageError: `Target.fixed` names a length that does not exist or is no number.
    """
    names = {field_.name for field_ in fields(Settings)}
    stated: Mapping[str, object] = target.fixed
    for name, value in stated.items():
        if name not in names:
            known = ", ".join(sorted(names))
            raise UsageError(
                f"target {target.name}: fixed[{name!r}] is no length; there are {known}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise UsageError(
                f"target {target.name}: fixed[{name!r}]={value!r} is no number of seconds"
            )
    return replace(
        scenario.settings if variant.settings is None else variant.settings, **dict(target.fixed)
    )
