"""Race X11: the lease of a contact is removed, and the contact is claimed again.

Property: the fencing token rises on every grant and never restarts, whatever became of the rows of
earlier leases (spec: L4, L9). Legal: ``grant 41, release, grant 42``. Illegal: ``grant 41, release,
grant 1``, so that a draft from long ago is as good as a new one.
Isolation: every lease is ended before the next claim, so `leases.one_live` has nothing to say.

Twins caught: `without_lasting_counter`, by `tokens.rise`; `without_fencing_check`, by
`tokens.stale_never_sends`. Public reports: B4, B10.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Lease, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, released

REMOVED = "the contact was claimed again after its lease was gone"


@scenario(
    number=18,
    title="a contact is claimed again after its lease is gone",
    spec=("X11", "L4", "L9"),
    expected="every token is greater than all before it",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="released"),
        Variant(name="expired", settings=Settings(lease_s=0.1, cooldown_s=0.0)),
    ),
    windows=(REMOVED,),
    masked_by="leases that are never released",
    group="beyond",
)
def counter_outlives_rows(race: Race) -> None:
    """Each agent in turn claims and ends its lease; then the first draft is sent."""
    first = race.agents[0]
    contact = race.contact()
    leases: list[Lease] = []
    for agent in (*race.agents, first):
        lease = claimed(race, agent, contact, when="of a free contact")
        if lease is None:
            return
        higher = all(lease.token > earlier.token for earlier in leases)
        race.require("a token above all earlier ones", wanted=True, observed=higher)
        leases.append(lease)
        if race.variant == "expired":
            race.pass_store_time(lease.expires_at_ms)
        else:
            released(race, agent, contact, lease)
    race.window(REMOVED)
    answer = first.send(contact, race.message(contact, lease=leases[0]))
    race.expect(f"{first.id}'s draft from its first lease", answer, Code.STALE_FENCING_TOKEN)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))
