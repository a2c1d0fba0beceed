"""The state machine: Hypothesis draws one step after the other, the stand makes them, rules watch.

Each rule makes one step of its kind; up to two more follow it, drawn by our own weights out of the
same draw. That keeps the draws few (Hypothesis takes nearly a millisecond to choose a rule) and the
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

from ..contract import Capability
from .moves import CODES_MAX, LENGTHS, LENGTHS_REAL, Draw, follow, shape_of, step_of
from .stage import Stage
from .stands import Played, Stand
from .steps import Verb

CODE = st.integers(0, CODES_MAX)
CODES = st.tuples(CODE, CODE, CODE)
"""One number for a rule's own step and one for each that follows."""
_ONCE = {Verb.CLEAN_UP, Verb.CRASH_STORE}
Codes = tuple[int, int, int]


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


def _can(*wanted: Capability) -> Callable[[Any], bool]:
    return lambda machine: machine.stage is None or machine.stage.capabilities >= set(wanted)


def _has_drafts(machine: Any) -> bool:
    return machine.stage is None or bool(machine.stage.drafts)


def _can_clean_up(machine: Any) -> bool:
    if machine.stage is not None and Capability.CLEAN_UP in machine.stage.capabilities:
        return True
    errands = machine.stage and machine.stage.errands
    return errands is not None and errands.can_clean_up


def _can_receive_or_cancel(machine: Any) -> bool:
    wanted = {Capability.INBOUND, Capability.CANCEL}
    return machine.stage is None or bool(wanted & set(machine.stage.capabilities))


def _one_of(verbs: Sequence[Verb], codes: Codes) -> Verb:
    """Kinds of step that are rare enough to share a rule; the numbers of what follows decide."""
    verb: Verb = Draw(codes[1] ^ codes[2]).of(verbs)
    return verb


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

    def _make(self, verb: Verb, codes: Codes) -> None:
        """A step of this kind, then what follows, until a rule has a finding."""
        with self._straight_out():
            self._make_all(verb, codes)

    def _make_all(self, verb: Verb, codes: Codes) -> None:
        stage = self.stage
        assert stage is not None
        is_again = verb in _ONCE and stage.told and stage.told[-1].step.verb is verb
        step = None if is_again else step_of(verb, stage, Draw(codes[0]))
        if step is not None:
            stage.do(step)
        for code in codes[1:]:
            step = None if self.stand.findings else follow(stage, Draw(code))
            if step is not None:
                stage.do(step)

    @rule(codes=CODES)
    @precondition(_can(Capability.LEASE))
    def acquire(self, codes: Codes) -> None:
        """An agent claims a contact."""
        self._make(Verb.ACQUIRE, codes)

    @rule(codes=CODES)
    @precondition(_can(Capability.LEASE))
    def renew(self, codes: Codes) -> None:
        """An agent renews, under its own token or another."""
        self._make(Verb.RENEW, codes)

    @rule(codes=CODES)
    @precondition(_can(Capability.LEASE))
    def release(self, codes: Codes) -> None:
        """An agent releases, under its own token or another."""
        self._make(Verb.RELEASE, codes)

    @rule(codes=CODES)
    @precondition(_can(Capability.SEND))
    def send(self, codes: Codes) -> None:
        """An agent sends a new message."""
        self._make(Verb.SEND, codes)

    @rule(codes=CODES)
    @precondition(_has_drafts)
    def retry(self, codes: Codes) -> None:
        """An agent, perhaps another, tries a message again."""
        self._make(Verb.RETRY, codes)

    @rule(codes=CODES)
    @precondition(_has_drafts)
    @precondition(_can(Capability.LOOKUP))
    def lookup(self, codes: Codes) -> None:
        """An agent looks a key up."""
        self._make(Verb.LOOKUP, codes)

    @rule(codes=CODES)
    @precondition(_can(Capability.SUPPRESS))
    def suppress(self, codes: Codes) -> None:
        """An opt-out by reply, a bounce, or a late one."""
        self._make(Verb.SUPPRESS, codes)

    @rule(codes=CODES)
    @precondition(_can(Capability.SUPPRESS))
    def clear(self, codes: Codes) -> None:
        """A person takes the contact off the list; an agent may try."""
        self._make(Verb.CLEAR, codes)

    @rule(codes=CODES)
    @precondition(_can(Capability.OVERRIDE))
    def override(self, codes: Codes) -> None:
        """A person lets the next send skip the cooldown; an agent may try."""
        self._make(Verb.OVERRIDE, codes)

    @rule(codes=CODES)
    @precondition(_can_receive_or_cancel)
    def receive_or_cancel(self, codes: Codes) -> None:
        """A webhook tells of what a contact wrote, or tells it again; a message is taken back."""
        self._make(_one_of((Verb.RECEIVE, Verb.CANCEL), codes), codes)

    @rule(codes=CODES)
    @precondition(lambda machine: any(hand.open for hand in machine.hands()))
    def resume(self, codes: Codes) -> None:
        """An agent that stands still goes on."""
        self._make(Verb.RESUME, codes)

    @rule(codes=CODES)
    @precondition(lambda machine: any(hand.is_dead for hand in machine.hands()))
    def restart(self, codes: Codes) -> None:
        """An agent that crashed starts again."""
        self._make(Verb.RESTART, codes)

    @rule(codes=CODES)
    def skew(self, codes: Codes) -> None:
        """An agent's clock is put ahead or back."""
        self._make(Verb.SKEW, codes)

    @rule(codes=CODES)
    def time(self, codes: Codes) -> None:
        """Time passes to just before, at or after a moment at which something changes."""
        self._make(Verb.TIME, codes)

    @rule(codes=CODES)
    def crash_store(self, codes: Codes) -> None:
        """The store crashes, and everybody in it."""
        self._make(Verb.CRASH_STORE, codes)

    @rule(codes=CODES)
    @precondition(_can_clean_up)
    def clean_up(self, codes: Codes) -> None:
        """Old rows are removed, or somebody telephones the contact."""
        self._make(_one_of((Verb.CLEAN_UP, Verb.CLEAN_UP, Verb.PHONE), codes), codes)


def machine_for(stand: Stand, hear: Callable[[Played], None]) -> type[MailboxMachine]:
    """The machine that makes its steps at this stand.

    Args:
        stand: Entered.
        hear: Told of each run.
    """
    return type("MailboxMachine", (MailboxMachine,), {"stand": stand, "watch": Watch(hear)})


__all__ = ["Aborted", "Found", "MailboxMachine", "machine_for"]
