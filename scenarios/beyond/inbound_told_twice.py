"""Race X20: a webhook tells of one message twice.

Property: what a contact wrote is taken once, however often and by whomever it is told of, so that one
agent answers; an opt-out in it is on the list before anybody gets the contact (spec: O4, C3). Legal:
``A receive <1> -> first, B receive <1> -> taken before``. Illegal: both are the first, and the contact
gets two answers; or ``A receive "unsubscribe", A release, B acquire, B send -> sent``.
Isolation: cooldown 0, and each answer has a key of its own, as two agents' loops have: nothing else
stops the second answer.

Twins caught: `without_inbound_dedup`, by `inbound.once`; `without_opt_out_in_replies`, by
`scenario.expected`. Public reports: B38, B70.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Answer,
    Capability,
    Code,
    Received,
    Refused,
    Sent,
    Settings,
    Taken,
)
from leaserace.harness.scenario import Actor, Contact, Race, Variant, scenario

from .steps import claimed, handed_on

AGAIN = "an event was told again"
STOPPED = "an opt-out came in during a lease"
QUESTION = "Thank you. How much is it for ten?\n"
OPT_OUT = "Please unsubscribe me from this list.\n"
LISTED = frozenset({Capability.SUPPRESS})


@scenario(
    number=51,
    title="an inbound event is delivered twice",
    spec=("X20", "O4", "C3"),
    expected="it is taken once; an opt-out in it is honoured first",
    needs={Capability.INBOUND, Capability.LEASE, Capability.SEND},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="told again", windows=(AGAIN,)),
        Variant(name="at once", windows=(AGAIN,)),
        Variant(name="its answer lost", windows=(AGAIN,)),
        Variant(name="an opt-out", needs=LISTED, windows=(STOPPED,)),
    ),
    masked_by="a cooldown, or one key for both answers",
    group="beyond",
    quick=True,
)
def inbound_told_twice(race: Race) -> None:
    """Tell two agents of one message; whoever is the first to take it answers."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    if race.variant == "an opt-out":
        _opted_out(race, contact)
        return
    event = race.inbound(contact, QUESTION)
    if race.variant == "at once":
        told = race.together(
            first.later.receive(contact, event), second.later.receive(contact, event)
        )
        race.window(AGAIN)
    else:
        if race.variant == "its answer lost":
            first.lose_next_reply()
        told = [first.receive(contact, event)]
        race.window(AGAIN)
        told.append(second.receive(contact, event))
    _answered(race, contact, told)


def _answered(race: Race, contact: Contact, told: list[Answer]) -> None:
    """An answer that was lost may have been the first."""
    for agent, answer in zip(race.agents, told, strict=False):
        if isinstance(answer, Taken) and answer.first:
            _answer(race, agent, contact)
    lost = race.variant == "its answer lost"
    firsts = sum(isinstance(answer, Taken) and answer.first for answer in told)
    busy = sum(_is_busy(answer) for answer in told)
    kept = firsts == (0 if lost else 1) or bool(busy and not firsts)
    race.require("agents that may start", wanted=True, observed=kept)
    race.require("answers that arrived", wanted=firsts, observed=race.deliveries(contact))


def _is_busy(answer: Answer) -> bool:
    return isinstance(answer, Refused) and answer.code is Code.STORE_BUSY


def _answer(race: Race, agent: Actor, contact: Contact) -> None:
    lease = claimed(race, agent, contact, when="to answer")
    if lease is not None:
        sent = agent.send(contact, race.message(contact, lease=lease))
        race.expect(f"{agent.id}'s answer", sent, Sent)
        agent.release(contact, lease)


def _opted_out(race: Race, contact: Contact) -> None:
    """The holder takes the opt-out, is told of it again, and releases; the next one sends."""
    first, second = race.agents[0], race.agents[1]
    lease = claimed(race, first, contact)
    if lease is None:
        return
    event: Received = race.inbound(contact, OPT_OUT)
    taken = first.receive(contact, event)
    race.window(STOPPED)
    if race.expect(f"{first.id}'s message from the contact", taken, Taken):
        observed = isinstance(taken, Taken) and taken.opted_out
        race.require("an opt-out that is recognised", wanted=True, observed=observed)
    race.expect("the same told again", second.receive(contact, event), Taken)
    newer = handed_on(race, contact, first, lease, second)
    if newer is not None:
        answer = second.send(contact, race.message(contact, lease=newer))
        race.expect(f"{second.id}'s send", answer, Code.SUPPRESSED)
    race.require("messages that arrived", wanted=0, observed=race.deliveries(contact))
