"""Engine one: agents as operating-system processes, with real signals, sockets and clocks."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from ..contract import Target, UsageError
from ..engine import RaceRun, race_name, settings_in_force
from ..rules.base import RaceInfo
from ..scenario import Scenario, Variant
from .deadlines import Deadlines

AGENTS = ("sales-01", "support-01", "digest-01", "sequence-01", "billing-01")
"""Ids of the agents, in the order in which they are added."""


class ProcessEngine:
    """Runs scenarios against one target, every agent in a process of its own.

    A context manager: fork server, watchdog and receiving mailbox are started once and ended with it,
    whatever ends it.

    Args:
        target: ``module:attribute``, or a registered name.
        run_dir: Folder of the run; each race gets ``races/<name>/`` in it.
        seed: Of every draw.
        policy_file: A policy file of the user's.
        progress: Told what is being done, in a few words.
        smtp_port: Port of the receiving mailbox; 0 for any that is free.
        agent: An agent under test that is loaded ahead, ``module:function``, or "".
        deadlines: How long things may take.
        searchable: Whether the receiving mailbox can be asked for a message by its Message-ID.

    Raises:
        UsageError: This system can't do it (Windows).
    """

    def __init__(
        self,
        target: str,
        run_dir: Path,
        *,
        seed: int = 0,
        policy_file: Path | None = None,
        progress: Callable[[str], None] | None = None,
        smtp_port: int = 0,
        agent: str = "",
        deadlines: Deadlines | None = None,
        searchable: bool = False,
    ) -> None:
        if sys.platform == "win32":
            raise UsageError(
                "agents as processes need SIGSTOP, which Windows lacks: use the simulator, or run in WSL"
            )
        from .door import Door

        self._target = target
        self._run_dir = run_dir.absolute()
        self._seed = seed
        self._policy_file = policy_file.absolute() if policy_file else None
        self._progress = progress or (lambda _: None)
        self._smtp_port = smtp_port
        self._searchable = searchable
        self._deadlines = deadlines or Deadlines()
        self._door = Door(target, self._run_dir / "door", self._deadlines.import_s, agent)
        self.target = Target()
        """What the target declares of itself; it is loaded in other processes only."""

    def __enter__(self) -> Self:
        """Start what all races share.

        Raises:
            UsageError: The target can't be loaded, the port is taken, or the folder can't be written.
        """
        try:
            self._open()
        except OSError as error:
            self._door.close()
            raise UsageError(f"the run's folder {self._run_dir} can't be used: {error}") from error
        except BaseException:
            self._door.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every process."""
        self._door.close()

    def _open(self) -> None:
        from .remote import Host, Mail

        door = self._door
        door.open()
        folder = self._run_dir / "door"
        self._mail = Mail(
            door.child(),
            folder / "sink.log",
            host="127.0.0.1",
            port=self._smtp_port,
            within_s=self._deadlines.own_s,
            searchable=self._searchable,
        )
        host = Host(door.child(), self._target, folder / "target.log")
        door.prepare(1)
        self.target = host.declared(self._deadlines.import_s)
        host.end()
        self._address = self._mail.address()
        door.sweep(keep=[self._mail.process])

    def run(
        self, scenario: Scenario, variant: Variant, *, agents: int, rounds: int | None = None
    ) -> RaceRun:
        """Run one variant; see `leaserace.harness.engine.Engine`."""
        from .running import Plan, Running

        if agents < 2:
            raise UsageError(f"{agents} agent(s): a race needs at least 2")
        race = race_name(scenario, variant, agents)
        plan = Plan(
            race=race,
            scenario=scenario,
            variant=variant,
            info=self._info(scenario, variant, agents),
            rounds=rounds or variant.rounds or scenario.rounds,
            seed=self._seed,
            target=self._target,
            policy_file=self._policy_file,
            folder=self._fresh_folder(race),
        )
        running = Running(
            plan,
            door=self._door,
            mail=self._mail,
            address=self._address,
            deadlines=self._deadlines,
            progress=self._progress,
        )
        within_s = 0.0
        try:
            result = running.run()
            within_s = 0.0 if running.is_aborted else 1.0
        finally:
            self._door.sweep(within_s, keep=[self._mail.process])
        return result

    def _info(self, scenario: Scenario, variant: Variant, agents: int) -> RaceInfo:
        wanted = variant.settings or scenario.settings
        fixed = self.target.fixed
        return RaceInfo(
            settings=settings_in_force(scenario, variant, self.target),
            capabilities=frozenset(self.target.capabilities),
            agents=agent_ids(agents),
            isolated=all(getattr(wanted, name) == value for name, value in fixed.items()),
        )

    def _fresh_folder(self, race: str) -> Path:
        slug = re.sub(r"[^a-z0-9]+", "-", race.lower()).strip("-")
        folder = self._run_dir / "races" / slug
        number = 1
        while folder.exists():
            number += 1
            folder = self._run_dir / "races" / f"{slug}-{number}"
        return folder


def agent_ids(number: int) -> tuple[str, ...]:
    """Ids of so many agents."""
    more = tuple(f"agent-{each:02d}" for each in range(len(AGENTS) + 1, number + 1))
    return (*AGENTS[:number], *more)
