"""Race X3: a renewal comes after the lease's end, or has to carry past its first end.

Property: a lease that is over is never revived, wanted by another or not; the new end of a live one
is computed from the store's now (spec: L6, L5). Legal: ``grant, the lease ends, renew ->
lease_expired``. Illegal: the renewal is granted; or a renewal says yes and the lease ends when it
always did.
Isolation: nothing is sent, so neither fence nor cooldown can stand in for the renewal's own check.

Twins caught: `without_renewal_limit`, `without_renewal_from_now` and `without_token_kept_at_renewal`,
all by `leases.renewal_holds`. Public reports: B16, B17, B18.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Lease, Refused, Released, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, store_now_ms

SHORT = Settings(lease_s=0.1, cooldown_s=0.0)
LONGER = Settings(lease_s=0.8, cooldown_s=0.0)
TRIES_MAX = 3
OVER = "a renewal came after the lease's end"
OUTLIVED = "a renewed lease was asked for after its first end"
REFUSED = (Code.LEASE_EXPIRED, Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN)


@scenario(
    number=10,
    title="a renewal comes late, or must carry past the first end",
    spec=("X3", "L5", "L6"),
    expected="a lease that is over stays over; a renewal counts from now",
    needs={Capability.LEASE},
    settings=SHORT,
    variants=(
        Variant(name="nobody came", windows=(OVER,)),
        Variant(name="somebody came and went", windows=(OVER,)),
        Variant(name="somebody holds it", windows=(OVER,)),
        Variant(name="renewed in time", settings=LONGER, windows=(OUTLIVED,)),
    ),
    masked_by="another agent that takes over: then the token is stale and refused for that",
    group="beyond",
)
def late_renewal(race: Race) -> None:
    """Renew after the end, or twice before it, and ask whether the lease lives."""
    first = race.agents[0]
    for _ in range(TRIES_MAX):
        contact = race.contact()
        lease = claimed(race, first, contact)
        if lease is None:
            return
        if race.variant != "renewed in time":
            _over(race, contact, lease)
            return
        if _in_time(race, contact, lease):
            return


def _over(race: Race, contact: Contact, lease: Lease) -> None:
    """The lease ends; it stays over, wanted by another or not."""
    first = race.agents[0]
    race.pass_store_time(lease.expires_at_ms)
    if race.variant != "nobody came" and not _come(race, contact):
        return
    race.window(OVER)
    race.expect(f"{first.id}'s renewal after the end", first.renew(contact, lease), *REFUSED)
    race.expect(f"{first.id}'s second try", first.renew(contact, lease), *REFUSED)


def _come(race: Race, contact: Contact) -> bool:
    """Another agent is granted the contact; it may be done with it already."""
    second = race.agents[1]
    taken = claimed(race, second, contact, when="after the lease's end")
    if taken is None or race.variant == "somebody holds it":
        return taken is not None
    released = second.release(contact, taken)
    return race.expect(
        f"{second.id}'s release", released, Released, Code.LEASE_EXPIRED, Code.NOT_HOLDER
    )


def _in_time(race: Race, contact: Contact, lease: Lease) -> bool:
    """Two renewals, each half a lease after the last; then the lease outlives its first end.

    False if a renewal came too late, as it may on a crowded machine: then nothing was tested. A
    mailbox that ends a renewed lease early is found by its answers, which say when it ends.
    """
    first, second = race.agents[0], race.agents[1]
    half_ms = round(race.settings.lease_s * 500)
    renewed: Lease = lease
    for count in ("first", "second"):
        race.pass_store_time(store_now_ms(race, renewed) + half_ms)
        answer = first.renew(contact, renewed)
        if isinstance(answer, Refused) and answer.code is Code.LEASE_EXPIRED:
            return False
        if not race.expect(f"{first.id}'s {count} renewal", answer, Lease):
            return True
        assert isinstance(answer, Lease)
        renewed = answer
    race.require("the token after renewals", wanted=lease.token, observed=renewed.token)
    race.pass_store_time(lease.expires_at_ms)
    race.window(OUTLIVED)
    owned = second.acquire(contact)
    race.expect(f"{second.id}'s claim of a renewed lease", owned, Code.CONTACT_OWNED)
    return True
