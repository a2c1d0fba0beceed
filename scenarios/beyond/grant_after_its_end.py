"""Race X19: a grant reaches its agent after the lease has ended.

Property: such a grant is worth nothing: what is sent under it is refused (spec: L8, L5, S3). Legal:
``acquire granted, the answer arrives after the end, send -> lease_expired``. Illegal: the mail leaves;
or the end is counted from when the answer arrived.
Isolation: cooldown 0, one message, the right token; in one variant nobody else came, so that only the
end of the lease can refuse.

Twins caught: `without_expiry_check`, by `scenario.expected`; `without_fencing_check`, by
`tokens.stale_never_sends`; `without_renewal_limit`, by `leases.renewal_holds`. Public reports: B22.
"""

from __future__ import annotations

from leaserace.harness.contract import Answer, Capability, Code, Lease, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

LATE = "a grant arrived after its own end"
ENDED = (Code.LEASE_EXPIRED, Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN)
WELL_PAST_MS = 60
"""So that the lease is over by every clock the judge may reckon with."""


@scenario(
    number=26,
    title="a grant arrives after its own end",
    spec=("X19", "L5", "L8", "S3"),
    expected="the grant is worth nothing: nothing leaves under it",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=Settings(lease_s=0.15, cooldown_s=0.0),
    variants=(Variant(name="nobody else came"), Variant(name="another took over")),
    windows=(LATE,),
    masked_by="a takeover: then the token is stale, whatever the end says",
    group="beyond",
)
def grant_after_its_end(race: Race) -> None:
    """Hold the grant's answer back past the lease's end, then use it as if it were new."""
    first = race.agents[0]
    contact = race.contact()
    answer = _late_grant(race, contact)
    if not race.expect(f"{first.id}'s claim of a fresh contact", answer, Lease):
        return
    assert isinstance(answer, Lease)
    taken_over = race.variant == "another took over"
    race.window(LATE)
    sent = first.send(contact, race.message(contact, lease=answer))
    wanted = Code.STALE_FENCING_TOKEN if taken_over else Code.LEASE_EXPIRED
    race.expect(f"{first.id}'s send under the late grant", sent, wanted)
    race.expect(f"{first.id}'s renewal of it", first.renew(contact, answer), *ENDED)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))


def _late_grant(race: Race, contact: Contact) -> Answer:
    """The agent stands with the answer in its hand until the lease is over."""
    first, second = race.agents[0], race.agents[1]
    gauge = race.contact()
    stop = first.pause_at("acquire.returned")
    acquiring = first.start(first.later.acquire(contact))
    stop.wait()
    # Granted later and as long, so it ends no earlier than the one that nobody has seen yet.
    later = claimed(race, second, gauge)
    if later is not None:
        race.pass_store_time(later.expires_at_ms + WELL_PAST_MS)
    if race.variant == "another took over":
        claimed(race, second, contact, when="after the lease's end")
    stop.resume()
    return acquiring.answer()
