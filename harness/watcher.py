"""Who is told how far a run of the gate is."""

from __future__ import annotations

from typing import Protocol

from .outcome import CanaryResult
from .verdict import RaceResult


class Watcher(Protocol):
    """Who is told how far a run is."""

    def begin(self, races: int) -> None:
        """A run of so many races begins."""
        ...

    def racing(self, name: str) -> None:
        """A race begins."""
        ...

    def raced(self, result: RaceResult) -> None:
        """A race ended, or was left out."""
        ...

    def canary(self, result: CanaryResult) -> None:
        """The canary was fed."""
        ...


class Silent:
    """Nobody is told."""

    def begin(self, races: int) -> None:
        """Nothing."""

    def racing(self, name: str) -> None:
        """Nothing."""

    def raced(self, result: RaceResult) -> None:
        """Nothing."""

    def canary(self, result: CanaryResult) -> None:
        """Nothing."""


__all__ = ["Silent", "Watcher"]
