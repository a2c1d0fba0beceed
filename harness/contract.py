"""All a user must know: the mailbox an agent speaks to, its answers, and the target that starts it.

Times called ``*_at_ms`` or ``until_ms`` are whole milliseconds since the Unix epoch **by the store's
clock** (spec: L5); an agent's own clock never appears in an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .codes import MEANINGS, Code, CodeMeaning

if TYPE_CHECKING:
    from .clocks import AgentClock, StoreClock

Json = Any
"""What JSON can carry; a recursive alias would cost more than it tells."""

INTENT_HEADER = "X-Leaserace-Intent"
"""Header in which a message carries its intent id; the sink also finds ``[intent:<id>]`` in a body."""


class Capability(StrEnum):
    """What a target can do; a scenario that needs what is not declared is "not applicable"."""

    LEASE = "lease"
    """`acquire`, `renew` and `release`."""
    FENCING = "fencing"
    """Grants carry a rising token and `send` is judged by it."""
    SEND = "send"
    """`send` hands mail to ``env.smtp`` (or ``env.transport``)."""
    IDEMPOTENCY = "idempotency"
    """`send` honours an idempotency key."""
    LOOKUP = "lookup"
    """`lookup` tells what became of an idempotency key."""
    MESSAGE_ID = "message_id"
    """`Sent.message_id` is the Message-ID header that the receiving side sees."""
    SUPPRESS = "suppress"
    """`suppress` and `unsuppress` keep a shared list."""
    COOLDOWN = "cooldown"
    """A delivery blocks the next one to the same contact for a while."""
    OVERRIDE = "override"
    """`override` lets a person skip a cooldown."""
    ALIASES = "aliases"
    """Domain aliases and Gmail's dots and tags are one contact."""
    AUDIT = "audit"
    """`Target.audit` returns the decisions in commit order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A granted or renewed lease (spec: L2).

    Args:
        key: The recipient key the lease is held under.
        owner: Id of the agent that holds it.
        token: Fencing token, at least 1; rises with every grant of this key.
        acquired_at_ms: When it was granted.
        expires_at_ms: When it ends unless renewed.
        granted_at_ms: The store's now when this answer was made (the grant or the renewal).
        cooldown_until_ms: End of the contact's cooldown, or None.
        contact_load: Messages to this contact on the shared timeline (spec: C5), or None.
    """

    key: str
    owner: str
    token: int
    acquired_at_ms: int
    expires_at_ms: int
    granted_at_ms: int | None = None
    cooldown_until_ms: int | None = None
    contact_load: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The lease was held by the caller and is free now (spec: L7)."""

    key: str
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The message was handed over and taken, now or by the call this one replays (spec: K2).

    Args:
        message_id: The Message-ID header, fixed at authorisation.
        status: HTTP status of the original answer; a replay repeats it.
        replay: True if an earlier call did the work and nothing was sent now.
    """

    message_id: str
    status: int = 201
    replay: bool = False


class SendState(StrEnum):
    """What became of a send (spec: S8)."""

    ABSENT = "absent"
    AUTHORIZED = "authorized"
    DISPATCHING = "dispatching"
    DELIVERED = "delivered"
    UNKNOWN = "unknown"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Answer of a look-up by idempotency key."""

    state: SendState
    message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A change of the suppression list or an override was recorded at this time."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The operation was refused; the fields below `detail` are filled where the code needs them.

    Args:
        code: Why; `Code.meaning` says what to do next.
        detail: One sentence for a person, naming values.
        owner: Who holds the lease (`contact_owned`, `stale_fencing_token`).
        expires_at_ms: When that lease ends.
        until_ms: End of the cooldown (`cooldown_active`).
        token: The stored fencing token.
        message_id: The Message-ID that may exist (`send_status_unknown`).
        retry_after_s: Seconds to wait (`store_busy`).
        reasons: Every refusal that held, strongest first (spec: S7).
        faults: Stable codes of what a pre-send lint found (`invalid_message`; spec: O6).
    """

    code: Code
    detail: str = ""
    owner: str | None = None
    expires_at_ms: int | None = None
    until_ms: int | None = None
    token: int | None = None
    message_id: str | None = None
    retry_after_s: float | None = None
    reasons: tuple[Code, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoReply:
    """The caller never learned the outcome: a lost reply, a timeout or an exception."""

    why: str


Answer = Lease | Released | Sent | Found | Noted | Refused | NoReply
"""What a scenario sees of a call; a mailbox itself never returns `NoReply`, it raises."""


class MessageKind(StrEnum):
    """What a message is, for the rules that treat kinds differently (spec: C2, C6)."""

    COMMERCIAL = "commercial"
    TRANSACTIONAL = "transactional"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One logical send; a retry passes the same value again.

    Args:
        to: Recipient, as the agent spells it.
        subject: Subject line.
        body: Plain text.
        token: Fencing token of the lease it is sent under, or None where there are no leases.
        key: Idempotency key, or None.
        intent: Id of the logical send; the sink counts by it. It also stands in the body.
        kind: Commercial or transactional.
        headers: Further headers.
    """

    to: str
    subject: str
    body: str
    token: int | None = None
    key: str | None = None
    intent: str = ""
    kind: MessageKind = MessageKind.COMMERCIAL
    headers: Mapping[str, str] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Lengths a scenario asks for, so that one layer can't hide another.

    Args:
        lease_s: Length of a lease.
        cooldown_s: Cooldown after a delivery; 0 for none.
        key_window_s: How long a completed idempotency key is replayed.
        transport_timeout_s: How long a hand-over may take before the outcome is unknown.
        store_deadline_s: How long a store's lock is waited for before `store_busy`.
        breaker_minimum: Deliveries after which one bounce or complaint may halt all sending (spec: O5);
            0 for no breaker, None for what the target's policy says.
    """

    lease_s: float = 60.0
    cooldown_s: float = 0.0
    key_window_s: float = 86_400.0
    transport_timeout_s: float = 2.0
    store_deadline_s: float = 0.25
    breaker_minimum: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message at the moment of its hand-over to a transport."""

    sender: str
    recipient: str
    message_id: str
    intent: str
    data: bytes


class NoAnswer(Exception):  # noqa: N818 - it is what happened, not a mistake
    """The transport did not say whether it took the message (spec: S8)."""


class Rejected(Exception):  # noqa: N818
    """The transport refused the message for certain; nothing was taken."""


class Transport(Protocol):
    """The door mail leaves by."""

    def hand_over(self, outgoing: Outgoing) -> None:
        """Hand one message over.

        Raises:
            NoAnswer: The outcome is unknown.
            Rejected: It was not taken.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a target is given to start in.

    Args:
        workdir: A folder of its own, removed or kept with the run.
        smtp: Host and port where mail must go.
        settings: Lengths to use; what can't be set is declared in `Target.fixed`.
        policy_file: A policy file of the user's, or None.
        clock: The store's clock in the simulator; None with real processes (use the store's own).
        transport: The door mail must leave by in the simulator; None means `smtp`.
        facts: What `Target.start` returned, for `Target.connect` in the agents' processes.
    """

    workdir: Path
    smtp: tuple[str, int]
    settings: Settings
    policy_file: Path | None = None
    clock: StoreClock | None = None
    transport: Transport | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """Who connects: given to `Target.connect` in the agent's own process.

    Args:
        id: Agent id, such as `sales-01`.
        incarnation: 0 at first, one more after each restart.
        env: The environment, with the facts `start` returned.
        clock: The agent's own clock, possibly skewed: a hint for when to renew, nothing more.
    """

    id: str
    incarnation: int
    env: Environment
    clock: AgentClock


class Target:
    """The system under test. Subclass it, name an instance or the class as ``--target MODULE:ATTR``.

    `start`, `stop`, `audit` and `now_ms` run in one process; `connect` runs in each agent's.
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
    "Code",
    "CodeMeaning",
    "Environment",
    "Found",
    "Json",
    "Lease",
    "Mailbox",
    "Message",
    "MessageKind",
    "NoAnswer",
    "NoReply",
    "Noted",
    "Outgoing",
    "Refused",
    "Rejected",
    "Released",
    "SendState",
    "Sent",
    "Settings",
    "Target",
    "Transport",
    "UsageError",
]
