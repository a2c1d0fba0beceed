"""Ways in which a call or a whole run is repeated wrongly (spec: A1, O3, R1)."""

from __future__ import annotations

from collections.abc import Callable

from ..contract import Answer, Message, NoReply
from ..errand import Errand

MARGIN_S = 0.01
"""How long after the window's end the next run begins."""


class BlindRetry(Errand):
    """Whatever is refused or not answered is called again at once (spec: A1, R1; B57, B60, B72, B108).

    The key stays the same, so a mailbox that keeps keys replays what was sent; nothing is looked up,
    nothing is waited for, and a refused message is sent again and again.
    """

    def deliver(self, step: str) -> bool:
        """Try at least twice."""
        self.patience = max(2, self.patience)
        return super().deliver(step)

    def hold(self) -> bool:
        """What was granted is taken for held."""
        return self.lease is not None or self.claim()

    def wait_for(self, answer: Answer) -> bool:
        """A refused claim is repeated at once."""
        return True

    def after_unknown(self, step: str, message: Message) -> Answer:
        """No look-up: the next try follows at once."""
        return NoReply(why="nobody looked it up")

    def may_try_again(self, answer: Answer) -> bool:
        """Whatever the answer was."""
        return True


class DailyAfterWindow(Errand):
    """A scheduled run does its work again when the window of its key has closed (spec: O3, K5; B48, B49).

    The key is the same and no longer known: a mailbox can't tell it from a new request. Only a table
    of what was sent, which has no window, stops it.
    """

    def perform(self, work: Callable[[Errand], object]) -> None:
        """Work today, and again tomorrow."""
        work(self)
        self.seat.wait_s(self.seat.settings.key_window_s + MARGIN_S)
        if self.seat.running():
            work(self)
