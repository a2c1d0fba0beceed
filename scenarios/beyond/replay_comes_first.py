"""Race S2, the key against every other mechanism: a retry of what is done is answered, not judged.

Property: a completed key is replayed before any other check, since its retry sends nothing; a new key
is judged by all of them (spec: S2, K2, C1, C2). Legal: ``send k -> reply lost, the cooldown of its
own delivery runs, send k -> the original``. Illegal: the retry is refused for a cooldown, a lease that
is over or an opt-out, and the agent never learns that its mail went out.
Isolation: each variant has one mechanism that would refuse any other message, which is shown by a
message under a new key.

Twins caught: `without_replay_first`, by `scenario.expected`; `without_fencing_check`, by
`tokens.stale_never_sends`; `without_suppression_at_send`, by `suppression.wins`. Public reports: B45, B57, B60.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import (
    Capability,
    Code,
    Lease,
    NoReply,
    Noted,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, handed_on, released

JUDGED = "a retry came when another message would have been refused"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0)
TOLD = {
    "key and cooldown": Code.COOLDOWN_ACTIVE,
    "key and list": Code.SUPPRESSED,
    "key and stale token": Code.STALE_FENCING_TOKEN,
    "key and released lease": Code.NOT_HOLDER,
}


@scenario(
    number=36,
    title="a retry of what is done meets another refusal",
    spec=("S2", "K2", "C1", "C2"),
    expected="the original answer; a new key is refused",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=PLAIN,
    variants=(
        Variant(
            name="key and cooldown",
            needs=frozenset({Capability.COOLDOWN}),
            settings=replace(PLAIN, cooldown_s=60.0),
        ),
        Variant(name="key and list", needs=frozenset({Capability.SUPPRESS})),
        Variant(name="key and stale token", needs=frozenset({Capability.FENCING})),
        Variant(name="key and released lease"),
    ),
    windows=(JUDGED,),
    masked_by="a retry that comes at once, while nothing else would refuse it",
    group="beyond",
    quick=True,
)
def replay_comes_first(race: Race) -> None:
    """Complete a send, bring a refusal about, retry it, and send something new."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    first.lose_next_reply()
    race.expect(f"{first.id}'s first try", first.send(contact, message), NoReply)
    _bring_about(race, contact, lease)
    race.window(JUDGED)
    race.expect("the retry of what is done", first.send(contact, message), Sent)
    new = first.send(contact, race.message(contact, lease=lease))
    race.expect("a new message", new, TOLD[race.variant])
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _bring_about(race: Race, contact: Contact, lease: Lease) -> None:
    """The first delivery has set its cooldown already; the rest is done here."""
    first, second = race.agents[0], race.agents[1]
    match race.variant:
        case "key and list":
            race.expect(f"{second.id}'s opt-out entry", second.suppress(contact), Noted)
        case "key and stale token":
            handed_on(race, contact, first, lease, second)
        case "key and released lease":
            released(race, first, contact, lease)
