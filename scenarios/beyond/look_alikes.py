"""Race X6, the other way round: two people whose addresses only look alike.

Property: look-alike letters are not the same person: each has a lease, and neither's opt-out binds the
other (spec: I3, X6). Legal: ``A acquire oleg@example.com, B acquire the same with a Cyrillic o -> both
granted``. Illegal: one is told that the other's contact is owned.
Isolation: nothing is sent and nothing expires: only the key of the recipient can join the two.

No shipped twin folds look-alikes; the tests bring one, found by `scenario.expected`.
Public reports: B94.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Lease, Noted, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

ALIKE = "two addresses that look alike were claimed"
LETTERS = {"cyrillic o": ("oleg", "\u043eleg"), "digit one": ("leo", "1eo")}
"""What stands at the end of the local part, and its look-alike."""


@scenario(
    number=38,
    title="two people whose addresses only look alike",
    spec=("I3", "X6"),
    expected="two contacts: each is granted",
    needs={Capability.LEASE, Capability.SUPPRESS},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=tuple(Variant(name=name) for name in LETTERS),
    windows=(ALIKE,),
    masked_by="contact data in which no two addresses look alike",
    group="beyond",
)
def look_alikes(race: Race) -> None:
    """Claim both, by two agents, and put one on the list."""
    first, second = race.agents[0], race.agents[1]
    letters, alike = LETTERS[race.variant]
    one = race.contact("{user}." + letters + "@example.com")
    address = one.address.replace(f".{letters}@", f".{alike}@")
    other = Contact(name=f"{one.name}-alike", spellings=(address,))
    race.mark("contact", contact=other.name, spellings=[address])
    lease = claimed(race, first, one)
    if lease is None or claimed(race, second, other) is None:
        return
    race.window(ALIKE)
    race.expect(f"{second.id}'s opt-out entry", second.suppress(other, "opt-out"), Noted)
    race.expect(f"{first.id}'s renewal", first.renew(one, lease), Lease)
