"""One kill: a call is begun, its caller is killed at a moment, and started again (spec: X4)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..contract import Answer, Code, NoReply, Refused
from ..scenario import Call, NotReached, Race

DIED = "an agent was killed inside a call"
ANSWERED = "after its answer"
"""A moment to kill at: the agent has the answer, and forgets it."""
ANY = "at any instant"
"""A moment to kill at: drawn, wherever the agent stands then."""
_OWN_SIDE = ("think", "invoked", "returned")


def kit_points(f: str) -> tuple[str, ...]:
    """Points every target passes: the agent's own side of the call."""
    return tuple(f"{f}.{point}" for point in _OWN_SIDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """A caller was killed.

    Args:
        moment: Where it was; `ANSWERED` if its call did not come by the point that was meant.
        told: What it had been answered by then, or None.
    """

    moment: str
    told: Answer | None


def strike(race: Race, call: Call, moment: str, within_s: float) -> Blow:
    """Begin a call, kill its caller at the moment, and start it again.

    Args:
        race: The race.
        call: Not begun.
        moment: Name of a point, `ANSWERED` or `ANY`.
        within_s: How long the call takes: `ANY` is drawn from it.
    """
    agent = call.actor
    stop = None if moment in (ANSWERED, ANY) else agent.kill_at(moment)
    pending = call.start()
    if stop is not None:
        try:
            stop.wait()
        except NotReached:
            moment = ANSWERED  # a replay passes few points
    elif moment == ANY:
        time.sleep(race.rng.uniform(0.0, within_s))
    if moment == ANSWERED:
        pending.answer()
    elif stop is not None or not pending.is_done():
        race.window(DIED)
    agent.kill()
    answer = pending.answer()
    agent.restart()
    return Blow(moment=moment, told=None if _says_nothing(answer) else answer)


def _says_nothing(answer: Answer) -> bool:
    """No answer came, or one that says that nothing happened."""
    busy = isinstance(answer, Refused) and answer.code is Code.STORE_BUSY
    return busy or isinstance(answer, NoReply)


def passes(call: Call, point: str) -> bool:
    """Whether a call comes by the point; it is made, undisturbed."""
    stop = call.actor.hold_at(point)
    pending = call.start()
    try:
        stop.wait()
    except NotReached:
        return False
    else:
        return True
    finally:
        stop.resume()
        pending.answer()


class Deck:
    """Draws all in turn, in an order that is drawn anew each time.

    Args:
        cards: What is drawn.
    """

    def __init__(self, cards: Sequence[str]) -> None:
        self._cards = tuple(cards)
        self._left: list[str] = []

    def draw(self, race: Race) -> str:
        """The next one."""
        if not self._left:
            self._left = list(self._cards)
            race.rng.shuffle(self._left)
        return self._left.pop()

    def choose(self, race: Race) -> str:
        """Any of them, out of turn."""
        return race.rng.choice(self._cards)
