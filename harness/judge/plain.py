"""One contact whose records are plainly in order so far: lease, sends and deliveries, nothing else.

It follows only what any system of leases would do at rest: tokens rise, a lease is over before the next,
each send is its live holder's and new, no call overlaps another. What it can't follow, the rules judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .records import Record

if TYPE_CHECKING:
    from .triage import Triage

MARGIN_NS = 2_000_000_000
"""A lease or cooldown that ends so close to what follows goes to the rules."""


class PlainContact:
    """One contact; each method is False where the rules must look."""

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
        "operation",
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
        self.open: str | tuple[str, str, str | None] = ""
        self.dispatched: str | None = ""
        self.operation: str | None = None
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
        before_ms = self.ends_ms
        # One that ends the lease earlier is for the rules: they hold on to the later end.
        return self._lasts(record, at_ms) and self.ends_ms >= before_ms

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

    def begin_acquire(self, record: Record) -> bool:
        """Somebody asks for a lease, which may be granted at any moment from here on."""
        if self.holder and record.t <= self.ends_ns:
            return False
        return self._begin("acquire", record)

    def begin_renew(self, record: Record) -> bool:
        """The holder asks to extend the lease."""
        return bool(self.holder) and self._holds(record) and self._begin("renew", record)

    def begin_release(self, record: Record) -> bool:
        """The holder is about to free the lease."""
        return bool(self.holder) and self._holds(record) and self._begin("release", record)

    def _begin(self, f: str, record: Record) -> bool:
        """Note the call under way; False if other fields than these could join its end to it."""
        if self.open or not record.agent or record.key or record.message_id:
            return False
        self.open = (f, record.agent, record.operation)
        return True

    def _end(self, f: str, record: Record) -> bool:
        """Whether this is the end of the call under way."""
        if self.open != (f, record.agent, record.operation) or record.key or record.message_id:
            return False
        self.open = ""
        return True

    def end_acquire(self, record: Record) -> bool:
        """The lease that was asked for is granted."""
        return self._end("acquire", record) and self.acquire(record)

    def end_refused(self, record: Record) -> bool:
        """It is not, and no rule in question asks why."""
        return self._end("acquire", record)

    def end_renew(self, record: Record) -> bool:
        """The lease is extended."""
        return self._end("renew", record) and self.renew(record)

    def end_release(self, record: Record) -> bool:
        """The lease is free."""
        return self._end("release", record) and self.release(record)

    def begin_send(self, record: Record) -> bool:
        """A send as above begins, and its end comes with a later line."""
        if not self.send(record):
            return False
        self.open = record.intent or record.key or record.message_id or ""
        self.operation = record.operation
        return True

    def end_send(self, record: Record) -> bool:
        """The end of the send that is under way."""
        name = record.intent or record.key or record.message_id
        if not self.open or self.open != name or record.operation != self.operation:
            return False
        if self.triage.steps and self.dispatched != name:
            return False
        self.open = ""
        replayed = record.replay or record.code == "replay"
        return not replayed and self._named(record.message_id or "", name)

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


__all__ = ["MARGIN_NS", "PlainContact"]
