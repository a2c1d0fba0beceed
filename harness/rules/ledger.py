"""What the history has told so far of each contact, intent and key; all rules read it.

An operation is *settled* when it has ended and every operation on its contact that overlapped it has
ended too: from then on all that could explain its answer is known. An operation of a crashed agent
keeps nobody waiting: its outcome stays unknown for ever.

What can't matter to later judgements is forgotten, so that memory stays flat and the simulator can
tell when two runs stand at the same place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..contract import Code, Settings
from ..history import DeliveryEvent, FaultEvent, Operation, OpType
from .claims import FOREVER, Claim, latest_ns
from .people import Intent, Person, View, happened_ms

SENDS_KEPT = 4
"""So few sends of a contact cost less to keep than to look through."""

LEFT_OPEN = frozenset({Code.SEND_IN_PROGRESS, Code.STORE_BUSY})
"""Refusals of a send that may have been let through and was stopped before the hand-over (S8)."""


class Ledger:
    """All that is known so far, kept by the judge, read by the rules.

    Args:
        settings: Lengths in force.
        virtual: True if the history's clock is the store's own.

    Attributes:
        people: Contact to what is known of it.
        intents: Intent to its tries and deliveries.
        keys: Normalised idempotency key to its sends, in the order of their invokes.
        cancels: The same for cancellations.
        recent: The last operations that ended.
        ended: How many operations ended.
        unnamed: True once a message without an intent was sent: such messages are not counted.
        jumped: True once a fault moved the store's clock: from then on lengths bound nothing.
    """

    def __init__(self, settings: Settings, *, virtual: bool) -> None:
        self.length_ms = settings.lease_s * 1000
        self.cooldown_ns = int(settings.cooldown_s * 1e9)
        self.window_ns = int(settings.key_window_s * 1e9)
        self._virtual = virtual
        self.people: dict[str, Person] = {}
        self.intents: dict[str, Intent] = {}
        self.keys: dict[str, list[View]] = {}
        self.cancels: dict[str, list[View]] = {}
        self.recent: deque[Operation] = deque(maxlen=8)
        self.ended = 0
        self._lost: dict[str, View] = {}
        self.jumped = self.unnamed = False
        self._now_ns = 0
        self.lease_slack_ns = self.slack_ns(self.length_ms * 1e6)
        self.cooldown_slack_ns = self.slack_ns(self.cooldown_ns)
        self.window_slack_ns = self.slack_ns(self.window_ns)

    def slack_ns(self, length_ns: float) -> int:
        """How much a length by the store's clock may differ by the history's clock.

        Virtual time counts its events within a millisecond; real clocks are slewed and rounded.
        """
        return 500_000 if self._virtual else 5_000_000 + int(length_ns * 0.002)

    def person(self, name: str) -> Person:
        """What is known of a contact."""
        person = self.people.get(name)
        if person is None:
            person = self.people[name] = Person(name)
        return person

    def begin(self, op: Operation) -> View:
        """An operation was invoked: from now on it may have taken effect."""
        self._now_ns = op.invoked_ns
        person = self.person(op.contact)
        view = person.open[op.op] = View(op, person)
        begin = _BEGIN.get(op.f)
        if begin is not None:
            begin(self, view)
        person.drawn = None
        return view

    def complete(self, op: Operation) -> View:
        """An operation ended; one that was given up teaches something and is judged no more."""
        self.ended += 1
        self.recent.append(op)
        person = self.people[op.contact]
        view = person.open.pop(op.op, None)
        lost = view is None
        if view is None:  # its agent was taken for dead
            view = self._lost.pop(op.op)
        view.drawn = None
        end = _END.get(op.f)
        if end is not None:
            end(self, view)
        if not lost:
            person.waiting.append(view)
        person.drawn = None
        return view

    def settled(self, person: Person) -> Sequence[View]:
        """Take out operations about which nothing new can be learnt, in the order of their ends."""
        waiting = person.waiting
        if not person.open:
            found = list(waiting)
            waiting.clear()
            return found
        found = []
        horizon = next(iter(person.open.values())).op.begin
        while waiting and (waiting[0].op.end or 0) < horizon:
            found.append(waiting.popleft())
        return found

    def struck(self, event: FaultEvent) -> list[Person]:
        """A fault: a crash ends the wait for that process's operations, on the contacts returned.

        Where two processes share an agent id, the event's detail names the one as ``seat``.
        """
        if event.fault == "store_clock":
            self.jumped = True
        if event.fault != "crash" or event.phase != "begin":
            return []
        freed = []
        seat = event.detail.get("seat", event.agent)
        for person in self.people.values():
            lost = [
                name
                for name, view in person.open.items()
                if view.op.process.partition("#")[0] == seat
            ]
            for name in lost:
                self._lost[name] = person.open.pop(name)
            if lost:
                person.drawn = None
                freed.append(person)
        return freed

    def delivered(self, event: DeliveryEvent) -> Intent | None:
        """A message arrived; returns its intent if an agent sent one of that id."""
        intent = self.intents.get(event.intent)
        if intent is not None and intent.namesakes:
            intent = intent.to_address(event.recipient)
        if intent is not None:
            intent.deliveries += 1
            intent.delivered_ns = intent.delivered_ns or event.t
            intent.person.drawn = None
        return intent

    def state(self) -> Hashable:
        """What further judgements depend on."""
        cancels = [
            (key, view.op.type, view.op.answer.get("state"))
            for key, views in self.cancels.items()
            for view in views
        ]
        people = tuple(self.people[name].picture() for name in sorted(self.people))
        return (self.jumped, people, tuple(cancels))

    # -- forgetting ----------------------------------------------------------------------------

    def forget(self, person: Person) -> None:
        """Drop what no operation that is still to be judged, and no later one, can refer to."""
        claims = person.claims
        has_old = len(claims) > 1 or (claims and claims[0].renewals)
        if not (has_old or len(person.sends) > SENDS_KEPT or len(person.bans) > 1):
            return
        views = [*person.open.values(), *person.waiting]
        place = min((view.op.begin for view in views), default=FOREVER)
        now_ns = min((view.op.invoked_ns for view in views), default=self._now_ns)
        self._forget_claims(person, place)
        if len(person.sends) > SENDS_KEPT:
            self._forget_sends(person, place, now_ns)
        if len(person.bans) > 1:
            self._forget_bans(person, place)

    def _forget_claims(self, person: Person, place: int) -> None:
        over = [claim for claim in person.claims if (claim.op.end or 0) < place]
        if not over:
            return
        newest = max(over, key=lambda claim: (claim.token, claim.op.begin))
        for claim in over:
            if claim is not newest:
                person.claims.remove(claim)
                person.forgotten = max(person.forgotten, claim.token)
            elif claim.renewals:
                claim.fold(place, self.length_ms)

    def _forget_sends(self, person: Person, place: int, now_ns: int) -> None:
        """A send that failed, or whose cooldown is certainly over, blocks nobody any more."""
        reach_ns = self.cooldown_ns + self.cooldown_slack_ns
        person.sends = [
            view
            for view in person.sends
            if not _blocks_nobody(view.op, place) and not latest_ns(view.op) + reach_ns < now_ns
        ]

    def _forget_bans(self, person: Person, place: int) -> None:
        """Only the last of the suppressions that are over counts, and no lift that came before it."""
        last = person.banned
        if last is None or (last.end or FOREVER) > place:
            return
        person.bans = [op for op in person.bans if op is last or not _is_over(op, last)]
        person.lifts = [op for op in person.lifts if not _is_over(op, last)]


def _blocks_nobody(op: Operation, place: int) -> bool:
    """A refused send reserves nothing, unless it may have been let through."""
    refused = op.type is OpType.FAIL and op.code not in LEFT_OPEN
    return refused and (op.end or FOREVER) < place


def _is_late(view: View) -> bool:
    """Whether it tells of an event older than what a person did since: it undoes nothing (spec: C7)."""
    op = view.op
    at_ms = happened_ms(op)
    if at_ms is None and op.answer.get("first", True):
        return False
    if at_ms is None:  # an event that was taken then is told again
        at_ms = op.answer["at_ms"] - 1
    return any(lift.answer.get("at_ms", 0) > at_ms for lift in view.person.lifts)


def _is_over(op: Operation, last: Operation) -> bool:
    return op.type is OpType.OK and (op.end or FOREVER) < last.begin


def _drop(ops: list[Any], op: Operation) -> None:
    if op in ops:
        ops.remove(op)


# -- what each kind of operation leaves behind ------------------------------------------------


def _begin_send(ledger: Ledger, view: View) -> None:
    if ledger.cooldown_ns:
        view.person.sends.append(view)
    if view.key:
        ledger.keys.setdefault(view.key, []).append(view)
    if view.intent:
        intent = ledger.intents.get(view.intent)
        if intent is None:
            intent = ledger.intents[view.intent] = Intent(view.intent, view.person)
            view.person.intents[view.intent] = intent
        elif intent.person is not view.person:
            intent = intent.to(view.person)
            view.intent = intent.name
            ledger.intents[intent.name] = view.person.intents[intent.name] = intent
        intent.tries.append(view)
    else:
        ledger.unnamed = True


def _end_acquire(ledger: Ledger, view: View) -> None:
    person, op = view.person, view.op
    if op.type is not OpType.INFO:
        _drop(person.asked, op)
    if op.type is OpType.OK:
        claim = Claim(op, ledger.length_ms)
        person.claims.append(claim)
        person.keys.add(op.answer.get("key", ""))
        if person.top is None or claim.token >= person.top.token:
            person.top = claim


def _begin_under_lease(_: Ledger, view: View) -> None:
    claim = view.person.claim_of(view)
    if claim is not None:
        (claim.renewals if view.op.f == "renew" else claim.releases).append(view.op)


def _end_under_lease(_: Ledger, view: View) -> None:
    if view.op.type is OpType.FAIL:
        for claim in view.person.claims:
            _drop(claim.renewals if view.op.f == "renew" else claim.releases, view.op)


def _end_suppress(_: Ledger, view: View) -> None:
    if view.op.type is OpType.FAIL:
        _drop(view.person.bans, view.op)
    elif view.op.type is OpType.OK and not _is_late(view):
        view.person.banned = view.op


def _end_receive(_: Ledger, view: View) -> None:
    """An opt-out in what a contact wrote is a suppression (spec: O4, C3).

    Told of again it is no new one: what a person has cleared since then stays cleared.
    """
    op, person = view.op, view.person
    if op.type is OpType.FAIL or (op.type is OpType.OK and not op.answer.get("opted_out")):
        _drop(person.bans, op)
    elif (
        op.type is OpType.OK and not _is_late(view) and (op.answer.get("first") or not person.lifts)
    ):
        person.banned = op


def _end_unsuppress(_: Ledger, view: View) -> None:
    if view.op.type is OpType.FAIL:
        _drop(view.person.lifts, view.op)


def _end_override(_: Ledger, view: View) -> None:
    if view.op.type is OpType.FAIL:
        _drop(view.person.overrides, view.op)


def _begin_cancel(ledger: Ledger, view: View) -> None:
    ledger.cancels.setdefault(view.key, []).append(view)


_BEGIN: Mapping[str, Callable[[Ledger, View], None]] = {
    "acquire": lambda _, view: view.person.asked.append(view.op),
    "renew": _begin_under_lease,
    "release": _begin_under_lease,
    "send": _begin_send,
    "suppress": lambda _, view: view.person.bans.append(view.op),
    "receive": lambda _, view: view.person.bans.append(view.op),
    "cancel": _begin_cancel,
    "note_contact": lambda _, view: view.person.notes.append(view.op),
    "unsuppress": lambda _, view: view.person.lifts.append(view.op),
    "override": lambda _, view: view.person.overrides.append(view.op),
}
_END: Mapping[str, Callable[[Ledger, View], None]] = {
    "acquire": _end_acquire,
    "renew": _end_under_lease,
    "release": _end_under_lease,
    "suppress": _end_suppress,
    "receive": _end_receive,
    "unsuppress": _end_unsuppress,
    "override": _end_override,
}

__all__ = ["Intent", "Ledger", "Person", "View"]
