"""What a simulated day asks of a mailbox, and the compact model that answers a million times.

The model keeps four numbers a contact and says what the reference says: same grants, tokens, ends and
refusals (spec: L3, L4, L6, L7, S3, S5, R2). ``tests/harness/sweep`` holds it against the reference.
"""

from __future__ import annotations

from typing import Protocol

from ..contract import Code
from .lengths import Lengths

Granted = tuple[int, int, int]
"""Token, end of the lease, end of the cooldown for commercial messages or 0; milliseconds of the day."""
Held = tuple[Code, int]
"""Why the contact was refused, and when the lease in the way ends."""


class Door(Protocol):
    """A mailbox seen by the agents of a simulated day; agents and contacts are numbers.

    Times are milliseconds since the begin of the day, by the store's clock (spec: L5).
    """

    def acquire(self, agent: int, contact: int, now_ms: int) -> Granted | Held:
        """Claim a contact (spec: L3)."""
        ...

    def renew(self, agent: int, contact: int, token: int, now_ms: int) -> int | Code:
        """Extend a lease; its new end, or why not (spec: L6)."""
        ...

    def release(self, agent: int, contact: int, token: int, now_ms: int) -> Code | None:
        """Free a lease; why not, or None if it was freed (spec: L7)."""
        ...

    def send(
        self, agent: int, contact: int, token: int, task: int, now_ms: int, *, is_reply: bool
    ) -> tuple[Code | None, int]:
        """Send under a lease; why not and the end of the cooldown, or None and 0 (spec: S)."""
        ...


class _Contact:
    """What the store knows of a contact."""

    __slots__ = ("ends_ms", "is_held", "owner", "sent_ms", "token")

    def __init__(self) -> None:
        self.token = 0
        """Last one issued; it never falls (spec: L4)."""
        self.owner = -1
        self.is_held = False
        """Granted and not released; it may be over all the same."""
        self.ends_ms = 0
        self.sent_ms = -1
        """Last delivery, by whomever, of whatever kind (spec: C2)."""


class Compact:
    """The compact model.

    Args:
        lengths: What it runs under.
    """

    __slots__ = ("_commercial_ms", "_conflicts", "_contacts", "_escalate_after", "_lease_ms",
                 "_transactional_ms")  # fmt: skip

    def __init__(self, lengths: Lengths) -> None:
        self._lease_ms = lengths.lease_ms
        self._commercial_ms = lengths.commercial_ms
        self._transactional_ms = lengths.transactional_ms
        self._escalate_after = lengths.escalate_after
        self._contacts: dict[int, _Contact] = {}
        self._conflicts: dict[tuple[int, int], tuple[int, int]] = {}

    def acquire(self, agent: int, contact: int, now_ms: int) -> Granted | Held:
        """Claim a contact: only where no lease lives (spec: L3)."""
        row = self._contacts.get(contact)
        if row is None:
            row = self._contacts[contact] = _Contact()
        elif row.is_held and row.ends_ms > now_ms:
            return self._refused(agent, contact, row), row.ends_ms
        row.token += 1
        row.owner, row.is_held, row.ends_ms = agent, True, now_ms + self._lease_ms
        self._conflicts.pop((agent, contact), None)
        return row.token, row.ends_ms, self._until_ms(row, self._commercial_ms, now_ms)

    def _refused(self, agent: int, contact: int, row: _Contact) -> Code:
        """The same lease refusing the same agent too often is for a person (spec: R2)."""
        token, count = self._conflicts.get((agent, contact), (0, 0))
        count = count + 1 if token == row.token else 1
        self._conflicts[agent, contact] = row.token, count
        return Code.APPROVAL_REQUIRED if count >= self._escalate_after else Code.CONTACT_OWNED

    def renew(self, agent: int, contact: int, token: int, now_ms: int) -> int | Code:
        """Extend the caller's own live lease from now (spec: L6)."""
        row = self._contacts[contact]
        why = self._why_not(row, agent, token, now_ms)
        if why is not None:
            return why
        row.ends_ms = now_ms + self._lease_ms
        return row.ends_ms

    def release(self, agent: int, contact: int, token: int, now_ms: int) -> Code | None:
        """Free the caller's own live lease (spec: L7)."""
        row = self._contacts[contact]
        why = self._why_not(row, agent, token, now_ms)
        if why is None:
            row.is_held = False
        return why

    def send(
        self,
        agent: int,
        contact: int,
        token: int,
        task: int,  # noqa: ARG002 - a model needs no key: no reply is lost here
        now_ms: int,
        *,
        is_reply: bool,
    ) -> tuple[Code | None, int]:
        """The checks of S3 and S5, strongest first (spec: S7)."""
        row = self._contacts[contact]
        why = self._why_not(row, agent, token, now_ms)
        if why is not None:
            # A foreign token whose lease is over: of both refusals "expired" is the stronger.
            over = row.is_held and row.token == token and row.ends_ms <= now_ms
            return (Code.LEASE_EXPIRED if over else why), 0
        length_ms = self._transactional_ms if is_reply else self._commercial_ms
        until_ms = self._until_ms(row, length_ms, now_ms)
        if until_ms:
            return Code.COOLDOWN_ACTIVE, until_ms
        row.sent_ms = now_ms
        return None, 0

    def _why_not(self, row: _Contact, agent: int, token: int, now_ms: int) -> Code | None:
        """Whether the caller holds the contact, by token, owner and end (spec: S3)."""
        if token < row.token:
            return Code.STALE_FENCING_TOKEN
        if not row.is_held or row.token != token or row.owner != agent:
            return Code.NOT_HOLDER
        return Code.LEASE_EXPIRED if row.ends_ms <= now_ms else None

    def _until_ms(self, row: _Contact, length_ms: int, now_ms: int) -> int:
        """End of the cooldown, or 0 if there is none."""
        if row.sent_ms < 0 or row.sent_ms + length_ms <= now_ms:
            return 0
        return row.sent_ms + length_ms
