"""Where a run stands, as far as it matters to what is drawn next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..contract import Code
from .steps import Moment, Step, Trouble, Verb

if TYPE_CHECKING:
    from .stage import Stage

_SENDING = frozenset({Verb.SEND, Verb.RETRY})
_BACK = frozenset({Verb.RESTART, Verb.CRASH_STORE, Verb.CLEAN_UP, Verb.LOOKUP})
_OLD = (Moment.WINDOW.value, Moment.DAYS.value)
_GONE = (Moment.DEADLINE.value, Moment.DAYS.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What was answered last, who stands where, what is left behind.

    Args:
        code: Why the last call that was answered was refused, or None.
        last: The last step, or None.
        is_held: Every contact is claimed.
        is_standing: Somebody stands still in a call.
        is_sending: In a send.
        is_dead: Somebody crashed and was not started again.
        is_left: Whoever tried the last send crashed in it, and nobody has tried one since.
        is_listed: A contact is on the list.
        has_told: Somebody has just told of a bounce or the like, and sending may be halted by now.
        is_overridden: A person lets a send skip the cooldown, or let one.
        is_halted: Somebody was told that sending is halted, and no time has passed since.
        may_halt: A bounce or complaint may halt sending by now.
    """

    code: Code | None
    last: Step | None
    is_held: bool
    is_standing: bool
    is_sending: bool
    is_dead: bool
    is_left: bool
    is_listed: bool
    has_told: bool
    is_overridden: bool
    is_halted: bool
    may_halt: bool

    @property
    def is_back(self) -> bool:
        """Something was brought back, or looked up: what was tried before may be tried again."""
        return self.last is not None and self.last.verb in _BACK

    @property
    def are_rows_old(self) -> bool:
        """Time has just passed to where they may be cleaned up."""
        last = self.last
        return last is not None and last.verb is Verb.TIME and last.option.startswith(_OLD)

    @property
    def is_worker_gone(self) -> bool:
        """Time has just passed to where the worker of a send counts as gone."""
        last = self.last
        return last is not None and last.verb is Verb.TIME and last.option.startswith(_GONE)

    @property
    def is_asked_again(self) -> bool:
        """A message was just tried again."""
        return self.last is not None and self.last.verb is Verb.RETRY

    @property
    def was_turned_down(self) -> bool:
        """The receiving side has just refused a message: it may be tried again."""
        return self.last is not None and self.last.trouble is Trouble.REFUSE


def look(stage: Stage) -> Outlook:
    """How a run stands."""
    hands, known = stage.hands, stage.known
    last = stage.told[-1].step if stage.told else None
    standing = [hand.open.step.verb for hand in hands if hand.open]
    return Outlook(
        code=known.code,
        last=last,
        is_held=all(known.is_held(contact) for contact in range(len(stage.contacts))),
        is_standing=bool(standing),
        is_sending=not _SENDING.isdisjoint(standing),
        is_dead=any(hand.is_dead for hand in hands),
        is_left=known.is_left,
        is_listed=bool(known.listed),
        has_told=known.may_halt and last is not None and last.verb is Verb.SUPPRESS,
        is_overridden=known.is_overridden,
        is_halted=known.halted is not None,
        may_halt=known.may_halt,
    )


__all__ = ["Outlook", "look"]
