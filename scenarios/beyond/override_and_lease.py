"""Race C4, lease against override: a person overrides while another agent holds the contact.

Property: an override skips the cooldown and neither grants, breaks nor revives a lease (spec: C4, L3,
S3). Legal: ``grant to A, a person overrides for B, B claims -> contact_owned, B sends ->
stale_fencing_token``. Illegal: B's mail leaves beside A's, because a person was in a hurry.
Isolation: nobody is on the list, keys are fresh, and the cooldown is the one thing the override may skip:
only the lease can refuse.

Twin caught: `without_fencing_check`, by `tokens.stale_never_sends`. Public reports: B5, B6.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Noted, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, handed_on

BOTH = "an override held while another agent had the lease"
OWNED = (Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED)


@scenario(
    number=37,
    title="a person overrides while another agent holds the contact",
    spec=("C4", "L3", "S3", "S7"),
    expected="the lease stays; `stale_fencing_token` for whoever lost it",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND, Capability.OVERRIDE},
    settings=Settings(lease_s=60.0, cooldown_s=60.0),
    variants=(Variant(name="by its former holder"),),
    windows=(BOTH,),
    masked_by="a cooldown that no override skips would refuse the send for another reason",
    group="beyond",
)
def override_and_lease(race: Race) -> None:
    """Lose the lease, be let through by a person, and try to claim and to send."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lost = claimed(race, first, contact)
    if lost is None:
        return
    held = handed_on(race, contact, first, lost, second)
    if held is None:
        return
    noted = first.override(contact, "person-01", "the customer telephoned")
    race.expect("a person's override", noted, Noted)
    race.window(BOTH)
    race.expect(f"{first.id}'s claim of a held contact", first.acquire(contact), *OWNED)
    stale = first.send(contact, race.message(contact, lease=lost))
    race.expect(f"{first.id}'s send with its old token", stale, Code.STALE_FENCING_TOKEN)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))
    sent = second.send(contact, race.message(contact, lease=held))
    race.expect(f"{second.id}'s send under its lease", sent, Sent)
