"""All a user must know: the mailbox an agent speaks to, its answers, and the target that starts it.

Everything is imported from here; capabilities, codes, answers, messages and doors stand in modules of
their own. Times called ``*_at_ms`` or ``until_ms`` are whole milliseconds since the Unix epoch **by
the store's clock** (spec: L5); an agent's own clock never appears in an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Protocol

from .capability import Capability
from .codes import MEANINGS, Code, CodeMeaning
from .doors import (
    AgentContext,
    Environment,
    Json,
    NoAnswer,
    Outgoing,
    Rejected,
    Settings,
    Transport,
)
from .messages import INTENT_HEADER, Endpoint, Message, MessageKind, Received
from .results import (
    Answer,
    Cleaned,
    Found,
    Lease,
    NoReply,
    Noted,
    Refused,
    Released,
    SendState,
    Sent,
    Taken,
)


class Mailbox(Protocol):
    """What one agent speaks to. Only the methods of declared capabilities are called.

    A method returns its answer or a `Refused`. Whatever it raises means "the outcome is unknown".
    """

    def acquire(self, address: str) -> Lease | Refused:
        """Claim the contact (spec: L3)."""
        ...

    def renew(self, address: str, token: int) -> Lease | Refused:
        """Extend the caller's own live lease from the store's now (spec: L6)."""
        ...

    def release(self, address: str, token: int) -> Released | Refused:
        """Free the caller's own lease (spec: L7)."""
        ...

    def send(self, message: Message) -> Sent | Refused:
        """Run the six steps of the send path (spec: S)."""
        ...

    def lookup(self, key: str) -> Found | Refused:
        """Tell what became of the send under this key."""
        ...

    def suppress(self, address: str, reason: str) -> Noted | Refused:
        """Put the contact on the shared list (spec: C1)."""
        ...

    def unsuppress(self, address: str, person: str) -> Noted | Refused:
        """A person takes the contact off the list."""
        ...

    def override(self, address: str, person: str, reason: str) -> Noted | Refused:
        """A person lets the next send skip the cooldown (spec: C4)."""
        ...

    def close(self) -> None:
        """Give back the connection; called once, at the agent's orderly end."""
        ...


class FullMailbox(Mailbox, Protocol):
    """What a mailbox has beside that where its target declares a further capability; all optional."""

    def reply(self, message: Message) -> Sent | Refused:
        """Answer the message `Message.refers_to`; a send in all else, its key too (spec: K8)."""
        ...

    def forward(self, message: Message) -> Sent | Refused:
        """Pass the message `Message.refers_to` on; a send in all else, its key too (spec: K8)."""
        ...

    def cancel(self, key: str) -> Found | Refused:
        """Take the send under this key back, also before it comes; the answer is true (spec: X17)."""
        ...

    def note_contact(self, address: str, channel: str) -> Noted | Refused:
        """Count a contact that was made by another channel or team (spec: C5)."""
        ...

    def clean_up(self) -> Cleaned | Refused:
        """Remove old rows; it never removes what somebody claims at the same time (spec: K5, L4)."""
        ...

    def receive(self, event: Received) -> Taken | Refused:
        """Take what a contact wrote, once; an opt-out in it is on the list first (spec: O4, C3)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One decision, in commit order (spec: R3).

    Args:
        seq: Position in the commit order; strictly rising.
        at_ms: The store's now at the decision.
        actor: Agent or person that asked.
        event: The operation: `acquire`, `send`, `suppress`, `dispatch`, `deliver`, …
        key: Recipient key.
        decision: `granted`, `renewed`, `released`, `authorized`, `dispatching`, `delivered`,
            `replayed`, `unknown`, `withdrawn`, `noted`, or a refusal `Code`.
        token: Fencing token the decision was about.
        owner: Lease owner in the state used.
        reasons: Every refusal that held, strongest first.
        state: The policy state the decision was made on. What rules read of it: ``fence`` (last token
            issued), ``lease`` (``owner``, ``token``, ``expires_at_ms``, or null), ``suppression`` (the
            reasons that hold), ``cooldown`` (``until_ms``); anything else is for people.
        message_id: Resulting Message-ID.
        idempotency_key: Key of the send.
    """

    seq: int
    at_ms: int
    actor: str
    event: str
    key: str
    decision: str
    token: int | None = None
    owner: str | None = None
    reasons: tuple[str, ...] = ()
    state: Mapping[str, Json] = field(default_factory=dict)
    message_id: str | None = None
    idempotency_key: str | None = None


class Target:
    """The system under test. Subclass it, name an instance or the class as ``--target MODULE:ATTR``.

    `start`, `stop`, `audit`, `crash_store` and `now_ms` run in one process; `connect` runs in each agent's.
    """

    capabilities: Set[Capability] = frozenset()
    """What it can do; anything missing makes a scenario "not applicable", never passed."""
    points: Set[str] = frozenset()
    """Names it passes to `point()`; a fault aimed at another is "not applicable"."""
    fixed: Mapping[str, float] = {}
    """Fields of `Settings` it can't change, with their values in seconds."""

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{type(self).__module__}:{type(self).__qualname__}"

    def start(self, env: Environment) -> Mapping[str, Json] | None:
        """Make it ready before any agent connects; return facts `connect` needs, or None.

        Raises:
            UsageError: The policy file or the surroundings are at fault.
        """
        raise NotImplementedError

    def connect(self, agent: AgentContext) -> Mailbox:
        """Return the mailbox this agent speaks to."""
        raise NotImplementedError

    def stop(self) -> None:
        """Give everything back; called once, also after a failed run."""

    def audit(self) -> Iterable[AuditRecord]:
        """All decisions in commit order; called after the agents have ended."""
        return ()

    def crash_store(self) -> None:
        """Let the store's server side crash and come back, whatever is under way in it (spec: L4).

        Only called where `Capability.CRASH_STORE` is declared; agents are not told.
        """
        raise NotImplementedError

    def now_ms(self) -> int | None:
        """The store's clock, or None if it can't be read from outside."""
        return None


class UsageError(Exception):
    """The user's mistake: one line that names the value and the remedy; exit status 2."""


__all__ = [
    "INTENT_HEADER",
    "MEANINGS",
    "AgentContext",
    "Answer",
    "AuditRecord",
    "Capability",
    "Cleaned",
    "Code",
    "CodeMeaning",
    "Endpoint",
    "Environment",
    "Found",
    "FullMailbox",
    "Json",
    "Lease",
    "Mailbox",
    "Message",
    "MessageKind",
    "NoAnswer",
    "NoReply",
    "Noted",
    "Outgoing",
    "Received",
    "Refused",
    "Rejected",
    "Released",
    "SendState",
    "Sent",
    "Settings",
    "Taken",
    "Target",
    "Transport",
    "UsageError",
]
