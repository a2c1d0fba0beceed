"""The words a fuzzed run is written in: its shape, and one step after the other.

A plan is one line of text that needs no quoting and does not depend on a version of Hypothesis::

    lf1/agents-2,cooldown-300/a.acquire,time.lease-after,b.acquire,a.send/4f1a

A step that can't be made where the run stands is left out, so that any part of a plan is a plan.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from ..contract import Settings, UsageError

VERSION = "lf1"
_CHECK_CHARACTERS = 4


class Verb(StrEnum):
    """What a step does."""

    ACQUIRE = "acquire"
    RENEW = "renew"
    RELEASE = "release"
    SEND = "send"
    RETRY = "retry"
    LOOKUP = "lookup"
    SUPPRESS = "suppress"
    CLEAR = "clear"
    OVERRIDE = "override"
    RECEIVE = "receive"
    CANCEL = "cancel"
    PHONE = "phone"
    RESUME = "resume"
    RESTART = "restart"
    SKEW = "skew"
    TIME = "time"
    CRASH_STORE = "crash-store"
    CLEAN_UP = "clean-up"


CALLS = frozenset(
    {
        Verb.ACQUIRE,
        Verb.RENEW,
        Verb.RELEASE,
        Verb.SEND,
        Verb.RETRY,
        Verb.LOOKUP,
        Verb.SUPPRESS,
        Verb.CLEAR,
        Verb.OVERRIDE,
        Verb.RECEIVE,
        Verb.CANCEL,
        Verb.PHONE,
    }
)
"""Steps that are one call of the mailbox."""
OF_NOBODY = frozenset({Verb.TIME, Verb.CRASH_STORE})
"""Steps no agent makes."""


class Token(StrEnum):
    """Under which fencing token a step is made."""

    OWN = "own"
    """The agent's last one for the contact."""
    FIRST = "first"
    """The first one the agent ever had for it."""
    OTHERS = "others"
    """The last one anybody else had for it: an agent may see one in a refusal or a log."""
    NONE = "none"
    """None at all."""


class Habit(StrEnum):
    """How a message or its key is made."""

    PLAIN = "plain"
    REPLY = "reply"
    """A transactional message, which a policy may let skip the cooldown."""
    ANSWERED = "answered"
    """By the endpoint of replies (spec: K8)."""
    FORWARDED = "forwarded"
    """By the endpoint of forwards."""
    DRIFTED = "drifted"
    """The key in capitals, with a blank behind it (spec: K3)."""
    REWORDED = "reworded"
    """Another text under the same key (spec: K4)."""
    READDRESSED = "readdressed"
    """The same text to another person, under the same key (spec: K4, K9)."""
    REKEYED = "rekeyed"
    """Under the key of the message before it (spec: K4, K9)."""
    NO_KEY = "no-key"
    BAD_KEY = "bad-key"
    NO_ADDRESS = "no-address"
    BAD_SUBJECT = "bad-subject"
    COPIED = "copied"
    """A header copies everybody in (spec: O6)."""
    NO_ONE_CLICK = "no-one-click"
    """An opt-out of its own that does not take one click (spec: C6)."""


class Trouble(StrEnum):
    """What befalls a call."""

    NONE = ""
    LOSE = "lose"
    """It is executed, its reply is lost."""
    PAUSE = "pause"
    """The agent stands still at a point of it, until it is resumed."""
    CRASH = "crash"
    """The agent crashes at a point of it."""
    SILENT = "silent"
    """The receiving side takes the message and says nothing."""
    REFUSE = "refuse"
    """The receiving side refuses it."""


class Moment(StrEnum):
    """A moment time can pass to; each is reached just before, at and just after."""

    LEASE = "lease"
    COOLDOWN = "cooldown"
    WINDOW = "window"
    DEADLINE = "deadline"
    """When a send whose worker is gone is taken for lost."""
    SECOND = "second"
    DAYS = "days"
    """Long enough for old rows to be cleaned up."""


class Side(StrEnum):
    """On which side of a moment."""

    BEFORE = "before"
    AT = "at"
    AFTER = "after"


class Cause(StrEnum):
    """Why a contact goes on the list."""

    OPT_OUT = "opt-out"
    BOUNCE = "bounce"
    COMPLAINT = "complaint"
    LATE = "late"
    """A bounce that happened a while ago and is told only now (spec: C7)."""


class Letter(StrEnum):
    """What a contact wrote (spec: O4)."""

    QUESTION = "question"
    UNSUBSCRIBE = "unsubscribe"
    AGAIN = "again"
    """What was told of before is told again."""


PERSON, AGENT = "person", "agent"
"""Who clears or overrides: a person may, an agent may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a run is made of before its first step.

    Args:
        agents: How many agents.
        contacts: How many contacts.
        replicas: Further processes under the first agent's id; their letters come after the agents'.
        lease_s: Length of a lease.
        cooldown_s: Cooldown after a delivery; 0 for none.
        window_s: How long a key is replayed.
        breaker: Deliveries after which a bounce or complaint may halt sending; 0 for what the
            target's policy says.
    """

    agents: int = 2
    contacts: int = 1
    replicas: int = 0
    lease_s: float = 60.0
    cooldown_s: float = 0.0
    window_s: float = 86_400.0
    breaker: int = 0

    def settings(self) -> Settings:
        """The lengths a target is asked for."""
        return Settings(
            lease_s=self.lease_s,
            cooldown_s=self.cooldown_s,
            key_window_s=self.window_s,
            transport_timeout_s=min(2.0, self.lease_s),
            breaker_minimum=self.breaker or None,
            keep_rows_s=0.0,
        )

    def to_text(self) -> str:
        """Only what differs from the usual."""
        return ",".join(
            f"{_DASHED[each.name]}-{getattr(self, each.name):g}"
            for each in fields(self)
            if getattr(self, each.name) != each.default
        )


_DASHED = {
    "agents": "agents",
    "contacts": "contacts",
    "replicas": "replicas",
    "lease_s": "lease",
    "cooldown_s": "cooldown",
    "window_s": "window",
    "breaker": "breaker",
}
_WHOLE = ("agents", "contacts", "replicas", "breaker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step; which fields count depends on the verb.

    Args:
        verb: What is done.
        agent: Index of the agent.
        contact: Index of the contact.
        spelling: Which spelling of it.
        token: Under which token.
        back: Which message is meant: 0 for the last one, 1 for the one before.
        habit: How the message or its key is made.
        trouble: What befalls the call.
        point: Where, for a pause or a crash.
        option: A cause, a moment with its side, seconds of skew, or who clears.
    """

    verb: Verb
    agent: int = 0
    contact: int = 0
    spelling: int = 0
    token: Token = Token.OWN
    back: int = 0
    habit: Habit = Habit.PLAIN
    trouble: Trouble = Trouble.NONE
    point: str = ""
    option: str = ""

    def to_text(self) -> str:
        """The step as text, such as ``b.send.s1@pause-send.checked``."""
        parts = [] if self.verb in OF_NOBODY else [chr(ord("a") + self.agent)]
        parts.append(self.verb)
        if self.option:
            parts.append(self.option)
        for name, letter in _LETTERS.items():
            value = getattr(self, name)
            if value != _DEFAULTS[name]:
                parts.append(f"{letter}{value}")
        text = ".".join(parts)
        if self.trouble:
            text += f"@{self.trouble}" + (f"-{self.point}" if self.point else "")
        return text

    @classmethod
    def from_text(cls, text: str) -> Step:
        """Read a step.

        Raises:
            UsageError: It is none.
        """
        head, _, trouble = text.partition("@")
        parts = head.split(".")
        try:
            agent = 0
            if parts[0] not in OF_NOBODY:
                agent = _agent(parts.pop(0))
            verb, values = Verb(parts.pop(0)), {}
            for part in parts:
                name, value = _field(part)
                values[name] = value
            kind, _, point = trouble.partition("-")
            values |= {"trouble": Trouble(kind), "point": point}
            return cls(verb=verb, agent=agent, **values)  # type: ignore[arg-type]
        except (ValueError, IndexError, KeyError) as error:
            raise UsageError(f"no step reads {text!r}: {error}") from error


_LETTERS: Mapping[str, str] = {
    "contact": "c",
    "spelling": "s",
    "token": "t",
    "back": "b",
    "habit": "h",
}
_NAMES = {letter: name for name, letter in _LETTERS.items()}
_DEFAULTS = {each.name: each.default for each in fields(Step)}
_FIELD = re.compile(r"([cstbh])([a-z0-9-]+)")
_OPTIONS = re.compile(
    f"({'|'.join((*Cause, *Letter, PERSON, AGENT))}"
    f"|({'|'.join(Moment)})-({'|'.join(Side)})"
    r"|-?\d+s)"
)


def _agent(text: str) -> int:
    if len(text) != 1 or not "a" <= text <= "p":
        raise ValueError(f"{text!r} is no agent: a to p")
    return ord(text) - ord("a")


def _field(part: str) -> tuple[str, object]:
    """Name and value of one part of a step."""
    if _OPTIONS.fullmatch(part):
        return "option", part
    found = _FIELD.fullmatch(part)
    if found is None:
        raise ValueError(f"{part!r} says nothing of a step")
    name, value = _NAMES[found[1]], found[2]
    if name == "token":
        return name, Token(value)
    if name == "habit":
        return name, Habit(value)
    return name, int(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A shape and its steps: all that reproduces a run of the fuzzer."""

    shape: Shape
    steps: tuple[Step, ...]

    def to_text(self) -> str:
        """The plan as one line."""
        steps = ",".join(step.to_text() for step in self.steps)
        body = f"{VERSION}/{self.shape.to_text()}/{steps}"
        return f"{body}/{_check(body)}"

    @classmethod
    def from_text(cls, text: str) -> Plan:
        """Read a plan.

        Raises:
            UsageError: It is cut, of another version, or no plan at all.
        """
        text = text.strip()
        body, _, check = text.rpartition("/")
        parts = body.split("/")
        shown = text if len(text) <= 60 else f"{text[:40]}…{text[-12:]}"
        if parts[0] != VERSION:
            version = text.split("/", maxsplit=1)[0][:12]
            raise UsageError(
                f"plan {shown!r} is of version {version!r}; this leaserace reads {VERSION!r}"
            )
        if len(parts) != 3 or check != _check(body):
            raise UsageError(
                f"plan {shown!r} is cut or changed: its checksum is {check!r}, that of its text "
                f"{_check(body)!r}; copy the whole line"
            )
        steps = tuple(Step.from_text(each) for each in parts[2].split(",") if each)
        return cls(shape=_shape(parts[1]), steps=steps)

    def without(self, places: Iterable[int]) -> Plan:
        """The same less some steps."""
        gone = set(places)
        return replace(
            self, steps=tuple(step for place, step in enumerate(self.steps) if place not in gone)
        )


def _shape(text: str) -> Shape:
    values: dict[str, float] = {}
    names = {short: name for name, short in _DASHED.items()}
    for part in filter(None, text.split(",")):
        short, _, value = part.partition("-")
        if short not in names:
            raise UsageError(f"a plan's shape has no {short!r}; it has {', '.join(names)}")
        try:
            values[names[short]] = float(value)
        except ValueError:
            raise UsageError(f"a plan's shape: {part!r} holds no number") from None
    whole = {name: int(values[name]) for name in _WHOLE if name in values}
    return Shape(**(values | whole))  # type: ignore[arg-type]


def _check(body: str) -> str:
    return hashlib.blake2b(body.encode(), digest_size=8).hexdigest()[:_CHECK_CHARACTERS]
