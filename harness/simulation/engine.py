"""Engine two: one variant of one scenario in virtual time, every choice recorded."""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from ..answers import ContractBroken
from ..contract import Settings, Target, UsageError
from ..engine import RaceRun, race_name
from ..history import AnyEvent, AuditEvent, History
from ..points import listen
from ..rules.base import RaceInfo
from ..scenario import NotReached, Scenario, Variant
from .driver import Bounds, Chooser, Driver
from .race import SimRace
from .records import audit_events, race_begin
from .strategies.uniform import Uniform
from .subjects import AGENT_IDS
from .world import Stuck, World


class SimulationEngine:
    """Runs scenarios against one target in the simulator.

    Args:
        target: The system under test; it must take its clock and transport from its environment.
        seed: Of the choices and of the scripts' draws.
        chooser: Who decides; by default uniform draws from the seed.
        policy_file: A policy file of the user's, or None.
    """

    def __init__(
        self,
        target: Target,
        *,
        seed: int = 0,
        chooser: Chooser | None = None,
        policy_file: Path | None = None,
    ) -> None:
        self._target = target
        self._seed = seed
        self._chooser = chooser
        self._policy_file = policy_file
        self.trail: list[int] = []
        """Choices of the last run."""

    @property
    def target(self) -> Target:
        """What the target declares of itself."""
        return self._target

    def run(
        self, scenario: Scenario, variant: Variant, *, agents: int, rounds: int | None = None
    ) -> RaceRun:
        """Run one variant (see `leaserace.harness.engine.Engine`)."""
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="leaserace-") as folder:
            world = World(self._target, workdir=Path(folder), policy_file=self._policy_file)
            listen(world)
            try:
                run = self._run(world, scenario, variant, agents, rounds)
            finally:
                world.close()
                listen(None)
        run_figures = {"choices": float(len(self.trail))}
        return _finished(run, time.perf_counter() - begun, run_figures)

    def _run(
        self, world: World, scenario: Scenario, variant: Variant, agents: int, rounds: int | None
    ) -> RaceRun:
        name = race_name(scenario, variant, agents)
        info = race_info(self._target, variant.settings or scenario.settings, AGENT_IDS[:agents])
        events: list[AnyEvent] = []
        world.begin(info.settings, info.agents, events.append)
        driver = Driver(world, self._chooser or Uniform(random.Random(f"{self._seed}")), Bounds())
        self.trail = driver.trail
        race = SimRace(
            world=world,
            driver=driver,
            name=name,
            variant=variant.name,
            settings=info.settings,
            capabilities=info.capabilities,
            rng=random.Random(f"{self._seed}:{name}"),
        )
        world.record(race_begin(world, info))
        wanted = rounds or variant.rounds or scenario.rounds
        finished, problems = _rounds(race, scenario, wanted)
        world.mark("race.end")
        events += _audit(self._target, world, problems)
        return RaceRun(
            race=name,
            scenario=scenario,
            variant=variant,
            agents=agents,
            info=info,
            history=History.merge([events], race=name),
            rounds=finished,
            problems=tuple(problems),
        )


def _rounds(race: SimRace, scenario: Scenario, rounds: int) -> tuple[int, list[str]]:
    """Run the script so often; what kept a round from being judged is a problem."""
    for number in range(rounds):
        race.round = number
        race.mark("round.begin", round=number)
        try:
            scenario.script(race)
            race.drive(lambda: False)
        except (NotReached, Stuck, ContractBroken) as error:
            return number, [f"round {number + 1}: {error}"]
    return rounds, []


def _audit(target: Target, world: World, problems: list[str]) -> list[AuditEvent]:
    world.take_down()
    try:
        return list(audit_events(target.audit(), world))
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the target raises: it can't be judged
        problems.append(f"the target's audit failed: {type(error).__name__}: {error}")
        return []


def race_info(target: Target, settings: Settings, agents: tuple[str, ...]) -> RaceInfo:
    """What rules must know, after what the target can't change."""
    fixed = dict(target.fixed)
    return RaceInfo(
        settings=replace(settings, **fixed),
        capabilities=frozenset(target.capabilities),
        agents=agents,
        clock="virtual",
        isolated=all(getattr(settings, name) == value for name, value in fixed.items()),
    )


def _finished(run: RaceRun, seconds: float, figures: dict[str, float]) -> RaceRun:
    return replace(run, seconds=seconds, figures=figures)
