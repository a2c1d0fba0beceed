"""Race C4, cooldown against override: a person lets one message through.

Property: an override skips the cooldown without erasing it, is for one send, and is a person's to give
(spec: C4, C2, S5, O7). Legal: ``send -> cooldown_active, a person overrides, send -> sent, send ->
cooldown_active``. Illegal: the cooldown is gone for whoever comes next; or an agent lets itself through.
Isolation: live leases, right tokens and fresh keys: only the cooldown can refuse.

Twins caught: `without_cooldown_after_release`, `without_shared_cooldown`, `without_end_of_override` and
`without_cooldown_under_override`, all by `cooldown.binds_all`; `without_persons`, by `people.decide`.
Public reports: B28, B56.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Capability,
    Code,
    Lease,
    Noted,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, handed_on

ASKED = "an override was asked for inside a cooldown"


@scenario(
    number=32,
    title="a person overrides a cooldown",
    spec=("C4", "C2", "S5", "O7"),
    expected="one message passes; the cooldown binds the next",
    needs={Capability.LEASE, Capability.SEND, Capability.COOLDOWN, Capability.OVERRIDE},
    settings=Settings(lease_s=60.0, cooldown_s=60.0),
    variants=(Variant(name="by a person"), Variant(name="by the agent itself")),
    windows=(ASKED,),
    masked_by="a lease that is still held by another would refuse the send",
    group="beyond",
)
def override_skips_cooldown(race: Race) -> None:
    """Set a cooldown, hand the contact on, override, send twice."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    sent = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s send", sent, Sent)
    taken = handed_on(race, contact, first, lease, second)
    if taken is None:
        return
    refused = second.send(contact, race.message(contact, lease=taken))
    race.expect(f"{second.id}'s send inside the cooldown", refused, Code.COOLDOWN_ACTIVE)
    race.window(ASKED)
    if race.variant == "by a person":
        _by_a_person(race, contact, taken)
        passed = 1
    else:
        answer = second.override(contact, second.id, "it is urgent")
        race.expect(f"{second.id}'s own override", answer, Code.NOT_AUTHORISED)
        passed = 0
    refused = second.send(contact, race.message(contact, lease=taken))
    race.expect(f"{second.id}'s next send", refused, Code.COOLDOWN_ACTIVE)
    race.require("messages that arrived", wanted=1 + passed, observed=race.deliveries(contact))


def _by_a_person(race: Race, contact: Contact, lease: Lease) -> None:
    second = race.agents[1]
    noted = second.override(contact, "person-01", "the customer telephoned")
    race.expect("a person's override", noted, Noted)
    sent = second.send(contact, race.message(contact, lease=lease))
    race.expect(f"{second.id}'s send under the override", sent, Sent)
