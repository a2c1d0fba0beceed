"""Race X16: the list and the send spell one person differently.

Property: an entry binds the person in every spelling, whichever of list and send came first with it
(spec: C1, S4, I1, I3). Legal: ``suppress Jane@Acme.com, send jane@acme.com -> suppressed``. Illegal:
the entry keeps its case and never matches.
Isolation: cooldown 0, a live lease, the right token and fresh keys: only the list can refuse.

Twins caught: `without_case_folding`, by `suppression.wins`; `without_domain_alias`, by
`contacts.one_key`. Public reports: B88, B96, B97, B98.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Noted, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed

LISTED = "the contact was listed in one spelling and written to in another"
FORMS = {
    "upper case entry": ("{USER}@EXAMPLE.COM", "{user}@example.com"),
    "lower case entry": ("{user}@example.com", "{User}@Example.Com"),
    "alias entry": ("{user}@googlemail.com", "{User}+list@gmail.com"),
}


@scenario(
    number=23,
    title="an entry of the list is in another case than the send",
    spec=("X16", "C1", "S4", "I1", "I3"),
    expected="`suppressed` in every spelling; cleared in every spelling",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="upper case entry"),
        Variant(name="lower case entry"),
        Variant(name="alias entry", needs=frozenset({Capability.ALIASES})),
    ),
    windows=(LISTED,),
    masked_by="lists and contact data that spell every address alike",
    group="beyond",
    quick=True,
)
def listed_in_another_case(race: Race) -> None:
    """List one spelling, write to the other; clear the other, write to the first."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact(*FORMS[race.variant])
    race.expect(f"{first.id}'s opt-out entry", first.suppress(contact, "opt-out", 0), Noted)
    lease = claimed(race, second, contact, 1)
    if lease is None:
        return
    race.window(LISTED)
    answer = second.send(contact, race.message(contact, lease=lease, spelling=1))
    race.expect(f"{second.id}'s send in the other spelling", answer, Code.SUPPRESSED)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))
    cleared = first.unsuppress(contact, "person-01", 1)
    race.expect("a person's clearing in the other spelling", cleared, Noted)
    answer = second.send(contact, race.message(contact, lease=lease, spelling=0))
    race.expect(f"{second.id}'s send once it was cleared", answer, Sent)
