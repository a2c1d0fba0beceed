"""Real processes as a stand: real signals, sockets and clocks; the rules judge at the end of a run.

The process engine calls a script; here it is the other way round: steps come one at a time. So the
engine runs in a greenlet of its own, and its script hands the race out and waits until it is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from greenlet import greenlet

from ..clocks import SystemClock
from ..contract import Settings, Target, UsageError
from ..engine import RaceRun
from ..judging import result_of
from ..processes.deadlines import RaceAborted
from ..race import Race
from ..scenario import Scenario, Variant
from ..verdict import Finding
from .stage import Stage
from .stands import RACE, Played, made
from .steps import Shape

PATIENCE_MS = 2_500
"""Longest wait for a moment."""
KIT_POINTS = frozenset(
    f"{f}.{point}"
    for f in ("acquire", "renew", "release", "send", "suppress", "receive", "cancel")
    for point in ("think", "invoked", "returned")
)


class RealStage(Stage):
    """A stage of processes."""

    breaks = (RaceAborted,)


class RealStand:
    """Plays on real processes.

    Args:
        target_name: As the engine's processes import it.
        target: The same, for what it declares.
        run_dir: The processes' folder.
        seed: Of the engine's draws.
        policy_file: A policy file of the user's, or None.
        smtp_port: Port of the receiving mailbox; 0 for any that is free.
    """

    is_real = True

    def __init__(
        self,
        target_name: str,
        target: Target,
        *,
        run_dir: Path,
        seed: int = 0,
        policy_file: Path | None = None,
        smtp_port: int = 0,
    ) -> None:
        self._smtp_port = smtp_port
        self._target_name = target_name
        self._target = target
        self._run_dir = run_dir
        self._seed = seed
        self._policy_file = policy_file
        self._engine: Any = None
        self._running: Any = None

    def __enter__(self) -> Self:
        """Start what all runs share."""
        from ..processes.engine import ProcessEngine

        self._run_dir.mkdir(parents=True, exist_ok=True)
        self._engine = ProcessEngine(
            target=self._target_name,
            run_dir=self._run_dir,
            seed=self._seed,
            policy_file=self._policy_file,
            smtp_port=self._smtp_port,
        )
        self._engine.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every process, a run under way too."""
        try:
            if self._running is not None and not self._running.dead:
                self._running.switch()
        finally:
            self._engine.__exit__(kind, error, trace)

    @property
    def findings(self) -> Sequence[Finding]:
        """None before the end: histories are merged then."""
        return ()

    def begin(self, shape: Shape) -> Stage:
        """Begin a run."""
        hub = greenlet.getcurrent()
        variant = Variant(name="plain")

        def script(race: Race) -> None:
            hub.switch(race)

        scenario = _scenario(script, shape.settings(), variant)

        def run() -> RaceRun:
            run: RaceRun = self._engine.run(scenario, variant, agents=shape.agents, rounds=1)
            return run

        self._running = greenlet(run)
        race = self._running.switch()
        if not isinstance(race, Race):
            raise UsageError(_why(race, self._target_name))
        self._shape = shape
        self._stage = RealStage(
            race,
            shape,
            points=frozenset(self._target.points) | KIT_POINTS,
            now_ms=SystemClock().now_ms,
            patience_ms=PATIENCE_MS,
        )
        return self._stage

    def end(self) -> Played:
        """End the run: everybody goes on, the history is merged, the rules judge it."""
        stage = self._stage
        stage.finish()
        if stage.broken is not None:
            run: RaceRun = self._running.throw(stage.broken)
        else:
            for hand in stage.hands:
                if hand.is_dead:
                    hand.actor.restart()
            run = self._running.switch()
        self._running = None
        _, judgement = result_of(run)
        return Played(
            plan=made(stage, self._shape),
            told=tuple(stage.told),
            events=tuple(run.history),
            info=run.info,
            judgement=judgement,
            problems=tuple(run.problems),
            is_real=True,
        )


def _why(run: object, target: str) -> str:
    """Why a run ended before its script began."""
    problems = run.problems if isinstance(run, RaceRun) else ()
    return f"target {target!r} can't be run: {'; '.join(problems) or 'its start failed'}"


def _scenario(script: Any, settings: Settings, variant: Variant) -> Scenario:
    return Scenario(
        id=RACE,
        number=100,
        title="a drawn run",
        spec=(),
        expected="every rule holds",
        needs=frozenset(),
        settings=settings,
        variants=(variant,),
        rounds=1,
        windows=(),
        masked_by="",
        script=script,
        group="fuzz",
    )


__all__ = ["RealStand"]
