"""Choices as they were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..choices import CRASH, to_text

if TYPE_CHECKING:
    from ..driver import Driver


class Diverged(Exception):  # noqa: N818 - it is what happened
    """A recorded choice can't be made; `step` counts from 1.

    Args:
        step: Which choice.
        message: Why.
    """

    def __init__(self, step: int, message: str) -> None:
        super().__init__(f"the run diverges from its schedule at step {step}: {message}")
        self.step = step


class Replay:
    """Makes the recorded choices.

    Args:
        choices: What was recorded.
        strict: A choice that can't be made raises `Diverged`; otherwise it is left out, and at the end
            whoever moved last goes on (shrinking works this way).
    """

    name = "replay"

    def __init__(self, choices: Sequence[int], *, strict: bool = True) -> None:
        self._choices = choices
        self._strict = strict
        self._at = 0

    @property
    def is_used_up(self) -> bool:
        """Whether every choice was made."""
        return self._at >= len(self._choices)

    def bind(self, driver: Driver) -> None:
        """The hub must ask, since `pick` may raise."""

    def begin(self, driver: Driver) -> None:  # noqa: ARG002
        """Start at the first choice."""
        self._at = 0

    def end(self, driver: Driver) -> None:
        """Nothing is learnt."""

    def pick(self, driver: Driver) -> int:
        """Choose.

        Raises:
            Diverged: The recorded choice can't be made here.
        """
        options = driver.options()
        while self._at < len(self._choices):
            choice = self._choices[self._at]
            self._at += 1
            if choice in options or (choice >= CRASH and choice in every_extra(driver)):
                return choice
            if self._strict:
                allowed = " ".join(to_text(option) for option in options)
                raise Diverged(
                    self._at,
                    f"{to_text(choice)} was chosen, but now only {allowed} can be chosen",
                )
        if self._strict:
            raise Diverged(self._at + 1, "the schedule has ended and the run has not")
        return driver.last if driver.last in options else options[0]


def every_extra(driver: Driver) -> list[int]:
    """Everything that can go wrong here, whatever the bounds say."""
    return driver.fault_options() + driver.times()
