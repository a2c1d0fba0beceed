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
from enum import IntEnum

from .answers import outcome
from .mapping import Action, Mapping, Phase
from .records import Record

MARGIN_NS = 2_000_000_000
"""A lease or cooldown that ends so close to what follows goes to the rules."""


class Step(IntEnum):
    """What one line does to a contact; `RULES` is what only the rules can judge."""

    RULES = 0
    NOTHING = 1
    ACQUIRE = 2
    RENEW = 3
    RELEASE = 4
    SEND = 5
    BEGIN_SEND = 6
    END_SEND = 7
    DELIVERY = 8
    DISPATCH = 9
    BY_CODE = 10


_OK = {"acquire": Step.ACQUIRE, "renew": Step.RENEW, "release": Step.RELEASE, "send": Step.SEND}


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
        if action.phase is Phase.OK and action.f in self._begun:
            return Step.END_SEND if action.f == "send" else Step.RULES
        if action.phase is Phase.OK:
            return _OK[action.f]
        if action.phase is Phase.BEGIN:
            return Step.BEGIN_SEND if action.f == "send" else Step.RULES
        if action.phase is Phase.WHOLE:
            return Step.BY_CODE
        fine = action.phase is Phase.FAIL and action.f == "acquire" and not self._refusals_matter
        return Step.NOTHING if fine else Step.RULES

    def is_plain(self, records: Iterable[Record]) -> bool:
        """Whether no rule can find anything in one contact's records.

        Args:
            records: In order.
        """
        if not self._may:
            return False
        seen, takes, last_ns = _Contact(self), self._takes, 0
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

        def by_code(seen: _Contact, record: Record) -> bool:
            return _TAKE[self._by_code(record, action)](seen, record)

        return by_code, True

    def _by_code(self, record: Record, action: Action) -> Step:
        result = outcome(record, action)
        if result == "ok":
            return Step.RULES if action.f in self._begun else _OK[action.f]
        fine = action.f == "acquire" and result == "contact_owned" and not self._refusals_matter
        return Step.NOTHING if fine else Step.RULES

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


class _Contact:
    """One contact, as its plain records leave it; each method is False where the rules must look."""

    __slots__ = (
        "arrived",
        "by_id",
        "dispatched",
        "ends_ms",
        "ends_ns",
        "grants",
        "holder",
        "keys",
        "leased",
        "open",
        "releases",
        "renewals",
        "sent",
        "sent_ns",
        "token",
        "triage",
    )

    def __init__(self, triage: Triage) -> None:
        self.triage = triage
        self.holder = ""
        self.token = -1
        self.ends_ms = self.ends_ns = 0
        self.open = self.dispatched = ""
        self.sent_ns = -(1 << 62)
        self.sent: dict[str, int | None] = {}
        self.by_id: dict[str, str] = {}
        self.keys: set[str] = set()
        self.arrived: set[str] = set()
        self.grants = self.releases = self.renewals = self.leased = 0

    def acquire(self, record: Record) -> bool:
        """A lease is granted: nobody holds one, and its token is a higher one."""
        triage, token = self.triage, record.token
        if self.open or not record.agent or record.owner not in {None, "", record.agent}:
            return False
        if triage.needs_token:
            if token is None or token <= self.token:
                return False
            self.token = token
        at_ms = _at_ms(record)
        if self.holder and not (record.t > self.ends_ns and at_ms >= self.ends_ms):
            return False
        if triage.one_key and record.lease_key not in {None, "", record.contact}:
            return False
        self.holder = record.agent
        self.grants += 1
        return self._lasts(record, at_ms)

    def _lasts(self, record: Record, at_ms: int) -> bool:
        """Note how long the lease lives."""
        lease_ms = self.triage.lease_ms
        if lease_ms is None:
            return False
        ends_ms = record.expires_ms if record.expires_ms is not None else at_ms + lease_ms
        acquired_ms = record.acquired_ms
        if ends_ms <= at_ms or (acquired_ms is not None and acquired_ms != at_ms):
            return False
        self.ends_ms = ends_ms
        longest_ms = max(lease_ms, ends_ms - at_ms)
        self.ends_ns = record.t + int(longest_ms * 1_010_000) + MARGIN_NS
        return True

    def _holds(self, record: Record) -> bool:
        return self.holder == record.agent and (
            not self.triage.needs_token or record.token == self.token
        )

    def renew(self, record: Record) -> bool:
        """Its live holder extends the lease by its length."""
        at_ms, lease_ms = _at_ms(record), self.triage.lease_ms
        if self.open or not self.holder or not self._holds(record) or at_ms >= self.ends_ms:
            return False
        if record.owner not in {None, "", record.agent} or record.acquired_ms is not None:
            return False
        if self.triage.same_length and record.expires_ms not in {None, at_ms + (lease_ms or 0)}:
            return False
        self.renewals += 1
        return self._lasts(record, at_ms)

    def release(self, record: Record) -> bool:
        """Its holder frees the lease."""
        if self.open or not self.holder or not self._holds(record):
            return False
        self.holder = ""
        self.releases += 1
        return True

    def send(self, record: Record) -> bool:
        """A new message, under the caller's live lease or under none, outside every cooldown."""
        triage, token = self.triage, record.token
        name = record.intent or record.key or record.message_id
        if self.open or not name or name in self.sent or record.replay or record.code == "replay":
            return False
        if token is not None:
            if self.holder != record.agent or token != self.token:
                return False
            if _at_ms(record) >= self.ends_ms:
                return False
            self.leased += 1
        if triage.own_intents and record.key:
            if record.key in self.keys:
                return False
            self.keys.add(record.key)
        if record.message_id in self.by_id or not self._named(record.message_id or "", name):
            return False
        self.sent[name] = token
        return self._apart(record.t)

    def _named(self, message_id: str, name: str) -> bool:
        """Note which send a message id is of; False if it came before under another name."""
        if not message_id or message_id == name:
            return True
        return message_id not in self.arrived and self.by_id.setdefault(message_id, name) == name

    def _apart(self, t: int) -> bool:
        """Whether the message before it is too long ago for any cooldown."""
        before_ns, self.sent_ns = self.sent_ns, t
        return t - before_ns > self.triage.apart_ns

    def begin_send(self, record: Record) -> bool:
        """The same, and its end comes with a later line."""
        if not self.send(record):
            return False
        self.open = record.intent or record.key or record.message_id or ""
        return True

    def end_send(self, record: Record) -> bool:
        """The end of the send that is under way."""
        name = record.intent or record.key or record.message_id
        if not self.open or self.open != name:
            return False
        if self.triage.steps and self.dispatched != name:
            return False
        self.open = ""
        return not (record.replay or record.code == "replay")

    def delivery(self, record: Record) -> bool:
        """A message that was sent arrives for the first time, before any newer grant."""
        name = record.intent or record.key
        if not name:
            message_id = record.message_id or ""
            name = self.by_id.get(message_id, message_id)
        elif not self._named(record.message_id or "", name):
            return False
        if not name or name in self.arrived:
            return False
        self.arrived.add(name)
        if not self.triage.tells_sends:
            self.sent[name] = None
            return self._apart(record.t)
        if name not in self.sent:
            return False
        token = self.sent[name]
        return token is None or token == self.token

    def dispatch(self, record: Record) -> bool:
        """The hand-over of the send that is under way begins, before any newer grant."""
        name = record.intent or record.key or record.message_id
        if not self.open or self.open != name or self.dispatched == name:
            return False
        self.dispatched = name
        return record.token in {None, self.token}

    def nothing(self, record: Record) -> bool:  # noqa: ARG002 - a step like the others
        """A line that no rule in question asks about."""
        return not self.open

    def rules(self, record: Record) -> bool:  # noqa: ARG002 - a step like the others
        """A line that only the rules can judge."""
        return False


def _at_ms(record: Record) -> int:
    return record.t // 1_000_000 if record.store_ms is None else record.store_ms


Take = Callable[[_Contact, Record], bool]
_TAKE: dict[Step, Take] = {
    Step.RULES: _Contact.rules,
    Step.NOTHING: _Contact.nothing,
    Step.ACQUIRE: _Contact.acquire,
    Step.RENEW: _Contact.renew,
    Step.RELEASE: _Contact.release,
    Step.SEND: _Contact.send,
    Step.BEGIN_SEND: _Contact.begin_send,
    Step.END_SEND: _Contact.end_send,
    Step.DELIVERY: _Contact.delivery,
    Step.DISPATCH: _Contact.dispatch,
}

__all__ = ["Triage"]
