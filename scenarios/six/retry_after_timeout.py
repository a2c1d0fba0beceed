"""Race 3: a send times out and is tried again under the same key.

Property: one logical send leaves once, and every retry gets the original answer (spec: K2, K4, K6,
K10, S2, S8). Legal: ``send k -> reply lost, send k -> 201 <id1> replay``. Illegal: a second delivery,
another message id, another status.
Isolation: cooldown 0, so that only the key can stop the second mail; one variant turns the cooldown
on, since a retry must be answered although the first delivery set one.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import (
    Answer,
    Capability,
    Code,
    Found,
    Lease,
    Message,
    NoReply,
    SendState,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Actor, Contact, Race, Variant, scenario

PLAIN = Settings(lease_s=60.0, cooldown_s=0.0)
RETRIED = "the retry came after an unknown outcome"


@scenario(
    number=3,
    title="a send times out and is retried with the same key",
    spec=("K2", "K4", "K6", "K10", "S2", "S8", "T"),
    expected="the original message id; nothing new leaves",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=PLAIN,
    variants=(
        Variant(name="reply lost", rounds=2, windows=(RETRIED,)),
        Variant(
            name="reply lost, cooldown on",
            needs=frozenset({Capability.COOLDOWN}),
            settings=replace(PLAIN, cooldown_s=60.0),
            windows=(RETRIED,),
        ),
        Variant(name="SMTP took it, its reply lost", windows=(RETRIED,)),
        Variant(name="two tries at once", rounds=10, windows=("tries overlapped",)),
        Variant(
            name="between key and record",
            points=frozenset({"send.key_resolved"}),
            settings=replace(PLAIN, store_deadline_s=0.1),
            windows=("the second try came while the first was under way",),
        ),
        Variant(
            name="between hand-over and record",
            points=frozenset({"send.handed_over"}),
            windows=("the second try came while the first was under way",),
        ),
        Variant(name="same key, other payload"),
    ),
    masked_by="cooldown and lease: with either in the way the second mail is stopped for another reason",
    group="six",
)
def retry_after_timeout(race: Race) -> None:
    """Send, lose the outcome in one of the ways that happen, try again, count the mail."""
    first = race.agents[0]
    contact = race.contact()
    lease = first.acquire(contact)
    if not race.expect(f"{first.id}'s claim of a fresh contact", lease, Lease):
        return
    message = race.message(contact, lease=lease if isinstance(lease, Lease) else None)
    match race.variant:
        case "reply lost" | "reply lost, cooldown on":
            _reply_lost(race, contact, message)
        case "SMTP took it, its reply lost":
            _smtp_reply_lost(race, contact, message)
        case "two tries at once":
            _two_at_once(race, contact, message)
        case "between key and record":
            _second_try_between(race, contact, message, "send.key_resolved")
        case "between hand-over and record":
            _second_try_between(race, contact, message, "send.handed_over")
        case _:
            _other_payload(race, contact, message)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _reply_lost(race: Race, contact: Contact, message: Message) -> None:
    """The call is executed, its answer lost on the agent's side; every agent tries again."""
    first = race.agents[0]
    first.lose_next_reply()
    race.expect(f"{first.id}'s first try", first.send(contact, message), NoReply)
    race.window(RETRIED)
    answers = [agent.send(contact, message) for agent in (first, *race.agents[1:], first)]
    for answer in answers:
        race.expect("a retry under the same key", answer, Sent)
    _require_one_answer(race, answers)


def _require_one_answer(race: Race, answers: list[Answer]) -> None:
    seen = {(a.message_id, a.status, a.replay) for a in answers if isinstance(a, Sent)}
    race.require("different answers to one send's retries", wanted=1, observed=len(seen))


def _smtp_reply_lost(race: Race, contact: Contact, message: Message) -> None:
    """The receiving side takes the message and says nothing: the true ambiguous timeout."""
    first = race.agents[0]
    race.transport("silent")
    answer = first.send(contact, message)
    race.transport("accept")
    race.expect(f"{first.id}'s first try", answer, Code.SEND_STATUS_UNKNOWN, NoReply)
    race.window(RETRIED)
    for agent in (first, *race.agents[1:]):
        retry = agent.send(contact, message)
        race.expect(f"{agent.id}'s retry", retry, Sent, Code.SEND_STATUS_UNKNOWN)
    if Capability.LOOKUP in race.capabilities:
        found = first.lookup(contact, message)
        state = found.state if isinstance(found, Found) else type(found).__name__
        race.require(
            "a look-up that knows it may have left",
            wanted=True,
            observed=state in (SendState.UNKNOWN, SendState.DELIVERED),
        )


def _two_at_once(race: Race, contact: Contact, message: Message) -> None:
    """Two replicas of one agent try at the same instant."""
    first = race.agents[0]
    twin = race.replica(first)
    answers = race.together(first.later.send(contact, message), twin.later.send(contact, message))
    _require_one_execution(race, first, contact, message, answers)


def _second_try_between(race: Race, contact: Contact, message: Message, point: str) -> None:
    """The first try stands at `point`; a replica of the agent tries again meanwhile."""
    first = race.agents[0]
    twin = race.replica(first)
    stop = first.pause_at(point)
    sending = first.start(first.later.send(contact, message))
    stop.wait()
    race.window("the second try came while the first was under way")
    second = twin.send(contact, message)
    stop.resume()
    _require_one_execution(race, first, contact, message, [sending.answer(), second])


def _require_one_execution(
    race: Race, first: Actor, contact: Contact, message: Message, answers: list[Answer]
) -> None:
    """One try did it, the others waited, were told to, or replayed; later tries replay."""
    executed = sum(isinstance(answer, Sent) and not answer.replay for answer in answers)
    race.require("tries that executed", wanted=1, observed=executed)
    for answer in answers:
        race.expect("a try", answer, Sent, Code.SEND_IN_PROGRESS, Code.STORE_BUSY)
    race.expect("a later retry", first.send(contact, message), Sent)


def _other_payload(race: Race, contact: Contact, message: Message) -> None:
    """The same key with another text is a mistake, not a retry (spec: K4)."""
    first = race.agents[0]
    race.expect(f"{first.id}'s send", first.send(contact, message), Sent)
    other = race.message(contact)
    changed = replace(other, key=message.key, token=message.token)
    answer = first.send(contact, changed)
    race.expect("another payload under the same key", answer, Code.KEY_REUSED)
    again = first.send(contact, message)
    race.expect("the original payload once more", again, Sent)
