"""What reached people and should not have: who sent it, under what, and which layer let it pass.

A duplicate is one intent delivered more than once; a double contact is two agents writing to one
person where a rule forbids it; a forbidden message is one that a rule says should not have left at
all. All three are read from the receiving mailbox, never from what the target claims.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from leaserace.harness.history import AuditEvent, Operation
from leaserace.harness.outcome import RunOutcome
from leaserace.harness.verdict import Finding, RaceResult, runs_still_needed, wilson_interval

from .frames import TEXT, WHOLE, typed_frame
from .picture import Arrival, Picture, intent_of, message_of, token_of
from .text import count, percent, rate_sentence

if TYPE_CHECKING:
    import pandas as pd

DUPLICATE, DOUBLE_CONTACT, FORBIDDEN = "duplicate", "double contact", "forbidden"

LAYERS: Mapping[str, str] = {
    "tokens": "the fencing check inside the send's transaction (S3, S6)",
    "leases": "the lease check at dispatch (S3)",
    "suppression": "the suppression list, looked at when the message is dispatched (S4)",
    "cooldown": "the cooldown shared by all agents, reserved at authorisation (S5, S9)",
    "contacts": "one key for every spelling of a person (I1)",
    "clock": "the store's clock as the only judge of an expiry (L5)",
}
"""Family of a rule to the layer that would have stopped what it found."""
SAME_KEY = "the idempotency key at the API, claimed before the hand-over (K2)"
OTHER_KEY = "one key for all tries of a logical send (K1), or the table of what was sent (O1)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """One thing that should not have arrived.

    Args:
        kind: `DUPLICATE`, `DOUBLE_CONTACT` or `FORBIDDEN`.
        race: Where.
        contact: The person.
        intent: The logical send; of a double contact, the later one.
        copies: Messages that arrived: of the intent, or of the contact for a double contact.
        agents: Who sent, in order.
        tokens: Fencing tokens they sent under, in order.
        keys: Idempotency keys, in order.
        message_ids: Message-IDs that arrived, in order.
        rules: Rules that found it; none means no rule was broken.
        layer: The layer that would have stopped it.
        state: Policy state of the decision that let it through, as JSON, "" if not recorded.
    """

    kind: str
    race: str
    contact: str
    intent: str
    copies: int
    agents: tuple[str, ...]
    tokens: tuple[int, ...]
    keys: tuple[str, ...]
    message_ids: tuple[str, ...]
    rules: tuple[str, ...]
    layer: str
    state: str


def wrongs(races: Iterable[RaceResult], pictures: Mapping[str, Picture]) -> list[Wrong]:
    """All that should not have arrived, race by race.

    Args:
        races: The results, for their findings.
        pictures: Race name to its picture.
    """
    made: list[Wrong] = []
    for race in races:
        picture = pictures.get(race.race)
        if picture is not None:
            made.extend(_of_race(race, picture))
    return made


def _of_race(race: RaceResult, picture: Picture) -> Iterator[Wrong]:
    book = _Book(race, picture)
    told: set[str] = set()
    for intent, arrivals in book.by_intent.items():
        if intent and len(arrivals) > 1:
            told.add(intent)
            yield book.wrong(DUPLICATE, arrivals, book.sends[intent])
    for finding in race.findings:
        for op in finding.ops:
            intent = book.intents.get(op, "")
            arrivals = book.by_intent.get(intent, [])
            if intent and intent not in told and arrivals:
                told.add(intent)
                yield book.forbidden(finding, arrivals)


class _Book:
    """One race's sends and arrivals by intent, and what rules said of them."""

    def __init__(self, race: RaceResult, picture: Picture) -> None:
        self.race = race
        self.sends: dict[str, list[Operation]] = defaultdict(list)
        self.intents: dict[str, str] = {}
        self.by_intent: dict[str, list[Arrival]] = defaultdict(list)
        self.by_contact: dict[str, list[Arrival]] = defaultdict(list)
        for op in picture.operations:
            intent = intent_of(op)
            if intent:
                self.sends[intent].append(op)
                self.intents[op.op] = intent
        for arrival in picture.arrivals:
            self.by_intent[arrival.intent].append(arrival)
            self.by_contact[arrival.contact].append(arrival)
        self._decisions = _decisions(picture.decisions)

    def forbidden(self, finding: Finding, arrivals: Sequence[Arrival]) -> Wrong:
        """A single delivery that a rule objects to; with another agent's, a double contact."""
        both = self.by_contact[arrivals[0].contact]
        others = {arrival.agent for arrival in both} - {""}
        double = finding.rule.startswith("cooldown.") and len(others) > 1
        sends = self.sends[arrivals[0].intent]
        if double:
            sends = [op for arrival in both for op in self.sends.get(arrival.intent, ())]
        return self.wrong(
            DOUBLE_CONTACT if double else FORBIDDEN, both if double else arrivals, sends
        )

    def wrong(self, kind: str, arrivals: Sequence[Arrival], sends: Sequence[Operation]) -> Wrong:
        """The row of these arrivals and the sends that asked for them."""
        rules = self._rules(arrivals, sends)
        keys = tuple(_unique(message_of(op).get("key") for op in sends))
        return Wrong(
            kind=kind,
            race=self.race.race,
            contact=arrivals[0].contact,
            intent=arrivals[-1].intent,
            copies=len(arrivals),
            agents=tuple(_unique(op.agent for op in sends)),
            tokens=tuple(_unique(token_of(op) for op in sends)),
            keys=keys,
            message_ids=tuple(arrival.message_id for arrival in arrivals),
            rules=rules,
            layer=_layer(kind, rules, keys),
            state=self._state(arrivals[-1], keys),
        )

    def _rules(self, arrivals: Sequence[Arrival], sends: Sequence[Operation]) -> tuple[str, ...]:
        ops = {op.op for op in sends}
        contact = arrivals[0].contact
        return tuple(
            _unique(
                finding.rule
                for finding in self.race.findings
                if ops & set(finding.ops) or (not finding.ops and finding.contact in {"", contact})
            )
        )

    def _state(self, arrival: Arrival, keys: Sequence[str]) -> str:
        """The state the last decision was made on that let the message through."""
        for name in (arrival.message_id, *reversed(keys)):
            state = self._decisions.get(name)
            if state:
                return msgspec.json.encode(state, order="sorted").decode()
        return ""


def _decisions(events: Iterable[AuditEvent]) -> dict[str, Mapping[str, Any]]:
    """Message-ID and key to the state of the decision that authorised it."""
    found: dict[str, Mapping[str, Any]] = {}
    for event in events:
        value = event.value
        if value.get("decision") in {"authorized", "dispatching", "delivered"}:
            for name in ("message_id", "idempotency_key"):
                if value.get(name) and value.get("state"):
                    found[str(value[name])] = value["state"]
    return found


def _layer(kind: str, rules: Sequence[str], keys: Sequence[str]) -> str:
    if kind == DUPLICATE:
        return SAME_KEY if len(keys) == 1 else OTHER_KEY
    for rule in rules:
        layer = LAYERS.get(rule.partition(".")[0])
        if layer:
            return layer
    return ""


def _unique(values: Iterable[Any]) -> Iterator[Any]:
    return iter(dict.fromkeys(value for value in values if value is not None and value != ""))


def wrongs_frame(rows: Sequence[Wrong]) -> pd.DataFrame:
    """The table as a frame; several values in a cell are separated by blanks."""
    names = Wrong.__dataclass_fields__
    cells = {
        name: [
            " ".join(map(str, value)) if isinstance(value := getattr(row, name), tuple) else value
            for row in rows
        ]
        for name in names
    }
    kinds = {name: WHOLE if name == "copies" else TEXT for name in names}
    return typed_frame(kinds, cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often a race showed a finding.

    Args:
        race: Which.
        rounds: Rounds that entered the window.
        hits: Rounds with a finding (contacts of its findings, at most the rounds).
        low: Lower end of the 95 % interval of the rate, as a share of 1.
        high: Upper end.
        green_runs_needed: Rounds without a finding before a mend may be believed at 99 %.
    """

    race: str
    rounds: int
    hits: int
    low: float
    high: float
    green_runs_needed: int

    @property
    def sentence(self) -> str:
        """The rate in words."""
        return (
            f"{self.race}: a finding in {self.hits:,} of {count(self.rounds, 'round')} "
            f"({percent(self.low)} to {percent(self.high)} at 95 %); "
            f"{count(self.green_runs_needed, 'round')} without one before a mend may be "
            "believed at 99 %"
        )


def rates(races: Iterable[RaceResult]) -> list[Rate]:
    """The rates of races with findings."""
    made = []
    for race in races:
        if race.findings:
            contacts = {finding.contact for finding in race.findings}
            rounds = max(race.rounds, 1)
            hits = min(len(contacts), rounds)
            low, high = wilson_interval(hits, rounds)
            made.append(
                Rate(
                    race=race.race,
                    rounds=rounds,
                    hits=hits,
                    low=low,
                    high=high,
                    green_runs_needed=runs_still_needed(min(max(low, 1e-9), 1 - 1e-9)),
                )
            )
    return made


def rate_sentences(outcome: RunOutcome) -> list[str]:
    """What the run says of rates: the bound where nothing was seen, else each race's interval."""
    seen = rates(outcome.races)
    if seen:
        return [rate.sentence for rate in seen]
    if outcome.duplicates or not outcome.rounds:
        return []
    return [rate_sentence("duplicates", outcome.rounds)]
