"""Race C4, key against override: a person overrides, and an old key comes back.

Property: an override lets the next message through and no old one again: a replay sends nothing, uses no
override up, and needs none; another payload under the key stays refused (spec: C4, S2, K2, K4). Legal:
``send k1 -> sent, a person overrides, send k1 -> sent, a replay, send k2 -> sent, send k3 ->
cooldown_active``. Illegal: the retry leaves, because somebody let the contact through; or it takes the
override with it, and the message it was given for is refused.
Isolation: one live lease, the right token, nobody on the list: only key, cooldown and override decide.

Twins caught: `without_original_answer`, by `keys.replay_is_original`; `without_shared_keys`, by
`sends.once`; `without_fingerprint`, by `keys.payload_bound`.
Public reports: B52, B56.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import (
    Capability,
    Code,
    Lease,
    Message,
    Noted,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Actor, Contact, Race, Variant, scenario

from .steps import claimed, handed_on

BOTH = "a completed key came back while an override held"


@scenario(
    number=44,
    title="a person overrides, and an old key comes back",
    spec=("C4", "S2", "K2", "K4"),
    expected="the old key sends nothing; the override is left for the next message",
    needs={
        Capability.LEASE,
        Capability.SEND,
        Capability.IDEMPOTENCY,
        Capability.COOLDOWN,
        Capability.OVERRIDE,
    },
    settings=Settings(lease_s=60.0, cooldown_s=60.0),
    variants=(
        Variant(name="as it was"),
        Variant(name="by another agent"),
        Variant(name="with another payload"),
    ),
    windows=(BOTH,),
    masked_by="a cooldown without an override refuses what a lost key would let through",
    group="beyond",
)
def override_and_key(race: Race) -> None:
    """Send, override, send the same again, then what the override was given for."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    done = race.message(contact, lease=lease)
    race.expect(f"{first.id}'s send", first.send(contact, done), Sent)
    if race.variant == "by another agent":
        sender, held = race.agents[1], _handed_on(race, contact, lease)
        if held is None:
            return
    else:
        sender, held = first, lease
    noted = sender.override(contact, "person-01", "the customer telephoned")
    race.expect("a person's override", noted, Noted)
    race.window(BOTH)
    _again(race, sender, contact, replace(done, token=held.token))
    race.require("messages so far", wanted=1, observed=race.deliveries(contact))
    new = sender.send(contact, race.message(contact, lease=held))
    race.expect("the message it was given for", new, Sent)
    next_ = sender.send(contact, race.message(contact, lease=held))
    race.expect("the message after it", next_, Code.COOLDOWN_ACTIVE)
    race.require("messages that arrived", wanted=2, observed=race.deliveries(contact))


def _handed_on(race: Race, contact: Contact, lease: Lease) -> Lease | None:
    first, second = race.agents[0], race.agents[1]
    return handed_on(race, contact, first, lease, second)


def _again(race: Race, sender: Actor, contact: Contact, done: Message) -> None:
    if race.variant == "with another payload":
        other = replace(race.message(contact), key=done.key, token=done.token)
        answer = sender.send(contact, other)
        race.expect("the old key with other words", answer, Code.KEY_REUSED)
        return
    answer = sender.send(contact, done)
    if race.expect("the old key", answer, Sent) and isinstance(answer, Sent):
        race.require("an answer that is a replay", wanted=True, observed=answer.replay)
