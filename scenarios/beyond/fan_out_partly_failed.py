"""Race X18: one step writes to several people, one of them fails, and the whole step is tried again.

Property: each recipient has a key of its own, tracked to its end, so a retry repeats only what is
missing (spec: K7, K2, K10, S8). Legal: ``send a, send b -> refused, send c; again: a -> replay, b ->
sent, c -> replay``. Illegal: who had the mail gets it again; or one who may have it gets a second.
Isolation: cooldown 0 and live leases: only the keys can stop the second round. In one variant the
step has one key for all its recipients (spec: K9): then nothing but the first may leave.

Twins caught: `without_unknown_state` and `without_key_after_failure`, by `sends.once`;
`without_fingerprint`, by `keys.payload_bound`; `without_retry_after_refusal`, by
`scenario.expected`. Public reports: B78, B80, B81.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import (
    Capability,
    Code,
    Message,
    NoReply,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

AGAIN = "the step was tried again after a partial failure"
PEOPLE = 3
FAILS = 1
"""Which of them fails."""
Part = tuple[Contact, Message]


@scenario(
    number=25,
    title="several recipients, one fails, all are tried again",
    spec=("X18", "K2", "K7", "K9", "K10"),
    expected="the others are not sent again",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0, transport_timeout_s=0.5),
    variants=(
        Variant(name="one refused"),
        Variant(name="one not answered"),
        Variant(name="one key for all"),
    ),
    windows=(AGAIN,),
    masked_by="a cooldown would refuse everybody's second mail",
    group="beyond",
    quick=True,
)
def fan_out_partly_failed(race: Race) -> None:
    """Write to each, let one fail, write to each again, count what everybody got."""
    parts = _parts(race)
    if len(parts) < PEOPLE:
        return
    if race.variant == "one key for all":
        _one_key(race, parts)
        return
    refused = race.variant == "one refused"
    for number, (contact, message) in enumerate(parts):
        race.transport(("refuse" if refused else "silent") if number == FAILS else "accept")
        answer = race.agents[0].send(contact, message)
        wanted = (Code.INVALID_MESSAGE, Code.SEND_STATUS_UNKNOWN, NoReply)
        race.expect("a first send", answer, *(wanted if number == FAILS else (Sent,)))
    race.transport("accept")
    race.window(AGAIN)
    for number, (contact, message) in enumerate(parts):
        answer = race.agents[0].send(contact, message)
        unknown = number == FAILS and not refused
        race.expect("a retry", answer, *((Sent, Code.SEND_STATUS_UNKNOWN) if unknown else (Sent,)))
    for contact, _ in parts:
        race.require("messages to each", wanted=1, observed=race.deliveries(contact))


def _parts(race: Race) -> list[Part]:
    """Each recipient with its message under its own lease and key."""
    first = race.agents[0]
    parts: list[Part] = []
    for _ in range(PEOPLE):
        contact = race.contact()
        lease = claimed(race, first, contact)
        if lease is not None:
            parts.append((contact, race.message(contact, lease=lease)))
    return parts


def _one_key(race: Race, parts: list[Part]) -> None:
    """The mistake of K9: everybody behind the first is refused, and the caller is told so."""
    first = race.agents[0]
    key = parts[0][1].key
    race.window(AGAIN)
    for number, (contact, message) in enumerate(parts):
        answer = first.send(contact, replace(message, key=key))
        race.expect("a send under one key for all", answer, Code.KEY_REUSED if number else Sent)
        race.require("messages to each", wanted=int(not number), observed=race.deliveries(contact))
