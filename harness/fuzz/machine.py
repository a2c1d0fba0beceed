"""The state machine: Hypothesis draws one step after the other, the stand makes them, rules watch.

It is run by `campaign`; by hand, give it a stand first::

    machine = machine_for(stand, watch)
    run_state_machine_as_test(machine)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from ..contract import Capability
from .stage import Stage
from .stands import Played, Stand
from .steps import (
    AGENT,
    PERSON,
    Cause,
    Habit,
    Moment,
    Shape,
    Side,
    Step,
    Token,
    Trouble,
    Verb,
)

LENGTHS_REAL = {"lease_s": (0.4,), "cooldown_s": (0.0, 0.6), "window_s": (86_400.0, 1.0)}
LENGTHS = {
    "lease_s": (60.0, 2.0),
    "cooldown_s": (0.0, 300.0, 5.0),
    "window_s": (86_400.0, 30.0),
}
SKEWS_S = (3600, -3600, 90, -90)
AGENTS_MAX, CONTACTS_MAX = 4, 2


class Found(AssertionError):  # noqa: N818 - it is what happened
    """A rule was broken."""

    def __init__(self, played: Played) -> None:
        super().__init__(played.findings[0].rule)
        self.played = played


def seats(at_most: int) -> st.SearchStrategy[int]:
    """An index; the first ones are the likeliest."""
    return st.integers(0, at_most - 1)


def _shapes(lengths: dict[str, tuple[float, ...]]) -> st.SearchStrategy[Shape]:
    return st.builds(
        Shape,
        agents=st.sampled_from((2, 2, 2, 3, AGENTS_MAX)),
        contacts=st.sampled_from((1, 1, CONTACTS_MAX)),
        **{name: st.sampled_from(values) for name, values in lengths.items()},
    )


who = seats(AGENTS_MAX)
whom = st.sampled_from((0, 0, 0, 1))
spelt = st.sampled_from((0, 0, 1, 2))
tokens = st.sampled_from((Token.OWN, Token.OWN, Token.OWN, Token.FIRST, Token.OTHERS))
send_tokens = st.sampled_from((*(Token.OWN,) * 6, Token.FIRST, Token.OTHERS, Token.NONE))
habits = st.sampled_from(
    (
        *(Habit.PLAIN,) * 14,
        *(Habit.REPLY,) * 3,
        Habit.NO_KEY,
        Habit.BAD_KEY,
        Habit.NO_ADDRESS,
        Habit.BAD_SUBJECT,
    )
)
retry_habits = st.sampled_from((Habit.PLAIN, Habit.PLAIN, Habit.DRIFTED, Habit.REWORDED))
back = st.sampled_from((0, 0, 0, 1, 2))
moments = st.sampled_from((*(Moment.LEASE,) * 4, *(m for m in Moment if m is not Moment.LEASE)))
sides = st.sampled_from((Side.AFTER, Side.BEFORE, Side.AT))
mishaps = st.tuples(
    st.sampled_from((*(Trouble.NONE,) * 5, *(Trouble.PAUSE,) * 4, Trouble.LOSE, Trouble.CRASH)),
    st.integers(0, 11),
)
send_mishaps = st.tuples(
    st.sampled_from(
        (
            *(Trouble.NONE,) * 5,
            *(Trouble.PAUSE,) * 5,
            Trouble.LOSE,
            Trouble.CRASH,
            Trouble.CRASH,
            Trouble.SILENT,
            Trouble.SILENT,
            Trouble.REFUSE,
        )
    ),
    st.integers(0, 11),
)
Mishap = tuple[Trouble, int]


class Watch:
    """Who is told of each run that was played."""

    def __init__(self, hear: Callable[[Played], None]) -> None:
        self.hear = hear


def _can(*wanted: Capability) -> Callable[[Any], bool]:
    return lambda machine: machine.stage is None or machine.stage.capabilities >= set(wanted)


def _any(state: str) -> Callable[[Any], bool]:
    """Whether some agent is so."""
    return lambda machine: any(
        hand.open is not None if state == "open" else getattr(hand, state)
        for hand in machine.hands()
    )


class MailboxMachine(RuleBasedStateMachine):
    """Draws steps; `machine_for` says where they are made."""

    stand: ClassVar[Stand]
    watch: ClassVar[Watch]

    def __init__(self) -> None:
        super().__init__()
        self.stage: Stage | None = None
        self._is_over = False

    # -- beginning and end -----------------------------------------------------------------------

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """A shape is drawn."""
        lengths = LENGTHS_REAL if self.stand.is_real else LENGTHS
        shape = data.draw(_shapes(lengths))
        self.stage = self.stand.begin(shape)

    @invariant()
    def every_rule_holds(self) -> None:
        """The rules of `leaserace.harness.rules`, on the history so far."""
        if self.stage is not None and not self._is_over and self.stand.findings:
            self._end()

    def teardown(self) -> None:
        """Everybody goes on, the audit log is read, the rules judge to the end."""
        if self.stage is not None and not self._is_over:
            self._end()

    def _end(self) -> None:
        self._is_over = True
        played = self.stand.end()
        self.watch.hear(played)
        if played.findings:
            raise Found(played)

    # -- helpers ---------------------------------------------------------------------------------

    def hands(self) -> Sequence[Any]:
        """The agents."""
        return self.stage.hands if self.stage is not None else ()

    def _do(self, verb: Verb, agent: int = 0, mishap: Mishap | None = None, **more: Any) -> None:
        """Make a step; who can't begin a call leaves it to the next who can."""
        stage = self.stage
        assert stage is not None
        if verb in _ONCE and stage.told and stage.told[-1].step.verb is verb:
            return  # twice in a row says no more than once
        seat = agent % len(stage.hands)
        free = [index for index, hand in enumerate(stage.hands) if hand.is_free]
        if free and seat not in free:
            seat = free[seat % len(free)]
        more["contact"] = more.get("contact", 0) % len(stage.contacts)
        trouble, point = self._mishap(verb, mishap)
        stage.do(Step(verb=verb, agent=seat, trouble=trouble, point=point, **more))

    def _mishap(self, verb: Verb, mishap: Mishap | None) -> tuple[Trouble, str]:
        """What befalls a call, and where: the points of its method, the target's own first."""
        if mishap is None or self.stage is None:
            return Trouble.NONE, ""
        trouble, place = mishap
        if trouble not in {Trouble.PAUSE, Trouble.CRASH}:
            return trouble, ""
        points = points_of(self.stage, verb)
        return trouble, points[place % len(points)]

    # -- calls -----------------------------------------------------------------------------------

    @rule(agent=who, contact=whom, spelling=spelt, mishap=mishaps)
    @precondition(_can(Capability.LEASE))
    def acquire(self, agent: int, contact: int, spelling: int, mishap: Mishap) -> None:
        """An agent claims a contact."""
        self._do(Verb.ACQUIRE, agent, mishap, contact=contact, spelling=spelling)

    @rule(agent=who, contact=whom, token=tokens, mishap=mishaps)
    @precondition(_can(Capability.LEASE))
    def renew(self, agent: int, contact: int, token: Token, mishap: Mishap) -> None:
        """An agent renews, under its own token or another."""
        self._do(Verb.RENEW, agent, mishap, contact=contact, token=token)

    @rule(agent=who, contact=whom, token=tokens, mishap=mishaps)
    @precondition(_can(Capability.LEASE))
    def release(self, agent: int, contact: int, token: Token, mishap: Mishap) -> None:
        """An agent releases, under its own token or another."""
        self._do(Verb.RELEASE, agent, mishap, contact=contact, token=token)

    @rule(
        agent=who,
        contact=whom,
        spelling=spelt,
        token=send_tokens,
        habit=habits,
        mishap=send_mishaps,
    )
    @precondition(_can(Capability.SEND))
    def send(  # noqa: PLR0917 - Hypothesis gives them by name
        self,
        agent: int,
        contact: int,
        spelling: int,
        token: Token,
        habit: Habit,
        mishap: Mishap,
    ) -> None:
        """An agent sends a new message."""
        more = {"contact": contact, "spelling": spelling, "token": token, "habit": habit}
        self._do(Verb.SEND, agent, mishap, **more)

    @rule(agent=who, back=back, token=send_tokens, habit=retry_habits, mishap=send_mishaps)
    @precondition(lambda machine: machine.stage is None or machine.stage.drafts)
    def retry(self, agent: int, back: int, token: Token, habit: Habit, mishap: Mishap) -> None:
        """An agent, perhaps another, tries a message again."""
        self._do(Verb.RETRY, agent, mishap, back=back, token=token, habit=habit)

    @rule(agent=who, back=back)
    @precondition(lambda machine: machine.stage is None or machine.stage.drafts)
    @precondition(_can(Capability.LOOKUP))
    def lookup(self, agent: int, back: int) -> None:
        """An agent looks a key up."""
        self._do(Verb.LOOKUP, agent, back=back)

    @rule(agent=who, contact=whom, spelling=spelt, cause=st.sampled_from(Cause), mishap=mishaps)
    @precondition(_can(Capability.SUPPRESS))
    def suppress(
        self, agent: int, contact: int, spelling: int, cause: Cause, mishap: Mishap
    ) -> None:
        """An opt-out by reply, a bounce, or a late one."""
        if cause is Cause.LATE:
            mishap = (Trouble.NONE, 0)
        more = {"contact": contact, "spelling": spelling, "option": cause}
        self._do(Verb.SUPPRESS, agent, mishap, **more)

    @rule(agent=who, contact=whom, by=st.sampled_from((PERSON, PERSON, PERSON, AGENT)))
    @precondition(_can(Capability.SUPPRESS))
    def clear(self, agent: int, contact: int, by: str) -> None:
        """A person takes the contact off the list; an agent may try."""
        self._do(Verb.CLEAR, agent, contact=contact, option=by)

    @rule(agent=who, contact=whom, by=st.sampled_from((PERSON, PERSON, PERSON, AGENT)))
    @precondition(_can(Capability.OVERRIDE))
    def override(self, agent: int, contact: int, by: str) -> None:
        """A person lets the next send skip the cooldown."""
        self._do(Verb.OVERRIDE, agent, contact=contact, option=by)

    # -- what is no call -------------------------------------------------------------------------

    @rule(pick=who)
    @precondition(_any("open"))
    def resume(self, pick: int) -> None:
        """An agent that stands still goes on."""
        self._of(Verb.RESUME, pick, [hand.open is not None for hand in self.hands()])

    @rule(pick=who)
    @precondition(_any("is_dead"))
    def restart(self, pick: int) -> None:
        """An agent that crashed starts again."""
        self._of(Verb.RESTART, pick, [hand.is_dead for hand in self.hands()])

    def _of(self, verb: Verb, pick: int, fits: Sequence[bool]) -> None:
        assert self.stage is not None
        places = [index for index, fit in enumerate(fits) if fit]
        if places:
            self.stage.do(Step(verb=verb, agent=places[pick % len(places)]))

    @rule(agent=who, seconds=st.sampled_from(SKEWS_S))
    def skew(self, agent: int, seconds: int) -> None:
        """An agent's clock is put ahead or back."""
        self._do(Verb.SKEW, agent, option=f"{seconds}s")

    @rule(moment=moments, side=sides)
    def time(self, moment: Moment, side: Side) -> None:
        """Time passes to just before, at or after a moment at which something changes."""
        self._do(Verb.TIME, option=f"{moment}-{side}")

    @rule()
    def crash_store(self) -> None:
        """The store crashes, and everybody in it."""
        self._do(Verb.CRASH_STORE)

    @rule(agent=who)
    @precondition(
        lambda machine: (
            machine.stage is None
            or (machine.stage.errands is not None and machine.stage.errands.can_clean_up)
        )
    )
    def clean_up(self, agent: int) -> None:
        """Old rows are removed."""
        self._do(Verb.CLEAN_UP, agent)


def points_of(stage: Stage, verb: Verb) -> list[str]:
    """Points a call of this kind may pass, the target's own first; never none."""
    f = _METHODS.get(verb, str(verb))
    own = sorted(each for each in stage.points if each.startswith(f"{f}."))
    kit = [f"{f}.{name}" for name in ("think", "invoked", "returned")]
    others = sorted(
        each for each in stage.points if each.partition(".")[0] not in set(_METHODS.values())
    )
    return [each for each in own if each not in kit] + kit + others


_ONCE = {Verb.CLEAN_UP, Verb.CRASH_STORE}
_METHODS = {verb: str(verb) for verb in Verb} | {Verb.RETRY: "send", Verb.CLEAR: "unsuppress"}


def machine_for(stand: Stand, hear: Callable[[Played], None]) -> type[MailboxMachine]:
    """The machine that makes its steps at this stand.

    Args:
        stand: Entered.
        hear: Told of each run.
    """
    return type("MailboxMachine", (MailboxMachine,), {"stand": stand, "watch": Watch(hear)})


__all__ = ["Found", "MailboxMachine", "machine_for", "points_of"]
