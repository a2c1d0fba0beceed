"""Contacts that are plainly in order, told at a glance, so that the rules look only at the others.

Most contacts of a log are simple: one call after the other, each send under its caller's live lease and
its own key, delivered once. For these no rule can find anything, and to build a history for each would
cost ten times as much as reading it. `Triage.is_plain` says so only where it is certain: tokens rise,
a lease is over before the next, nothing is refused, unknown, repeated or suppressed, no call overlaps
another. Everything else goes to the rules. A test feeds it random logs: what it calls plain, no rule
finds fault with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum, auto

from .answers import outcome
from .mapping import Action, Mapping, Phase
from .plain import MARGIN_NS, PlainContact
from .records import Record


class Step(Enum):
    """What one line does to a contact; `RULES` is what only the rules can judge."""

    RULES = auto()
    NOTHING = auto()
    ACQUIRE = auto()
    RENEW = auto()
    RELEASE = auto()
    SEND = auto()
    BEGIN_ACQUIRE = auto()
    BEGIN_RENEW = auto()
    BEGIN_RELEASE = auto()
    BEGIN_SEND = auto()
    END_ACQUIRE = auto()
    END_REFUSED = auto()
    END_RENEW = auto()
    END_RELEASE = auto()
    END_SEND = auto()
    DELIVERY = auto()
    DISPATCH = auto()
    BY_CODE = auto()


_BEGIN = {
    "acquire": Step.BEGIN_ACQUIRE,
    "renew": Step.BEGIN_RENEW,
    "release": Step.BEGIN_RELEASE,
    "send": Step.BEGIN_SEND,
}
_END = {
    "acquire": Step.END_ACQUIRE,
    "renew": Step.END_RENEW,
    "release": Step.END_RELEASE,
    "send": Step.END_SEND,
}
_OK = {
    "acquire": Step.ACQUIRE,
    "renew": Step.RENEW,
    "release": Step.RELEASE,
    "send": Step.SEND,
}


class Triage:
    """Tells contacts that are plainly in order.

    Args:
        mapping: What the log's fields are.
        actions: What each entry of its events means.
        rules: Names of the rules to be judged.
        lease_ms: The longest lease, or None if it is not known.
        varies: Whether leases are of several lengths.

    Attributes:
        counts: What plain contacts held: grants, sends, …
    """

    def __init__(
        self,
        *,
        mapping: Mapping,
        actions: Sequence[tuple[Action, ...]],
        rules: Collection[str],
        lease_ms: int | None,
        varies: bool,
    ) -> None:
        self._begun = {each.f for told in actions for each in told if each.phase is Phase.BEGIN}
        self._refusals_matter = bool({"refusals.explained", "audit.refusal_has_state"} & set(rules))
        self._takes = [tuple(map(self._take, told)) for told in actions]
        self.lease_ms = lease_ms
        self.same_length = not varies
        self.one_key = "contacts.one_key" in rules
        self.needs_token = mapping.has("token")
        self.own_intents = bool(mapping.intent.fields)
        self.tells_sends = mapping.does("send")
        self.must_arrive = "sends.arrived" in rules
        self.steps = "sends.steps_in_order" in rules
        time, cooldown_s = mapping.time, mapping.settings.cooldown_s or 0.0
        doubt_s = time.settle_s + time.call_s + 2 * time.uncertainty_s
        self.apart_ns = int((cooldown_s * 1.01 + doubt_s) * 1e9) + MARGIN_NS if cooldown_s else 0
        self._may = time.clock == "store" and not time.uncertainty_s and time.says == "decided"
        self.counts: Counter[str] = Counter()

    def _step(self, action: Action) -> Step:
        if action.f in {"delivery", "dispatch"}:
            return Step[action.f.upper()]
        if action.f not in _OK:
            return Step.RULES
        begun = action.f in self._begun
        if action.phase is Phase.BEGIN:
            return _BEGIN[action.f]
        if action.phase is Phase.OK:
            return (_END if begun else _OK)[action.f]
        if action.phase is Phase.WHOLE or (action.phase is Phase.END and begun):
            return Step.BY_CODE
        return self._refused(action) if action.phase is Phase.FAIL else Step.RULES

    def _refused(self, action: Action) -> Step:
        """A refusal; that of a lease is plain where no rule asks why."""
        if action.f != "acquire" or self._refusals_matter:
            return Step.RULES
        return Step.END_REFUSED if action.f in self._begun else Step.NOTHING

    def is_plain(self, records: Iterable[Record]) -> bool:
        """Whether no rule can find anything in one contact's records.

        Args:
            records: In order.
        """
        if not self._may:
            return False
        seen, takes, last_ns = PlainContact(self), self._takes, 0
        for record in records:
            t = record.t
            if t < last_ns:
                return False
            for take, may_repeat in takes[record.event]:
                if (may_repeat and t == last_ns) or not take(seen, record):
                    return False
            last_ns = t
        if seen.open or (self.must_arrive and len(seen.arrived) < len(seen.sent)):
            return False
        counts = self.counts
        counts["regrants"] += max(0, seen.grants - 1)
        counts["renewals"] += seen.renewals
        counts["releases"] += seen.releases
        counts["leased sends"] += seen.leased
        counts["deliveries"] += len(seen.arrived)
        counts["sends"] += len(seen.sent)
        return True

    def _take(self, action: Action) -> tuple[Take, bool]:
        """What judges a line of this meaning, and whether its repetition would go unnoticed."""
        step = self._step(action)
        if step is not Step.BY_CODE:
            return _TAKE[step], step in _MAY_REPEAT

        def by_code(seen: PlainContact, record: Record) -> bool:
            return _TAKE[self._by_code(record, action)](seen, record)

        return by_code, True

    def _by_code(self, record: Record, action: Action) -> Step:
        result = outcome(record, action)
        if result not in {"ok", "contact_owned"}:
            return Step.RULES
        begun = action.f in self._begun
        if begun and action.phase is Phase.WHOLE:
            return Step.RULES
        if result == "ok":
            return (_END if begun else _OK)[action.f]
        return self._refused(action)

    def exercised(self, rules: Collection[str]) -> Counter[str]:
        """Rule to how often a plain contact gave it something to judge."""
        return Counter({rule: self.counts[_GIVES[rule]] for rule in rules if rule in _GIVES})


_MAY_REPEAT = frozenset({Step.NOTHING, Step.RENEW, Step.DISPATCH})
"""Lines whose repetition changes nothing here, so that it would not be noticed."""
_GIVES = {
    "leases.one_live": "regrants",
    "tokens.rise": "regrants",
    "leases.renewal_holds": "renewals",
    "leases.release_by_holder": "releases",
    "leases.live_at_send": "leased sends",
    "tokens.commit_order": "leased sends",
    "sends.once": "deliveries",
    "sends.arrived": "sends",
    "sends.steps_in_order": "sends",
}


Take = Callable[[PlainContact, Record], bool]
_TAKE: dict[Step, Take] = {
    Step.RULES: PlainContact.rules,
    Step.NOTHING: PlainContact.nothing,
    Step.ACQUIRE: PlainContact.acquire,
    Step.RENEW: PlainContact.renew,
    Step.RELEASE: PlainContact.release,
    Step.SEND: PlainContact.send,
    Step.BEGIN_ACQUIRE: PlainContact.begin_acquire,
    Step.BEGIN_RENEW: PlainContact.begin_renew,
    Step.BEGIN_RELEASE: PlainContact.begin_release,
    Step.BEGIN_SEND: PlainContact.begin_send,
    Step.END_ACQUIRE: PlainContact.end_acquire,
    Step.END_REFUSED: PlainContact.end_refused,
    Step.END_RENEW: PlainContact.end_renew,
    Step.END_RELEASE: PlainContact.end_release,
    Step.END_SEND: PlainContact.end_send,
    Step.DELIVERY: PlainContact.delivery,
    Step.DISPATCH: PlainContact.dispatch,
}

__all__ = ["Triage"]
