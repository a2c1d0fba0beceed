"""What a run has shown so far to whoever draws its next step; no judgement rests on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatchmethod

from ..contract import Answer, Code, Lease, Noted, Refused, Released, Sent, Settings, Taken
from .hands import Hand
from .steps import Moment, Step, Verb


class Known:
    """Leases, moments to come, who is on the list, what was answered last.

    Args:
        settings: The lengths in force.
        now_ms: The store's clock, or a good guess.
        has_breaker: A breaker was asked for.
    """

    def __init__(self, settings: Settings, now_ms: Callable[[], int], *, has_breaker: bool) -> None:
        self._settings = settings
        self._now_ms = now_ms
        self._has_breaker = has_breaker
        self._has_delivered = False
        self._ends_ms: dict[int, int] = {}
        self._tokens: dict[int, int] = {}
        self.moments: dict[Moment, int] = {}
        self.cleared_at_ms: dict[int, int] = {}
        self.listed: set[int] = set()
        """Contacts that were put on the list, and not taken off since."""
        self.is_overridden = False
        """A person let a send skip the cooldown."""
        self.is_left = False
        """Whoever tried the last send crashed in it."""
        self.halted: int | None = None
        """Who was told that sending is halted, if no time has passed since."""
        self.last: Answer | None = None
        """The last answer."""

    # -- what is asked ---------------------------------------------------------------------------

    @property
    def code(self) -> Code | None:
        """Why the last call that was answered was refused, or None."""
        return self.last.code if isinstance(self.last, Refused) else None

    @property
    def may_halt(self) -> bool:
        """Whether a bounce or complaint may halt sending by now."""
        return self._has_breaker and self._has_delivered

    def is_held(self, contact: int) -> bool:
        """Whether the contact is claimed, and neither released nor out of time."""
        return self._ends_ms.get(contact, 0) > self._now_ms()

    def holds(self, hand: Hand, contact: int) -> bool:
        """Whether this agent holds it."""
        leases = hand.leases.get(contact)
        is_newest = leases and leases[-1].token == self._tokens.get(contact)
        return bool(is_newest) and self.is_held(contact)

    # -- what is learnt --------------------------------------------------------------------------

    def begins(self, f: str) -> None:
        """A call begins; from so long after a send on its worker counts as gone."""
        if f == "send":
            deadline_s = (
                2 * self._settings.transport_timeout_s + 2 * self._settings.store_deadline_s
            )
            self.moments[Moment.DEADLINE] = self._now_ms() + round(deadline_s * 1000)

    def crashed(self, f: str) -> None:
        """Whoever made the call crashed in it."""
        self.is_left = self.is_left or f == "send"

    def time_passed(self) -> None:
        """By now a halt may be over."""
        self.halted = None

    def answered(self, f: str, step: Step, hand: Hand, answer: Answer) -> None:
        """A call was answered; one that was refused or is in doubt may leave its worker at it."""
        self.last = answer
        self._learn(answer, step, hand)
        if f == "send":
            self.is_left = False
        if not isinstance(answer, Sent):
            self.begins(f)

    @singledispatchmethod
    def _learn(self, answer: object, step: Step, hand: Hand) -> None:
        """Nothing to remember."""

    @_learn.register
    def _(self, answer: Lease, step: Step, hand: Hand) -> None:
        leases = hand.leases[step.contact]
        if step.verb is Verb.RENEW and leases:
            leases[-1] = answer
        else:
            leases.append(answer)
        self._tokens[step.contact] = answer.token
        self._ends_ms[step.contact] = self.moments[Moment.LEASE] = answer.expires_at_ms

    @_learn.register
    def _(self, answer: Released, step: Step, hand: Hand) -> None:  # noqa: ARG002
        self._ends_ms.pop(step.contact, None)

    @_learn.register
    def _(self, answer: Sent, step: Step, hand: Hand) -> None:  # noqa: ARG002
        if answer.replay:
            return
        self._has_delivered = True
        settings, now_ms = self._settings, self._now_ms()
        if settings.cooldown_s:
            self.moments[Moment.COOLDOWN] = now_ms + round(settings.cooldown_s * 1000)
        self.moments[Moment.WINDOW] = now_ms + round(settings.key_window_s * 1000)

    @_learn.register
    def _(self, answer: Refused, step: Step, hand: Hand) -> None:  # noqa: ARG002
        contact, ends_ms = step.contact, answer.expires_at_ms
        if answer.code is Code.SENDING_HALTED:
            self.halted = step.agent
        elif answer.code is Code.CONTACT_OWNED and ends_ms and not self.is_held(contact):
            self._tokens.pop(contact, None)  # by whom, nobody knows
            self._ends_ms[contact] = self.moments[Moment.LEASE] = ends_ms
        elif answer.until_ms is not None:
            self.moments[Moment.COOLDOWN] = answer.until_ms

    @_learn.register
    def _(self, answer: Taken, step: Step, hand: Hand) -> None:  # noqa: ARG002
        if answer.opted_out:
            self.listed.add(step.contact)

    @_learn.register
    def _(self, answer: Noted, step: Step, hand: Hand) -> None:  # noqa: ARG002
        if step.verb is Verb.CLEAR:
            self.listed.discard(step.contact)
            self.cleared_at_ms[step.contact] = answer.at_ms
        self.is_overridden = self.is_overridden or step.verb is Verb.OVERRIDE


__all__ = ["Known"]
