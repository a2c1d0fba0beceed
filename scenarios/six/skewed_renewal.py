"""Race 6: a host whose clock is wrong renews, claims and is answered like any other host.

Property: the store's clock alone writes and judges times (spec: L5, L6). Legal: an agent an hour
ahead renews its live lease and gets ``expires = the store's now + length``. Illegal: its lease counts
as over, or another's live lease is given to it, because its own clock says so.
Isolation: every question is asked by a skewed agent and by one with a true clock; both must get the
same answer. The skew is measured inside the agent; one that did not take makes the race unknown.
"""

from __future__ import annotations

from leaserace.harness.contract import Answer, Capability, Code, Lease, Settings
from leaserace.harness.scenario import Actor, Contact, Race, Variant, scenario

HOUR_S = 3600.0
LONG = Settings(lease_s=60.0, cooldown_s=0.0)
SHORT = Settings(lease_s=0.1, cooldown_s=0.0)
SKEWED = "a skewed agent asked"
WORKED_MS = 30
"""How long a lease is held before it is renewed: an end computed from the claim shows only then."""
OVER = (Code.LEASE_EXPIRED, Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN)


@scenario(
    number=6,
    title="a host with a skewed clock renews",
    spec=("L5", "L6", "T"),
    expected="the same answer as any other host: the store's clock decides",
    needs={Capability.LEASE},
    settings=LONG,
    variants=(
        Variant(name="ahead, before expiry"),
        Variant(name="behind, before expiry"),
        Variant(name="stepping back, before expiry"),
        Variant(name="ahead, after expiry", settings=SHORT),
        Variant(name="behind, after expiry", settings=SHORT),
        Variant(name="stepping back, after expiry", settings=SHORT),
    ),
    windows=(SKEWED,),
    masked_by="nothing: no mail is sent; but a skew that silently did not take would pass",
    group="six",
)
def skewed_renewal(race: Race) -> None:
    """Two agents hold a lease each; one is skewed; both renew, and each claims the other's."""
    skewed, true = race.agents[0], race.agents[1]
    how, _, when = race.variant.partition(", ")
    _skew(skewed, how)
    race.window(SKEWED)
    mine, theirs = race.contact(), race.contact()
    leases = {skewed.id: skewed.acquire(mine), true.id: true.acquire(theirs)}
    for agent, lease in leases.items():
        if not race.expect(f"{agent}'s claim of a fresh contact", lease, Lease):
            return
    mine_lease, theirs_lease = _leased(leases[skewed.id]), _leased(leases[true.id])
    if how == "stepping back":
        skewed.skew(-HOUR_S)
    if when == "before expiry":
        _live(race, (skewed, mine, mine_lease), (true, theirs, theirs_lease))
    else:
        # The skewed agent's lease was taken first, so it ends first; one that a skewed clock has dated
        # would have us wait for an hour.
        race.pass_store_time(theirs_lease.expires_at_ms)
        _over(race, (skewed, mine, mine_lease), (true, theirs, theirs_lease))


Held = tuple[Actor, Contact, Lease]


def _live(race: Race, skewed: Held, true: Held) -> None:
    """A live lease is renewed by its holder and refused to the other, whoever is skewed."""
    # By the lease of the agent whose clock is true: the other's may have been written by its own.
    race.pass_store_time(true[2].acquired_at_ms + WORKED_MS)
    for holder, contact, lease in (skewed, true):
        renewed = holder.renew(contact, lease)
        if race.expect(f"{holder.id}'s renewal of a live lease", renewed, Lease):
            after = _leased(renewed).expires_at_ms >= lease.expires_at_ms
            race.require(f"{holder.id}'s renewal ends later", wanted=True, observed=after)
    race.expect(
        f"{skewed[0].id}'s claim of a held contact", skewed[0].acquire(true[1]), Code.CONTACT_OWNED
    )
    race.expect(
        f"{true[0].id}'s claim of a held contact", true[0].acquire(skewed[1]), Code.CONTACT_OWNED
    )


def _over(race: Race, skewed: Held, true: Held) -> None:
    """A lease that is over can't be renewed and is granted to the next, whoever is skewed."""
    for holder, contact, lease in (skewed, true):
        renewed = holder.renew(contact, lease)
        race.expect(f"{holder.id}'s renewal after the end", renewed, *OVER)
    race.expect(f"{skewed[0].id}'s claim of a free contact", skewed[0].acquire(true[1]), Lease)
    race.expect(f"{true[0].id}'s claim of a free contact", true[0].acquire(skewed[1]), Lease)


def _skew(actor: Actor, how: str) -> None:
    actor.skew(-HOUR_S if how == "behind" else HOUR_S)


def _leased(answer: Answer) -> Lease:
    assert isinstance(answer, Lease)
    return answer
