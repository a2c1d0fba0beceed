"""What a script moves: the race it is in, its agents and its calls, the same on both engines.

Each engine fills in how: agents are processes of their own, or greenlets in the simulator.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping, Sequence, Set
from typing import Any, Protocol

from .actor import Actor, Call, Calls, Contact, Engaged, NotReached, Pending, Stop
from .clocks import AgentClock
from .contract import (
    Answer,
    Capability,
    Code,
    Lease,
    Mailbox,
    Message,
    MessageKind,
    Received,
    Refused,
    Settings,
)


class Seat(Protocol):
    """What a playbook holds: an agent's own side, in its own process."""

    @property
    def id(self) -> str: ...
    @property
    def rng(self) -> random.Random: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def clock(self) -> AgentClock: ...
    @property
    def incarnation(self) -> int:
        """0 at first, one more after each restart."""
        ...

    @property
    def kept(self) -> MutableMapping[str, str]:
        """What the agent has written down; it is there again after a crash and a restart."""
        ...

    def call(self, f: str, contact: str, **args: Any) -> Answer:
        """One recorded call; for `send` pass a `Message` as ``message=``."""
        ...

    def running(self) -> bool:
        """False once the time is up or the run is being ended."""
        ...

    def wait_s(self, seconds: float) -> None:
        """Do nothing for so long, by the engine's time."""
        ...

    def lose_next_reply(self) -> None:
        """Its next call is executed, the answer is dropped."""
        ...

    def mark(self, name: str, **data: Any) -> None:
        """Write a mark of this agent's into the history."""
        ...

    @property
    def one_thread(self) -> bool:
        """Whether calls must come from the thread the playbook runs in, as in the simulator."""
        ...

    def stand_before(self, put: Callable[[Mailbox], Mailbox]) -> None:
        """Put something between this agent and its mailbox, until it starts again."""
        ...


Playbook = Callable[[Seat, Mapping[str, Any]], None]
"""What an agent does on its own; a function of an importable module, given its seat and JSON."""


class Race(ABC):
    """What a scenario's script holds; each engine fills in how.

    Args:
        name: The race's name in the history, such as ``stale_token[send.checked]/2``.
        variant: Which variant runs.
        settings: The lengths in force, after what the target can't change.
        capabilities: What the target can do.
        rng: The run's seeded draws.
    """

    def __init__(
        self,
        *,
        name: str,
        variant: str,
        settings: Settings,
        capabilities: Set[Capability],
        rng: random.Random,
    ) -> None:
        self.name = name
        self.variant = variant
        self.settings = settings
        self.capabilities = capabilities
        self.rng = rng
        self.round = 0
        """Number of this round, from 0."""
        self._made = 0

    @property
    @abstractmethod
    def agents(self) -> Sequence[Actor]:
        """At least two (spec: T3)."""

    @abstractmethod
    def replica(self, actor: Actor) -> Actor:
        """Another process that works under the same agent id, as two replicas of a service do."""

    @abstractmethod
    def mark(self, name: str, *, agent: str = "", **data: Any) -> None:
        """Write a `MarkEvent` into the history, about one agent or the whole race."""

    @abstractmethod
    def together(self, *calls: Call) -> list[Answer]:
        """Begin all calls at one instant (a barrier) and wait for all."""

    @abstractmethod
    def pass_store_time(self, until_ms: int) -> None:
        """Wait until the store's clock has passed `until_ms`; in the simulator time is set."""

    @abstractmethod
    def transport(self, behaviour: str) -> None:
        """Say what the receiving side does from now on.

        Args:
            behaviour: ``accept``, ``silent`` (it takes the message and drops its reply), ``refuse``
                or ``slow``.
        """

    @abstractmethod
    def crash_store(self) -> None:
        """Let the store crash and come back; what it had acknowledged must still be there (spec: L4)."""

    @abstractmethod
    def deliveries(self, contact: Contact) -> int:
        """How many messages to this person arrived so far (waits for what is under way)."""

    @abstractmethod
    def play(
        self, playbook: Playbook, plays: Mapping[str, Mapping[str, Any]], seconds: float
    ) -> None:
        """Let agents act on their own for so long.

        Args:
            playbook: What each does.
            plays: Agent id to the JSON its playbook is given.
            seconds: How long, by the engine's time.
        """

    @abstractmethod
    def engage(
        self, actor: Actor, playbook: Playbook, args: Mapping[str, Any], seconds: float
    ) -> Engaged:
        """Let one agent act on its own while the script goes on; faults may be aimed at it.

        Args:
            actor: Who acts; aim what is to strike it before.
            playbook: What it does.
            args: The JSON its playbook is given.
            seconds: How long at most, by the engine's time.
        """

    def contact(self, *forms: str) -> Contact:
        """A person nobody wrote to yet.

        Args:
            forms: Spellings with ``{user}``, ``{USER}`` or ``{User}`` where a fresh local part goes,
                such as ``"{User}@Example.COM"``; default one plain form.
        """
        self._made += 1
        user = f"r{self.round}c{self._made}.{slug(self.name)}"
        spellings = tuple(
            form.format(user=user, USER=user.upper(), User=user.title())
            for form in forms or ("{user}@example.com",)
        )
        contact = Contact(name=f"contact-{self.round}-{self._made}", spellings=spellings)
        self.mark("contact", contact=contact.name, spellings=list(spellings))
        return contact

    def message(
        self,
        contact: Contact,
        *,
        lease: Lease | None = None,
        spelling: int = 0,
        kind: MessageKind = MessageKind.COMMERCIAL,
    ) -> Message:
        """A new logical send: fresh intent and key; a retry passes the same value again."""
        self._made += 1
        intent = f"{slug(self.name)}.{self.round}.{self._made}"
        return Message(
            to=contact.spellings[spelling],
            subject=f"Follow-up {self.round}.{self._made}",
            body=f"Hello, this is about your request.\n\n[intent:{intent}]\n",
            token=None if lease is None else lease.token,
            key=f"run:{intent}:send",
            intent=intent,
            kind=kind,
        )

    def inbound(self, contact: Contact, body: str, *, spelling: int = 0) -> Received:
        """Something the contact wrote; told again, it is the same value again (spec: O4)."""
        self._made += 1
        return Received(
            event_id=f"<{slug(self.name)}.{self.round}.{self._made}@inbound.example.org>",
            sender=contact.spellings[spelling],
            subject="Re: Follow-up",
            body=body,
        )

    def window(self, name: str) -> None:
        """Say that the situation `name` was entered; without all its windows a race is unknown."""
        self.mark("window", window=name)

    def expect(self, what: str, answer: Answer, *wanted: Code | type) -> bool:
        """Compare an answer with what is expected; a difference is a finding.

        Args:
            what: Whose answer to what, for the report.
            answer: What was seen.
            wanted: Allowed codes or answer types.
        """
        observed = answer.code.value if isinstance(answer, Refused) else type(answer).__name__
        names = [item.value if isinstance(item, Code) else item.__name__ for item in wanted]
        return self._judge(what, " or ".join(names), observed, holds=observed in names)

    def require(self, what: str, *, wanted: object, observed: object) -> bool:
        """A plain fact that must hold; if it does not, that is a finding."""
        return self._judge(what, str(wanted), str(observed), holds=wanted == observed)

    def _judge(self, what: str, wanted: str, observed: str, *, holds: bool) -> bool:
        self.mark("expect", what=what, wanted=wanted, observed=observed, holds=holds)
        return holds


def slug(text: str) -> str:
    """Letters, digits and dashes only: safe in an address, a key and a header."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


__all__ = [
    "Actor",
    "Call",
    "Calls",
    "Contact",
    "Engaged",
    "NotReached",
    "Pending",
    "Playbook",
    "Race",
    "Seat",
    "Stop",
    "slug",
]
