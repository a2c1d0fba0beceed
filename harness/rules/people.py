"""What is known of one contact, of one logical send, and of an operation at its beginning."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping
from typing import Any

from ..contract import MessageKind
from ..history import Operation, OpType
from .claims import MS, Claim, may_precede


def normal_key(key: str | None) -> str:
    """An idempotency key as it is compared: case folded, white space stripped (spec: K3)."""
    return "".join(key.split()).casefold() if key else ""


def happened_ms(op: Operation) -> int | None:
    """When what it tells of happened, where it says so (spec: C7)."""
    args = op.args
    at_ms: int | None = (
        args["event"].get("received_at_ms") if op.f == "receive" else args.get("event_at_ms")
    )
    return at_ms


def undoes(lift: Operation, ban: Operation) -> bool:
    """Whether a clearing can take a suppression away: told late, it takes only what is older (C7)."""
    told_ms = lift.args.get("event_at_ms")
    banned_ms = happened_ms(ban) or ban.answer.get("at_ms", 0)
    return told_ms is None or told_ms >= banned_ms


_BY_KEY = frozenset({"lookup", "cancel"})


class View:
    """An operation together with what was certain when it was invoked.

    Attributes:
        op: The operation.
        person: The contact it is about.
        top: The newest lease whose grant had been answered by then, or None.
        banned: The last suppression that had been answered by then, or None.
        token: The fencing token it was made with, or None.
        drawn: The picture, or None where something was learnt since it was drawn.
        intent, key, kind, payload: Of a send; the key is normalised, the payload is a fingerprint.
    """

    # fmt: off
    __slots__ = (
        "banned", "drawn", "intent", "key", "kind", "op", "payload", "person", "token", "top",
    )
    # fmt: on

    def __init__(self, op: Operation, person: Person) -> None:
        self.op = op
        self.person = person
        self.drawn: Hashable = None
        self.top = person.top
        self.banned = person.banned
        args = op.args
        self.token: int | None = args.get("token")
        self.key = self.intent = ""
        self.kind: str = MessageKind.COMMERCIAL
        self.payload = 0
        if op.f == "send":
            self._read(op.contact, args["message"])
        elif op.f in _BY_KEY:
            self.key = normal_key(args.get("key"))

    def _read(self, contact: str, message: Mapping[str, Any]) -> None:
        get = message.get
        self.token = get("token")
        self.key = normal_key(get("key"))
        self.intent = get("intent") or ""
        self.kind = get("kind") or MessageKind.COMMERCIAL
        about = (get("subject"), get("body"), get("endpoint"), get("refers_to"))
        self.payload = hash((contact, *about))

    @property
    def is_executed(self) -> bool:
        """Whether the target says that this very call sent the message."""
        return self.op.type is OpType.OK and not self.op.answer.get("replay", False)

    def picture(self) -> Hashable:
        """What later judgements depend on, times and places aside."""
        if self.drawn is None:
            self.drawn = self._draw()
        return self.drawn

    def _draw(self) -> Hashable:
        op, answer = self.op, self.op.answer
        return (
            op.f,
            op.agent,
            op.type,
            op.code,
            self.token,
            self.intent,
            self.key,
            self.payload,
            self.top and self.top.token,
            self.banned is None,
            answer.get("token"),
            answer.get("message_id"),
            answer.get("expires_at_ms"),
            answer.get("status"),
            answer.get("replay"),
        )


class Intent:
    """One logical send to one contact: its tries, refused ones too, and how often it arrived.

    Attributes:
        namesakes: The same text to other contacts, where somebody tried that (spec: K9).
    """

    __slots__ = ("delivered_ns", "deliveries", "name", "namesakes", "person", "tries")

    def __init__(self, name: str, person: Person) -> None:
        self.name = name
        self.person = person
        self.tries: list[View] = []
        self.deliveries = 0
        self.delivered_ns = 0
        self.namesakes: list[Intent] = []

    def to(self, person: Person) -> Intent:
        """The same text to this contact."""
        for each in self.namesakes:
            if each.person is person:
                return each
        made = Intent(f"{self.name} to {person.name}", person)
        self.namesakes.append(made)
        return made

    def to_address(self, address: str) -> Intent:
        """The one a message to this address belongs to; the first where none was tried to it."""
        wanted = address.casefold()
        for each in self.namesakes:
            tried = (view.op.args["message"].get("to", "") for view in each.tries)
            if any(to.casefold() == wanted for to in tried):
                return each
        return self

    def causes(self) -> list[View]:
        """Tries that may have made it arrive; all of them where every one was refused."""
        return [view for view in self.tries if view.op.type is not OpType.FAIL] or self.tries


class Person:
    """What is known of one contact.

    Attributes:
        claims: Leases whose grant was answered; old ones are forgotten.
        forgotten: The highest token of a forgotten lease.
        asked: Acquires that may have been granted without the agent being told.
        bans, lifts, overrides: Operations of that kind that happened or may have.
        notes: Contacts by other channels, refused ones too.
        keys: Recipient keys its leases were granted under.
        drawn: The picture, or None where something was learnt since it was drawn.
        sends: Sends that may have been authorised and can still matter to a cooldown.
    """

    __slots__ = (
        "asked",
        "banned",
        "bans",
        "claims",
        "drawn",
        "forgotten",
        "intents",
        "keys",
        "lifts",
        "name",
        "notes",
        "open",
        "overrides",
        "sends",
        "top",
        "waiting",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.open: dict[str, View] = {}
        self.waiting: deque[View] = deque()
        self.claims: list[Claim] = []
        self.forgotten = 0
        self.top: Claim | None = None
        self.asked: list[Operation] = []
        self.bans: list[Operation] = []
        self.banned: Operation | None = None
        self.lifts: list[Operation] = []
        self.overrides: list[Operation] = []
        self.notes: list[Operation] = []
        self.sends: list[View] = []
        self.intents: dict[str, Intent] = {}
        self.keys: set[str] = set()
        self.drawn: Hashable = None

    def claim_of(self, view: View) -> Claim | None:
        """The lease an operation's token names, if possible one of its own agent's."""
        found = None
        for claim in reversed(self.claims):
            if claim.token == view.token and may_precede(claim.op, view.op):
                if claim.agent == view.op.agent:
                    return claim
                found = found or claim
        return found

    def picture(self) -> Hashable:
        """What further judgements depend on; places count only by their order."""
        if self.drawn is None:
            self.drawn = self._draw()
        return self.drawn

    def _draw(self) -> Hashable:
        rows: dict[int, tuple[Operation, Hashable]] = {}
        for claim in self.claims:
            for op in (claim.op, *claim.renewals, *claim.releases):
                rows[op.begin] = (op, _told(op))
        for op in (*self.asked, *self.bans, *self.lifts, *self.overrides, *self.notes):
            rows[op.begin] = (op, _told(op))
        for view in (*self.open.values(), *self.waiting, *self.sends):
            rows[view.op.begin] = (view.op, view.picture())
        for intent in self.intents.values():
            for view in intent.tries:
                rows[view.op.begin] = (view.op, view.picture())
        places = [op.end for op, _ in rows.values() if op.end is not None]
        rank = {place: number for number, place in enumerate(sorted([*rows, *places]))}
        return (
            tuple(
                (rank[begin], rank.get(op.end or -1), op.invoked_ns // MS, _ms(op), picture)
                for begin, (op, picture) in sorted(rows.items())
            ),
            tuple(rank[view.op.begin] for view in (*self.open.values(), *self.waiting)),
            tuple(claim.picture() for claim in self.claims),
            tuple((each.name, each.deliveries) for each in self.intents.values()),
            self.top and self.top.token,
            self.forgotten,
        )


def _ms(op: Operation) -> int:
    return -1 if op.completed_ns is None else op.completed_ns // MS


def _told(op: Operation) -> Hashable:
    """What an operation's own arguments and answer add to the picture."""
    return (op.f, op.agent, op.type, op.code, op.args.get("token"), *map(op.answer.get, _PICTURED))


_PICTURED = ("token", "opted_out")
