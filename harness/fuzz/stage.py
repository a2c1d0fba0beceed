"""Where steps are made: the agents of one race, what they hold, and what they were told.

The same on both engines: a stage moves the actors of a `Race` and remembers leases and messages.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from typing import Any

from ..actor import EVERYONE
from ..contract import (
    Answer,
    Capability,
    Code,
    NoReply,
    Received,
    Refused,
)
from ..scenario import Call, Contact, NotReached, Race
from .acts import NEEDED, Acts
from .hands import Draft, Errands, Hand, Standing, Told
from .known import Known
from .model import Model
from .steps import AGENT, PERSON, Moment, Shape, Side, Step, Token, Trouble, Verb

PERSON_ID = "person-01"
PLAIN_FORMS = ("{user}@example.com", "{User}@Example.COM")
ALIAS_FORMS = (
    "j{user}@gmail.com",
    "J{User}@Gmail.COM",
    "j{user}+news@googlemail.com",
    "j.{user}@gmail.com",
)
"""Another case, the domain's alias with a tag, another dot (spec: I1, I2, I3)."""
ACCENT_FORMS = (
    "zo\u00eb.{user}@m\u00fcnchen.example.com",
    "zoe\u0308.{user}@m\u00fcnchen.example.com",
    "zo\u00eb.{user}@xn--mnchen-3ya.example.com",
)
"""An accent composed and as a character of its own, the domain in Unicode and in ASCII (spec: I2, I3)."""
FORMS = (ALIAS_FORMS, ACCENT_FORMS)
"""How the first contacts are spelled, where a target takes such forms for one; the others are plain."""
DAYS_MS = 3 * 86_400_000


class Stage(Acts):
    """Makes steps.

    Args:
        race: The race, begun.
        shape: What it is made of.
        points: Points of the target.
        now_ms: The store's clock, or a good guess.
        patience_ms: Longest wait a step may cost; None where time is set.
        errands: What can be done from behind, or None.
        model: Says what is expected where nothing overlaps, or None.
    """

    breaks: tuple[type[Exception], ...] = ()
    """What is raised where a run can't go on."""

    def __init__(
        self,
        race: Race,
        shape: Shape,
        *,
        points: Set[str],
        now_ms: Callable[[], int],
        patience_ms: int | None = None,
        errands: Errands | None = None,
        model: Model | None = None,
    ) -> None:
        self.race = race
        self.points = points
        self.errands = errands
        self.model = model
        self._now_ms = now_ms
        self._patience_ms = patience_ms
        self.capabilities = race.capabilities
        self.hands = [Hand(actor=actor) for actor in race.agents[: shape.agents]]
        first = self.hands[0]
        for _ in range(shape.replicas):
            actor = race.replica(first.actor)
            self.hands.append(Hand(actor=actor, leases=first.leases))
        self.contacts = [self._person(index) for index in range(shape.contacts)]
        self.drafts: list[Draft] = []
        self.events: list[tuple[int, Received]] = []
        self.known = Known(race.settings, now_ms, has_breaker=bool(shape.breaker))
        self.told: list[Told] = []
        self.broken: Exception | None = None
        """Why the run can't go on."""

    def _person(self, index: int) -> Contact:
        folds = Capability.ALIASES in self.capabilities and index < len(FORMS)
        return self.race.contact(*(FORMS[index] if folds else PLAIN_FORMS))

    # -- making a step ---------------------------------------------------------------------------

    def do(self, step: Step) -> bool:
        """Make a step; False if it can't be made here, and nothing happened."""
        if self.broken is not None or not self.can(step.verb):
            return False
        if step.agent >= len(self.hands) or step.contact >= len(self.contacts):
            return False
        make: Callable[[Step], Told | None] = getattr(self, f"_{step.verb.replace('-', '_')}")
        try:
            made = self._guarded(make, step)
        except self.breaks as error:
            self.broken = error
            return False
        if made is None:
            return False
        self.told.append(made)
        return True

    def _guarded(self, make: Callable[[Step], Told | None], step: Step) -> Told | None:
        """Make a step under whatever watches it."""
        return make(step)

    def finish(self) -> None:
        """Let everybody who stands still go on, so that every call ends."""
        for index, hand in enumerate(self.hands):
            if hand.open is not None:
                self.do(Step(verb=Verb.RESUME, agent=index))

    def _is_ready(self, hand: Hand) -> bool:
        """Whether the agent can begin a call, and is connected."""
        return hand.is_free and (self.errands is None or self.errands.connect(hand.actor))

    def _call(self, step: Step, f: str, **args: Any) -> Told | None:
        """Make one call, with what befalls it; None if its agent can't."""
        hand = self.hands[step.agent]
        if not self._is_ready(hand):
            return None
        contact = EVERYONE if f == "clean_up" else self.contacts[step.contact].name
        call = Call(actor=hand.actor, f=f, contact=contact, args=dict(args))
        self.known.begins(f)
        if step.trouble in {Trouble.PAUSE, Trouble.CRASH}:
            return self._interrupted(step, hand, call)
        if step.trouble is Trouble.LOSE:
            hand.actor.lose_next_reply()
        if step.trouble in {Trouble.SILENT, Trouble.REFUSE}:
            self.race.transport(step.trouble)
        calm = all(each.open is None for each in self.hands) and not step.trouble
        answer = call.start().answer()
        if step.trouble in {Trouble.SILENT, Trouble.REFUSE}:
            self.race.transport("accept")
        self._note(step, call, answer, calm=calm)
        return Told(step=step, answer=answer)

    def _interrupted(self, step: Step, hand: Hand, call: Call) -> Told | None:
        if step.point not in self.points:
            return None
        crash = step.trouble is Trouble.CRASH
        stop = (hand.actor.kill_at if crash else hand.actor.pause_at)(step.point)
        pending = call.start()
        try:
            stop.wait()
        except NotReached:
            answer = pending.answer()
            self._note(step, call, answer, calm=False)
            return Told(step=replace(step, trouble=Trouble.NONE, point=""), answer=answer)
        if self.model is not None:
            self.model.disturb(step.contact, call.args)
        if crash:
            hand.is_dead = True
            self.known.crashed(call.f)
            return Told(step=step, answer=pending.answer())
        hand.open = Standing(pending=pending, stop=stop, step=step, call=call)
        return Told(step=step)

    # -- what is no call -------------------------------------------------------------------------

    def _resume(self, step: Step) -> Told | None:
        hand = self.hands[step.agent]
        if hand.open is None:
            return None
        standing, hand.open = hand.open, None
        standing.stop.resume()
        answer = standing.pending.answer()
        self._note(standing.step, standing.call, answer, calm=False)
        return Told(step=step, answer=answer)

    def _restart(self, step: Step) -> Told | None:
        hand = self.hands[step.agent]
        if not hand.is_dead:
            return None
        hand.actor.restart()
        hand.is_dead = False
        return Told(step=step)

    def _crash_store(self, step: Step) -> Told | None:
        """The store and all who are in it: what was committed stays, all else is gone."""
        if Capability.CRASH_STORE in self.capabilities:
            self.race.crash_store()
        for hand in self.hands:
            if not hand.is_dead:
                hand.actor.kill()
            if hand.open is not None:
                hand.open.pending.answer()
                hand.open = None
        for hand in self.hands:
            hand.actor.restart()
            hand.is_dead = False
        return Told(step=step)

    def _skew(self, step: Step) -> Told | None:
        hand = self.hands[step.agent]
        if not hand.is_free:
            return None
        hand.actor.skew(float(step.option.removesuffix("s")))
        return Told(step=step)

    def _time(self, step: Step) -> Told | None:
        moment, _, side = step.option.partition("-")
        at_ms = self._moment_ms(Moment(moment))
        if at_ms is None:
            return None
        at_ms += _SIDES[Side(side)] if self._patience_ms is None else _SIDES_REAL[Side(side)]
        ahead_ms = at_ms - self._now_ms()
        if ahead_ms <= 0 or (self._patience_ms is not None and ahead_ms > self._patience_ms):
            return None
        self.race.pass_store_time(at_ms - 1)
        self.known.time_passed()
        return Told(step=step)

    def can(self, verb: Verb) -> bool:
        """Whether the target declares what such a step asks for; old rows may go from behind too."""
        needed = NEEDED.get(verb)
        if verb is Verb.CLEAN_UP and not (self.errands is not None and self.errands.can_clean_up):
            needed = Capability.CLEAN_UP
        return needed is None or needed in self.capabilities

    @property
    def waits(self) -> bool:
        """Whether time has to be waited for."""
        return self._patience_ms is not None

    def can_pass_to(self, moment: Moment) -> bool:
        """Whether time can pass to some side of this moment."""
        at_ms = self._moment_ms(moment)
        ahead_ms = 0 if at_ms is None else at_ms - self._now_ms()
        return 0 < ahead_ms <= (self._patience_ms or ahead_ms)

    def _moment_ms(self, moment: Moment) -> int | None:
        if moment is Moment.SECOND:
            return self._now_ms() + 1000
        if moment is Moment.DAYS:
            return self._now_ms() + DAYS_MS
        return self.known.moments.get(moment)

    # -- what is known ---------------------------------------------------------------------------

    def holds(self, seat: int, contact: int) -> bool:
        """Whether the contact is held, as far as is known by this agent."""
        return self.known.holds(self.hands[seat], contact)

    def addressee(self, back: int) -> int:
        """Whom a message was written to; of one there never was, nobody."""
        return self.drafts[-1 - back].contact if back < len(self.drafts) else -1

    def _spelling(self, step: Step) -> int:
        return step.spelling % len(self.contacts[step.contact].spellings)

    def _address(self, step: Step) -> str:
        return self.contacts[step.contact].spellings[self._spelling(step)]

    def _person_of(self, step: Step) -> str:
        return self.hands[step.agent].actor.id if step.option == AGENT else PERSON_ID

    def _draft(self, step: Step) -> Draft | None:
        return self.drafts[-1 - step.back] if step.back < len(self.drafts) else None

    def _token(self, step: Step) -> int | None:
        """The token a step names, or None if there is none, or it is one another name has."""
        own = self.hands[step.agent].leases[step.contact]
        if step.token is Token.OWN:
            return own[-1].token if own else None
        if step.token is Token.FIRST:
            return own[0].token if len(own) > 1 else None
        if step.token is Token.OTHERS:
            others = [
                hand.leases[step.contact][-1]
                for index, hand in enumerate(self.hands)
                if index != step.agent and hand.leases[step.contact]
            ]
            return max((lease.token for lease in others), default=None)
        return None

    def _note(self, step: Step, call: Call, answer: Answer, *, calm: bool) -> None:
        """Remember what an answer tells, and let the model compare it."""
        model, contact = self.model, step.contact
        if model is not None:
            if calm and not isinstance(answer, NoReply):
                model.judge(call.f, contact, call.actor.id, call.args, answer)
            elif _is_silently_taken(step, answer):
                model.arrived(contact, call.args)
            else:
                model.disturb(contact, call.args)
        self.known.answered(call.f, step, self.hands[step.agent], answer)


def _is_silently_taken(step: Step, answer: Answer) -> bool:
    """Whether a new message arrived for certain, and its sender knows nothing of it."""
    is_unknown = isinstance(answer, Refused) and answer.code is Code.SEND_STATUS_UNKNOWN
    return is_unknown and step.verb is Verb.SEND and step.trouble is Trouble.SILENT


_SIDES = {Side.BEFORE: -1, Side.AT: 0, Side.AFTER: 1}
_SIDES_REAL = {Side.BEFORE: -40, Side.AT: 0, Side.AFTER: 5}

__all__ = ["AGENT", "PERSON", "Draft", "Errands", "Hand", "Stage", "Told"]
