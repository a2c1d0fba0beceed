"""Race K9, the model writes the key: its case, white space or dashes drift between tries.

Property: keys are compared case-folded and stripped, so a key that comes back in another case is the
same; one whose letters changed is another, and the cooldown is what is left (spec: K3, K9, K1, S5).
Legal: ``send k-1 -> reply lost, send " K-1 " -> the original``; ``send k_1 -> cooldown_active``.
Illegal: a second mail to the person.
Isolation: cooldown 0 where the key must hold, on where it can't.

Twins caught: `without_key_normalisation`, by `sends.once`; `without_cooldown_after_release`, by
`scenario.expected`. Public reports: B53, B54.
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

from .steps import claimed, released

DRIFTED = "the retry came under a key that had drifted"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0)


@scenario(
    number=28,
    title="the model writes the key, and it drifts",
    spec=("K9", "K1", "K3", "S5"),
    expected="one message: a replay, or `cooldown_active` where the letters changed",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=PLAIN,
    variants=(
        Variant(name="case"),
        Variant(name="white space"),
        Variant(
            name="dashes",
            needs=frozenset({Capability.COOLDOWN}),
            settings=replace(PLAIN, cooldown_s=60.0),
        ),
    ),
    windows=(DRIFTED,),
    masked_by="callers that make the key in code; a cooldown where the key should have held",
    group="beyond",
)
def drifting_key(race: Race) -> None:
    """Lose the reply of the first try, then retry under the key as the model writes it now."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    first.lose_next_reply()
    race.expect(f"{first.id}'s first try", first.send(contact, message), NoReply)
    race.window(DRIFTED)
    retry = replace(message, key=_drifted(race.variant, message.key or ""))
    if race.variant == "dashes":
        _another_key(race, contact, lease, retry)
    else:
        race.expect("the retry under the drifted key", first.send(contact, retry), Sent)
        race.expect("the retry under its own key", first.send(contact, message), Sent)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _drifted(how: str, key: str) -> str:
    match how:
        case "case":
            return key.upper()
        case "white space":
            return f"  {key}\t"
        case _:
            return key.replace("-", "_") + "_retry"


def _another_key(race: Race, contact: Contact, lease: Lease, retry: Message) -> None:
    """To the mailbox it is another send, under a lease taken anew."""
    first = race.agents[0]
    released(race, first, contact, lease)
    taken = claimed(race, first, contact, when="after its release")
    if taken is None:
        return
    answer = first.send(contact, replace(retry, token=taken.token))
    race.expect("the retry under another key", answer, Code.COOLDOWN_ACTIVE)
