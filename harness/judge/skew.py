"""How far each agent's clock was ahead of the store's, from calls that carry both times.

An agent asks at `a` by its own clock, the store decides at `s` by its own, the agent has the answer at
`b` by its own. If the agent's clock is ahead by `d`, then a <= s + d <= b. So each call bounds `d` from
both sides, and many calls bound it closely; what is left between the bounds is doubt. Bounds that
contradict each other mean that the clock was stepped.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

CALLS_OPEN_MAX = 100_000
UNBOUNDED = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """What is known of one agent's clock.

    Args:
        ahead_ns: How far it is ahead of the store's (negative: behind).
        either_ns: How far that may be off, either way.
        calls: How many calls told it; 0 if the mapping did.
        stepped: Whether the calls contradict each other.
    """

    ahead_ns: int
    either_ns: int
    calls: int = 0
    stepped: bool = False


class Skews:
    """Bounds of every agent's clock, from the calls of a log in the order of its lines."""

    def __init__(self) -> None:
        self._begun: OrderedDict[tuple[str, ...], int] = OrderedDict()
        self._bounds: dict[str, list[int]] = {}

    def begin(self, agent: str, call: tuple[str, ...], t_ns: int) -> None:
        """An agent asked."""
        self._begun[(agent, *call)] = t_ns
        if len(self._begun) > CALLS_OPEN_MAX:
            self._begun.popitem(last=False)

    def end(self, agent: str, call: tuple[str, ...], t_ns: int, store_ns: int) -> None:
        """An agent had its answer, which carries the store's time."""
        asked_ns = self._begun.pop((agent, *call), None)
        low = -UNBOUNDED if asked_ns is None else asked_ns - store_ns
        bounds = self._bounds.setdefault(agent, [-UNBOUNDED, UNBOUNDED, 0])
        bounds[0] = max(bounds[0], low)
        bounds[1] = min(bounds[1], t_ns - store_ns)
        bounds[2] += 1

    def offsets(self, told_s: Mapping[str, float]) -> dict[str, Offset]:
        """What is known of each clock; what the mapping tells counts more.

        Args:
            told_s: Agent to seconds ahead, from the mapping.
        """
        found = {agent: _offset(*bounds) for agent, bounds in self._bounds.items()}
        found.update(
            {
                agent: Offset(ahead_ns=int(ahead_s * 1e9), either_ns=0)
                for agent, ahead_s in told_s.items()
            }
        )
        return found


def _offset(low: int, high: int, calls: int) -> Offset:
    if low == -UNBOUNDED:  # no begin was seen: the fastest answer took no time, at best
        return Offset(ahead_ns=high, either_ns=0, calls=calls)
    middle, half = (low + high) // 2, abs(high - low) // 2 + 1
    return Offset(ahead_ns=middle, either_ns=half, calls=calls, stepped=low > high)


def told(offsets: Mapping[str, Offset]) -> Iterator[str]:
    """What is said of the clocks, one sentence each."""
    for agent, offset in sorted(offsets.items()):
        ahead_s = offset.ahead_ns / 1e9
        way = "ahead of" if ahead_s >= 0 else "behind"
        source = f"from {offset.calls:,} calls that carry both times" if offset.calls else "as told"
        sentence = (
            f"The clock of {agent} is {abs(ahead_s):.3f} s {way} the store's "
            f"(± {offset.either_ns / 1e9:.3f} s, {source})"
        )
        if offset.stepped:
            sentence += "; it was stepped meanwhile, so its times say little"
        yield f"{sentence}; its lines were moved by that."


__all__ = ["Offset", "Skews", "told"]
