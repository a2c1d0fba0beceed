"""The contact's timeline: cooldown, contact load and a person's override (spec: S5, S9, C2, C4, C5)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from leaserace.harness.contract import MessageKind

from .policy import Policy, ms
from .records import Contacted, OverrideRow, SendRow, TimelineRow
from .stores.protocol import Transaction


class Cooldown:
    """Reads and writes the one timeline all agents share.

    Args:
        agent: Who asks.
        policy: Lengths by kind of message.
    """

    __slots__ = ("_agent", "_policy")

    def __init__(self, agent: str, policy: Policy) -> None:
        self._agent = agent
        self._policy = policy

    def entries(self, timeline: TimelineRow | None) -> Iterable[Contacted]:
        """The messages that count: those of every agent (spec: C2)."""
        return timeline.entries if timeline else ()

    def until_ms(self, timeline: TimelineRow | None, kind: MessageKind, now_ms: int) -> int | None:
        """When a message of `kind` may be written, or None for now (spec: S5).

        Reserved messages count as well as delivered ones (spec: S9).
        """
        written_at_ms = [entry.at_ms for entry in self.entries(timeline)]
        if not written_at_ms:
            return None
        until_ms = max(written_at_ms) + self._policy.cooldown_ms(kind)
        return until_ms if until_ms > now_ms else None

    def load(self, timeline: TimelineRow | None, now_ms: int) -> int:
        """Messages to the contact inside the policy's window, by whomever (spec: C5)."""
        if timeline is None or not timeline.entries:
            return 0
        since_ms = now_ms - ms(self._policy.load_window_s)
        return sum(entry.at_ms > since_ms for entry in timeline.entries)

    def reserve(self, tx: Transaction, row: SendRow, kind: MessageKind) -> None:
        """Count a message from its authorisation on (spec: S9)."""
        entry = Contacted(
            message_id=row.message_id, send=row.key, agent=row.agent, kind=kind, at_ms=tx.now_ms
        )
        self._replace(tx, row.contact, row.message_id, entry)

    def confirm(self, tx: Transaction, row: SendRow) -> None:
        """The message was delivered: the cooldown runs from now (spec: S9)."""
        timeline = tx.get(TimelineRow, row.contact)
        for entry in timeline.entries if timeline else ():
            if entry.message_id == row.message_id:
                delivered = msgspec.structs.replace(entry, at_ms=tx.now_ms, confirmed=True)
                self._replace(tx, row.contact, row.message_id, delivered)

    def free(self, tx: Transaction, row: SendRow) -> None:
        """It is certain that no message exists: nothing is reserved any more (spec: S9)."""
        self._replace(tx, row.contact, row.message_id, None)

    def note(self, tx: Transaction, contact: str, channel: str) -> None:
        """Count a contact made elsewhere: by telephone, by another team's system (spec: C5)."""
        timeline = tx.get(TimelineRow, contact)
        number = len(timeline.entries) if timeline else 0
        entry = Contacted(
            message_id=f"{channel} {self._agent} {tx.now_ms} {number}",
            send="",
            agent=self._agent,
            kind=MessageKind.COMMERCIAL,
            at_ms=tx.now_ms,
            confirmed=True,
        )
        self._replace(tx, contact, entry.message_id, entry)

    def _replace(
        self, tx: Transaction, contact: str, message_id: str, entry: Contacted | None
    ) -> None:
        """Put `entry`, or nothing, in the place of what this message had on the timeline."""
        timeline = tx.get(TimelineRow, contact)
        entries = [
            other
            for other in (timeline.entries if timeline else ())
            if other.message_id != message_id and self.matters(other, tx.now_ms)
        ]
        if entry is not None:
            entries.append(entry)
        tx.put(TimelineRow(key=contact, entries=tuple(entries)))

    def matters(self, entry: Contacted, now_ms: int) -> bool:
        """Whether cooldown or load can still depend on it; a timeline does not grow for ever."""
        policy = self._policy
        horizon_ms = ms(
            max(policy.load_window_s, policy.commercial_cooldown_s, policy.transactional_cooldown_s)
        )
        return not entry.confirmed or entry.at_ms + horizon_ms > now_ms

    def override(self, tx: Transaction, contact: str, person: str, reason: str) -> None:
        """A person lets the next send skip the cooldown, which stays as it is (spec: C4)."""
        until_ms = tx.now_ms + ms(self._policy.override_s)
        tx.put(
            OverrideRow(
                key=contact, person=person, reason=reason, at_ms=tx.now_ms, until_ms=until_ms
            )
        )

    def overridden(self, override: OverrideRow | None, now_ms: int) -> bool:
        """Whether a person's leave holds (spec: C4)."""
        return override is not None and now_ms < override.until_ms

    def use_override(self, tx: Transaction, contact: str) -> None:
        """It was for one send."""
        tx.delete(OverrideRow, contact)
