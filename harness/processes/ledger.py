"""What the coordinator itself writes down of a race: marks, faults with both instants, problems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..clocks import monotonic_ns
from ..faults import FaultKind, Phase
from ..history import FaultEvent, MarkEvent, Writer


class Ledger:
    """The coordinator's own events, and what keeps a race from being judged.

    Args:
        path: File the events go to.
    """

    def __init__(self, path: Path) -> None:
        self._writer = Writer(path)
        self._open: dict[str, FaultEvent] = {}
        self._made = 0
        self.problems: list[str] = []
        self.pause_confirmed_us: list[float] = []
        self.paused_after_us: list[float] = []

    def mark(self, name: str, data: Mapping[str, Any], agent: str = "") -> None:
        """Write a mark."""
        self._writer(MarkEvent(t=monotonic_ns(), name=name, agent=agent, data=data))

    def problem(self, text: str) -> None:
        """Note why the race can't be judged."""
        if text not in self.problems:
            self.problems.append(text)

    def begin(self, kind: FaultKind, agent: str = "", *, point: str = "", **detail: Any) -> str:
        """Write a fault's first instant and return its id."""
        self._made += 1
        event = FaultEvent(
            t=monotonic_ns(),
            agent=agent,
            fault=kind,
            phase=Phase.BEGIN,
            id=f"{kind}:{self._made}",
            point=point,
            detail=detail,
        )
        self._open[event.id] = event
        self._writer(event)
        return event.id

    def end(self, fault_id: str | None) -> None:
        """Write a fault's last instant, once."""
        event = self._open.pop(fault_id or "", None)
        if event is not None:
            self._writer(
                FaultEvent(
                    t=monotonic_ns(),
                    agent=event.agent,
                    fault=event.fault,
                    phase=Phase.END,
                    id=event.id,
                    point=event.point,
                    detail=event.detail,
                )
            )

    def end_all(self) -> None:
        """Write the last instant of every fault that is still on."""
        for fault_id in tuple(self._open):
            self.end(fault_id)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
