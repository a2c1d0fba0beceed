"""Race X7: one key comes with another payload.

Property: a key stands for one payload; the same key with another text or person is refused and
nothing is sent, and the original is answered as before (spec: K4). Legal: ``send k "hello" -> sent,
send k "goodbye" -> key_reused``. Illegal: "goodbye" is acknowledged, or leaves.
Isolation: cooldown 0, live leases, right tokens: only the key can refuse the second message.

Twins caught: `without_fingerprint` and `without_recipient_in_fingerprint`, by `keys.payload_bound`.
Public reports: B50.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Capability, Code, Lease, Message, Sent, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

REUSED = "a completed key came with another payload"


@scenario(
    number=14,
    title="one key comes with another text or person",
    spec=("X7", "K4"),
    expected="`key_reused`; nothing of the other payload leaves",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="another body"),
        Variant(name="another subject"),
        Variant(name="another person"),
        Variant(name="another person, same words"),
        Variant(name="by another agent"),
    ),
    windows=(REUSED,),
    masked_by="callers that never use a key twice; a cooldown would refuse the second message",
    group="beyond",
    quick=True,
)
def one_key_one_payload(race: Race) -> None:
    """Complete a key, use it for something else, then ask for the original again."""
    first, second = race.agents[0], race.agents[1]
    contact, other = race.contact(), race.contact()
    lease, others = claimed(race, first, contact), claimed(race, first, other)
    if lease is None or others is None:
        return
    message = race.message(contact, lease=lease)
    if not race.expect(f"{first.id}'s send", first.send(contact, message), Sent):
        return
    race.window(REUSED)
    if race.variant.startswith("another person"):
        same = replace(message, to=other.address, token=others.token)
        new = replace(race.message(other, lease=others), key=message.key)
        answer = first.send(other, same if race.variant.endswith("same words") else new)
    else:
        sender = second if race.variant == "by another agent" else first
        answer = sender.send(contact, _changed(race, contact, lease, message))
    race.expect("another payload under the same key", answer, Code.KEY_REUSED)
    race.expect("the original payload once more", first.send(contact, message), Sent)
    arrived = race.deliveries(contact) + race.deliveries(other)
    race.require("messages that arrived", wanted=1, observed=arrived)


def _changed(race: Race, contact: Contact, lease: Lease, message: Message) -> Message:
    """Another logical send under the first one's key, different in one field or in all."""
    new = race.message(contact, lease=lease)
    if race.variant == "another body":
        return replace(new, key=message.key, subject=message.subject)
    if race.variant == "another subject":
        return replace(message, subject=new.subject)
    return replace(new, key=message.key)
