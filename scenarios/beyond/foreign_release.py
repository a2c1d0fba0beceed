"""Race X2: a release that is late, or somebody else's, arrives while another agent holds the lease.

Property: a release frees the caller's own live lease and nothing else, and says so (spec: L7, S3).
Legal: ``A releases, grant to B, A releases -> stale_fencing_token, C claims -> contact_owned``.
Illegal: B's lease is gone and C is granted the contact while B works on it.
Isolation: nothing expires after the takeover and nothing is sent before the last claim, so that
neither expiry nor fence can hide a lease that was freed.

Twins caught: `without_release_owner` and `without_owner_check`, by `leases.release_by_holder`;
`without_release_token`, by that or by `leases.one_live`. Public reports: B1, B2, B4, B30.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Answer, Capability, Code, Lease, Released, Sent, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

FOREIGN = "a lease was live when somebody else released it"
REFUSED = (Code.LEASE_EXPIRED, Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN)
LONG = Settings(lease_s=60.0, cooldown_s=0.0)


@scenario(
    number=9,
    title="a stale or foreign release comes while another agent holds the lease",
    spec=("X2", "L7", "S3"),
    expected="the release is refused and the lease lives on",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=LONG,
    variants=(
        Variant(name="after an own release"),
        Variant(name="delayed on its way"),
        Variant(name="by a bystander with a guess"),
        Variant(name="by a bystander with the token"),
    ),
    windows=(FOREIGN,),
    masked_by="agents that release once and in time",
    group="beyond",
    quick=True,
)
def foreign_release(race: Race) -> None:
    """Release what another agent holds; the holder works on and nobody else is granted it."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    match race.variant:
        case "after an own release":
            first.release(contact, lease)
            held = claimed(race, second, contact, when="after the release")
            answer = first.release(contact, lease)
        case "delayed on its way":
            held, answer = _delayed(race, contact, lease)
        case _:
            held = lease
            guess = lease.token + (race.variant == "by a bystander with a guess")
            answer = second.release(contact, replace(lease, token=guess))
    if held is None:
        return
    race.window(FOREIGN)
    race.expect("the release of a lease that is another's", answer, *REFUSED)
    holder, other = (second, first) if held is not lease else (first, second)
    race.expect(
        f"{holder.id}'s send", holder.send(contact, race.message(contact, lease=held)), Sent
    )
    race.expect(f"{other.id}'s claim of a held contact", other.acquire(contact), Code.CONTACT_OWNED)


def _delayed(race: Race, contact: Contact, lease: Lease) -> tuple[Lease | None, Answer]:
    """The release is still under way when a replica's has freed the lease for another agent."""
    first, second = race.agents[0], race.agents[1]
    stop = first.pause_at("release.invoked")
    releasing = first.start(first.later.release(contact, lease))
    stop.wait()
    freed = race.replica(first).release(contact, lease)
    race.expect(f"the release of {first.id}'s replica", freed, Released)
    held = claimed(race, second, contact, when="after the release")
    stop.resume()
    return held, releasing.answer()
