"""What a script moves: the race it is in, its agents and its calls, the same on both engines.

Each engine fills in how: agents are processes of their own, or greenlets in the simulator.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .answers import message_to_json
from .clocks import AgentClock
from .contract import (
    Answer,
    Capability,
    Code,
    Endpoint,
    Lease,
    Mailbox,
    Message,
    MessageKind,
    Refused,
    Settings,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A person, as the scenario knows them.

    Args:
        name: The scenario's own name, unique in a race; all spellings are this one person.
        spellings: Addresses that are this person, at least one.
    """

    name: str
    spellings: tuple[str, ...]

    @property
    def address(self) -> str:
        """The first spelling."""
        return self.spellings[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that has not begun.

    Args:
        actor: Who makes it.
        f: The mailbox method.
        contact: The scenario's name for the person.
        args: Arguments as JSON.
    """

    actor: Actor
    f: str
    contact: str
    args: Mapping[str, Any]

    def start(self) -> Pending:
        """Begin it and return at once."""
        return self.actor.start(self)


class Pending(Protocol):
    """A call under way."""

    def answer(self) -> Answer:
        """Wait for it, bounded by the engine's deadline, and return what the agent saw."""
        ...

    def is_done(self) -> bool:
        """Whether the answer is there."""
        ...


class Stop(Protocol):
    """A pause or a hold that is aimed at a point."""

    def wait(self) -> None:
        """Wait until the agent stands at the point and is stopped.

        Raises:
            NotReached: The call ended, or the deadline passed, without coming by the point.
        """
        ...

    def resume(self) -> None:
        """Let the agent go on."""
        ...


class Engaged(Protocol):
    """An agent that acts by a playbook while the script goes on."""

    def is_done(self) -> bool:
        """Whether its playbook has ended, or the agent died; hears what it has to say meanwhile."""
        ...

    def wait(self) -> None:
        """Wait for its end, bounded by the engine's deadline."""
        ...


class Actor(ABC):
    """An agent as a script moves it: each call waits for its answer; `later` only makes a `Call`."""

    id: str

    @abstractmethod
    def start(self, call: Call) -> Pending:
        """Begin a call."""

    @abstractmethod
    def pause_at(self, point: str) -> Stop:
        """At its next `point`, stop the whole agent (a real SIGSTOP with processes)."""

    @abstractmethod
    def hold_at(self, point: str) -> Stop:
        """At its next `point`, keep the caller there; the agent itself runs on."""

    @abstractmethod
    def kill_at(self, point: str) -> Stop:
        """At its next `point`, crash the agent (a real SIGKILL); `resume` does nothing."""

    @abstractmethod
    def kill(self) -> None:
        """Crash it now; what it had in memory is gone."""

    @abstractmethod
    def restart(self) -> None:
        """Start it again after a crash, as its next incarnation."""

    @abstractmethod
    def lose_next_reply(self) -> None:
        """Its next call is executed, the answer is dropped."""

    @abstractmethod
    def slow_next_reply(self, seconds: float) -> None:
        """Its next call is executed, the answer is held back."""

    @abstractmethod
    def skew(self, offset_s: float) -> float:
        """Put its clock ahead (negative: behind) and return the skew measured in it, in seconds.

        A skew that did not take makes the race unknown. Calling it again steps the clock.
        """

    @property
    def later(self) -> Calls:
        """Calls that are made but not begun."""
        return Calls(self)

    def acquire(self, contact: Contact, spelling: int = 0) -> Answer:
        """Claim the contact under one of its spellings."""
        return self.later.acquire(contact, spelling).start().answer()

    def renew(self, contact: Contact, lease: Lease, spelling: int = 0) -> Answer:
        """Extend a lease."""
        return self.later.renew(contact, lease, spelling).start().answer()

    def release(self, contact: Contact, lease: Lease, spelling: int = 0) -> Answer:
        """Free a lease."""
        return self.later.release(contact, lease, spelling).start().answer()

    def send(self, contact: Contact, message: Message) -> Answer:
        """Send a message, or send it again."""
        return self.later.send(contact, message).start().answer()

    def reply(self, contact: Contact, message: Message, to: str) -> Answer:
        """Send a message as the answer to the message of this id."""
        return self.later.reply(contact, message, to).start().answer()

    def forward(self, contact: Contact, message: Message, what: str) -> Answer:
        """Send a message that passes the message of this id on."""
        return self.later.forward(contact, message, what).start().answer()

    def lookup(self, contact: Contact, message: Message) -> Answer:
        """Ask what became of a message."""
        return self.later.lookup(contact, message).start().answer()

    def suppress(self, contact: Contact, reason: str = "opt-out", spelling: int = 0) -> Answer:
        """Put the contact on the suppression list."""
        return self.later.suppress(contact, reason, spelling).start().answer()

    def unsuppress(self, contact: Contact, person: str, spelling: int = 0) -> Answer:
        """A person takes the contact off the list."""
        return self.later.unsuppress(contact, person, spelling).start().answer()

    def override(self, contact: Contact, person: str, reason: str, spelling: int = 0) -> Answer:
        """A person lets the next send skip the cooldown."""
        return self.later.override(contact, person, reason, spelling).start().answer()


class Calls:
    """Makes an actor's calls without beginning them.

    Args:
        actor: Whose calls.
    """

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def _call(self, f: str, contact: Contact, **args: Any) -> Call:
        return Call(actor=self._actor, f=f, contact=contact.name, args=args)

    def acquire(self, contact: Contact, spelling: int = 0) -> Call:
        """Claim the contact."""
        return self._call("acquire", contact, address=contact.spellings[spelling])

    def renew(self, contact: Contact, lease: Lease, spelling: int = 0) -> Call:
        """Extend a lease."""
        address = contact.spellings[spelling]
        return self._call("renew", contact, address=address, token=lease.token)

    def release(self, contact: Contact, lease: Lease, spelling: int = 0) -> Call:
        """Free a lease."""
        address = contact.spellings[spelling]
        return self._call("release", contact, address=address, token=lease.token)

    def send(self, contact: Contact, message: Message) -> Call:
        """Send a message."""
        return self._call("send", contact, message=message_to_json(message))

    def reply(self, contact: Contact, message: Message, to: str) -> Call:
        """Answer the message of this id (spec: K8)."""
        return self.send(contact, replace(message, endpoint=Endpoint.REPLY, refers_to=to))

    def forward(self, contact: Contact, message: Message, what: str) -> Call:
        """Pass the message of this id on (spec: K8)."""
        return self.send(contact, replace(message, endpoint=Endpoint.FORWARD, refers_to=what))

    def lookup(self, contact: Contact, message: Message) -> Call:
        """Ask what became of a message."""
        return self._call("lookup", contact, key=message.key)

    def suppress(self, contact: Contact, reason: str = "opt-out", spelling: int = 0) -> Call:
        """Put the contact on the list."""
        return self._call("suppress", contact, address=contact.spellings[spelling], reason=reason)

    def unsuppress(self, contact: Contact, person: str, spelling: int = 0) -> Call:
        """Take the contact off the list."""
        return self._call("unsuppress", contact, address=contact.spellings[spelling], person=person)

    def override(self, contact: Contact, person: str, reason: str, spelling: int = 0) -> Call:
        """Let the next send skip the cooldown."""
        address = contact.spellings[spelling]
        return self._call("override", contact, address=address, person=person, reason=reason)


class NotReached(Exception):  # noqa: N818
    """An aimed fault never struck: its window was not entered."""


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
