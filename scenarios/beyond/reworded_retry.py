"""Race X14: the model writes the body anew on the retry.

Property: a retry with other words under the same key is told so and sends nothing; under a key that
was made from the words it is a new message, and the cooldown stops it (spec: K1, K4, K7, S5, C2).
Legal: ``send k "hello" -> reply lost, send k "dear" -> key_reused``; ``send hash("hello") -> reply
lost, send hash("dear") -> cooldown_active``. Illegal: a second mail to the person.
Isolation: the lease is still held in the first variant and taken anew in the second; the cooldown is
on only where the key can't stop the mail.

Twins caught: `without_fingerprint`, by `keys.payload_bound`; `without_cooldown_after_release`, by
`cooldown.binds_all`. Public reports: B53, B54, B56.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import (
    Capability,
    Code,
    Lease,
    Message,
    NoReply,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, handed_on

REWORDED = "the retry came with other words"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0)


@scenario(
    number=21,
    title="the model rewords the body on the retry",
    spec=("X14", "K1", "K4", "K7", "S5"),
    expected="nothing new leaves: `key_reused`, or `cooldown_active` under a key made of the words",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=PLAIN,
    variants=(
        Variant(name="key of the step"),
        Variant(
            name="key of the words",
            needs=frozenset({Capability.COOLDOWN}),
            settings=replace(PLAIN, cooldown_s=60.0),
        ),
    ),
    windows=(REWORDED,),
    masked_by="nothing in the first variant; in the second only the cooldown is left",
    group="beyond",
    quick=True,
)
def reworded_retry(race: Race) -> None:
    """Lose the reply of the first try, then try in other words."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    first.lose_next_reply()
    race.expect(f"{first.id}'s first try", first.send(contact, message), NoReply)
    race.window(REWORDED)
    if race.variant == "key of the step":
        reworded = replace(race.message(contact, lease=lease), key=message.key)
        race.expect("the retry in other words", first.send(contact, reworded), Code.KEY_REUSED)
        race.expect("the retry in its own words", first.send(contact, message), Sent)
    else:
        _key_of_the_words(race, contact, lease, message)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _key_of_the_words(race: Race, contact: Contact, lease: Lease, message: Message) -> None:
    """To the mailbox it is another message; what is left is the cooldown."""
    first, second = race.agents[0], race.agents[1]
    taken = handed_on(race, contact, first, lease, second)
    if taken is None:
        return
    reworded = race.message(contact, lease=taken)
    race.require("another key", wanted=True, observed=reworded.key != message.key)
    answer = second.send(contact, reworded)
    race.expect("the retry in other words", answer, Code.COOLDOWN_ACTIVE)
