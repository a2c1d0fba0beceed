"""The state machine: Hypothesis draws one step after the other, the stand makes them, rules watch.

Each rule makes one step of its kind; up to three more follow it, drawn by our own weights out of the
same number. That keeps the draws few (Hypothesis takes nearly a millisecond to choose a rule) and the
runs deep.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from .chances import CODES_MAX, LENGTHS, LENGTHS_REAL, Draw, shape_of
from .following import follow
from .moves import step_of
from .stage import Stage
from .stands import Played, Stand
from .steps import Verb

CODE = st.integers(0, CODES_MAX)
"""One number for a rule's own step and all that follow; after 0, the plainest, nothing does."""
FOLLOWING = 3
_ONCE = {Verb.CLEAN_UP, Verb.CRASH_STORE}


class Found(AssertionError):  # noqa: N818 - it is what happened
    """A rule was broken."""

    def __init__(self, played: Played) -> None:
        super().__init__(played.findings[0].rule)
        self.played = played


class Aborted(BaseException):
    """The target can't be run, or we are at fault: Hypothesis must not take it for a failing example."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Watch:
    """Who is told of each run that was played."""

    def __init__(self, hear: Callable[[Played], None]) -> None:
        self.hear = hear


def _can(*verbs: Verb) -> Callable[[Any], bool]:
    return lambda machine: machine.stage is None or any(machine.stage.can(verb) for verb in verbs)


def _has_drafts(machine: Any) -> bool:
    return machine.stage is None or bool(machine.stage.drafts)


class MailboxMachine(RuleBasedStateMachine):
    """Draws steps; `machine_for` says where they are made."""

    stand: ClassVar[Stand]
    watch: ClassVar[Watch]

    def __init__(self) -> None:
        super().__init__()
        self.stage: Stage | None = None
        self._is_over = False

    # -- beginning and end -----------------------------------------------------------------------

    @initialize(code=CODE)
    def begin(self, code: int) -> None:
        """A shape is drawn."""
        lengths = LENGTHS_REAL if self.stand.is_real else LENGTHS
        shape = shape_of(Draw(code), lengths)
        with self._straight_out():
            self.stage = self.stand.begin(shape)

    @contextlib.contextmanager
    def _straight_out(self) -> Iterator[None]:
        """What is raised here ends the campaign."""
        try:
            yield
        except Exception as error:
            self._is_over = True
            raise Aborted(error) from error
        except BaseException:
            self._is_over = True  # an interrupt: there is no run to end
            raise

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
        with self._straight_out():
            played = self.stand.end()
        self.watch.hear(played)
        if played.findings:
            raise Found(played)

    # -- making steps ----------------------------------------------------------------------------

    def hands(self) -> Sequence[Any]:
        """The agents."""
        return self.stage.hands if self.stage is not None else ()

    def _make(self, verb: Verb, code: int) -> None:
        """A step of this kind, then what follows, until a rule has a finding."""
        with self._straight_out():
            self._make_all(verb, code)

    def _make_one_of(self, verbs: Sequence[Verb], code: int) -> None:
        """One of the kinds of step that are rare enough to share a rule."""
        stage = self.stage
        assert stage is not None
        self._make(Draw(code, FOLLOWING + 1).of([verb for verb in verbs if stage.can(verb)]), code)

    def _make_all(self, verb: Verb, code: int) -> None:
        stage = self.stage
        assert stage is not None
        is_again = verb in _ONCE and stage.told and stage.told[-1].step.verb is verb
        step = None if is_again else step_of(verb, stage, Draw(code))
        if step is not None:
            stage.do(step)
        for number in range(1, FOLLOWING + 1 if code else 1):
            step = None if self.stand.findings else follow(stage, Draw(code, number))
            if step is not None:
                stage.do(step)

    @rule(code=CODE)
    @precondition(_can(Verb.ACQUIRE))
    def acquire(self, code: int) -> None:
        """An agent claims a contact."""
        self._make(Verb.ACQUIRE, code)

    @rule(code=CODE)
    @precondition(_can(Verb.ACQUIRE))
    def renew(self, code: int) -> None:
        """An agent renews, under its own token or another."""
        self._make(Verb.RENEW, code)

    @rule(code=CODE)
    @precondition(_can(Verb.ACQUIRE))
    def release(self, code: int) -> None:
        """An agent releases, under its own token or another."""
        self._make(Verb.RELEASE, code)

    @rule(code=CODE)
    @precondition(_can(Verb.SEND))
    def send(self, code: int) -> None:
        """An agent sends a new message."""
        self._make(Verb.SEND, code)

    @rule(code=CODE)
    @precondition(_has_drafts)
    def retry(self, code: int) -> None:
        """An agent, perhaps another, tries a message again."""
        self._make(Verb.RETRY, code)

    @rule(code=CODE)
    @precondition(_has_drafts)
    @precondition(_can(Verb.LOOKUP, Verb.CANCEL))
    def look_up_or_cancel(self, code: int) -> None:
        """An agent looks a key up, or takes its message back."""
        self._make_one_of((Verb.LOOKUP, Verb.CANCEL), code)

    @rule(code=CODE)
    @precondition(_can(Verb.SUPPRESS, Verb.RECEIVE))
    def suppress_or_receive(self, code: int) -> None:
        """An opt-out, a bounce, a late one; a webhook tells of what a contact wrote, or tells it again."""
        self._make_one_of((Verb.SUPPRESS, Verb.RECEIVE), code)

    @rule(code=CODE)
    @precondition(_can(Verb.CLEAR, Verb.OVERRIDE))
    def clear_or_override(self, code: int) -> None:
        """A person takes the contact off the list, or lets a send skip the cooldown; an agent may try."""
        self._make_one_of((Verb.CLEAR, Verb.OVERRIDE), code)

    @rule(code=CODE)
    @precondition(lambda machine: any(hand.open for hand in machine.hands()))
    def resume(self, code: int) -> None:
        """An agent that stands still goes on."""
        self._make(Verb.RESUME, code)

    @rule(code=CODE)
    @precondition(lambda machine: any(hand.is_dead for hand in machine.hands()))
    def restart(self, code: int) -> None:
        """An agent that crashed starts again."""
        self._make(Verb.RESTART, code)

    @rule(code=CODE)
    def time(self, code: int) -> None:
        """Time passes to just before, at or after a moment at which something changes."""
        self._make(Verb.TIME, code)

    @rule(code=CODE)
    def skew_or_crash_store(self, code: int) -> None:
        """An agent's clock is put ahead or back; the store crashes, and everybody in it."""
        self._make_one_of((Verb.SKEW, Verb.CRASH_STORE), code)

    @rule(code=CODE)
    @precondition(_can(Verb.CLEAN_UP, Verb.PHONE))
    def clean_up(self, code: int) -> None:
        """Old rows are removed, or somebody telephones the contact."""
        self._make_one_of((Verb.CLEAN_UP, Verb.CLEAN_UP, Verb.PHONE), code)


def machine_for(stand: Stand, hear: Callable[[Played], None]) -> type[MailboxMachine]:
    """The machine that makes its steps at this stand.

    Args:
        stand: Entered.
        hear: Told of each run.
    """
    return type("MailboxMachine", (MailboxMachine,), {"stand": stand, "watch": Watch(hear)})


__all__ = ["Aborted", "Found", "MailboxMachine", "machine_for"]
