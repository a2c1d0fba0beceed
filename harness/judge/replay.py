"""Plays the steps that were reconstructed from a log, as the script of a race.

The calls come in the order of the log, with its gaps by the store's clock; calls that overlapped
there overlap here. What the log did not tell (where an agent stood still, what the transport did
inside) is left to the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ..contract import Answer, Lease, Message, MessageKind, Noted
from ..scenario import Actor, Call, Contact, Pending, Race

GAP_MS = 1_000
"""Shorter gaps are not waited for: only the order of the calls counts then."""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One instant of the log.

    Args:
        at_ms: When, from the first step on.
        op: The operation, as the log's lines name it.
        agent: Who, as the log names it.
        f: The mailbox method.
        contact: The person.
        do: ``call`` (begin and end), ``begin`` or ``end``.
        spelling: Which of the contact's spellings.
        lease: The acquire whose lease it uses, by its operation; "" for none.
        message: Name of the logical send; a retry has the same.
        key: Which key it goes under; another one for each fresh key.
        kind: Commercial or transactional.
        lost: Whether its outcome was never known.
    """

    at_ms: int
    op: str
    agent: str
    f: str
    contact: str = "contact"
    do: str = "call"
    spelling: int = 0
    lease: str = ""
    message: str = ""
    key: str = ""
    kind: str = "commercial"
    lost: bool = False


class _Stage:
    """What the steps so far have left."""

    def __init__(self, race: Race, spellings: Mapping[str, Sequence[str]]) -> None:
        self.race = race
        self.contacts: dict[str, Contact] = {
            name: race.contact(*forms) for name, forms in spellings.items()
        }
        self.actors: dict[str, Actor] = {}
        self.leases: dict[str, Lease] = {}
        self.messages: dict[tuple[str, str], Message] = {}
        self.pending: dict[str, Pending] = {}
        self.zero_ms: int | None = None

    def actor(self, name: str) -> Actor:
        """The agent that plays this one of the log."""
        if name not in self.actors:
            self.actors[name] = self.race.agents[len(self.actors)]
        return self.actors[name]

    def call(self, step: Step) -> Call | None:
        """The call of a step; None where the lease it needs was not granted here."""
        contact, later = self.contacts[step.contact], self.actor(step.agent).later
        lease = self.leases.get(step.lease)
        if step.f in {"renew", "release"}:
            if lease is None:
                return None
            return getattr(later, step.f)(contact, lease, step.spelling)  # type: ignore[no-any-return]
        if step.f == "send":
            return later.send(contact, self.message(step, contact, lease))
        if step.f == "unsuppress":
            return later.unsuppress(contact, "person-01", step.spelling)
        if step.f == "override":
            return later.override(contact, "person-01", "as in the log", step.spelling)
        if step.f == "suppress":
            return later.suppress(contact, spelling=step.spelling)
        return later.acquire(contact, step.spelling)

    def message(self, step: Step, contact: Contact, lease: Lease | None) -> Message:
        """The message of a send: the same for each try of one, whatever its key."""
        name = (step.message, step.key)
        first = next((each for key, each in self.messages.items() if key[0] == step.message), None)
        if name not in self.messages:
            fresh = self.race.message(
                contact, lease=lease, spelling=step.spelling, kind=MessageKind(step.kind)
            )
            # Another key for what was sent before is the same message under a fresh key.
            self.messages[name] = fresh if first is None else replace(first, key=fresh.key)
        return replace(self.messages[name], token=None if lease is None else lease.token)

    def learn(self, step: Step, answer: Answer) -> None:
        """Keep what an answer tells."""
        if isinstance(answer, Lease):
            if step.f == "acquire":
                self.leases[step.op] = answer
            at_ms = answer.granted_at_ms
        else:
            at_ms = answer.at_ms if isinstance(answer, Noted) else None
        if self.zero_ms is None and at_ms is not None:
            self.zero_ms = at_ms - step.at_ms


def agents_of(steps: Iterable[Step]) -> list[str]:
    """The log's agents, in the order in which they act."""
    return list(dict.fromkeys(step.agent for step in steps))


def play(
    race: Race, steps: Iterable[Mapping[str, Any]], spellings: Mapping[str, Sequence[str]]
) -> None:
    """Make the calls of a log.

    Args:
        race: The race.
        steps: `Step`s as JSON, in order.
        spellings: Contact to the forms of its address, with ``{user}`` for the fresh part.

    Raises:
        ValueError: More agents act than the race has.
    """
    told = [msgspec.convert(step, Step) for step in steps]
    agents = agents_of(told)
    if len(agents) > len(race.agents):
        message = f"{len(agents)} agents act in the log: run the race with as many (--agents)"
        raise ValueError(message)
    stage, last_ms = _Stage(race, spellings), 0
    for step in told:
        if step.at_ms - last_ms >= GAP_MS and stage.zero_ms is not None:
            race.pass_store_time(stage.zero_ms + step.at_ms)
        last_ms = step.at_ms
        _take(stage, step)
    for pending in stage.pending.values():
        pending.answer()


def _take(stage: _Stage, step: Step) -> None:
    if step.do == "end":
        pending = stage.pending.pop(step.op, None)
        if pending is not None:
            stage.learn(step, pending.answer())
        return
    call = stage.call(step)
    if call is None:
        return
    if step.lost:
        stage.actor(step.agent).lose_next_reply()
    pending = call.start()
    if step.do == "begin":
        stage.pending[step.op] = pending
    else:
        stage.learn(step, pending.answer())


__all__ = ["Step", "agents_of", "play"]
