"""Race X8: who lost a claim cleans up after itself.

Property: a refused claim, of a contact or of a key, leaves the winner's alone; only the owner may end
it (spec: L3, L7, K2). Legal: ``grant to A, B claims -> contact_owned, B releases -> not_holder, C
claims -> contact_owned``. Illegal: C is granted, or a third try under A's running key executes.
Isolation: the lease is long and nothing was sent yet, so only the claim itself stands in the way.

Twins caught: `without_claim_protection`, by `leases.one_live`, and `without_key_before_delivery`, by
`sends.once`. Public reports: B40, B76.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Capability, Code, Lease, Sent, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

LOST = "a loser cleaned up while the winner's claim was live"
OWNED = (Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED)
REFUSED = (Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN, Code.LEASE_EXPIRED)


@scenario(
    number=15,
    title="the loser of a claim cleans up",
    spec=("X8", "L3", "L7", "K2"),
    expected="the winner's claim stays",
    needs={Capability.LEASE, Capability.SEND},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="of a contact"),
        Variant(
            name="of a key",
            needs=frozenset({Capability.IDEMPOTENCY}),
            points=frozenset({"send.handed_over"}),
        ),
    ),
    windows=(LOST,),
    masked_by="losers that ask once and go away",
    group="beyond",
    quick=True,
)
def loser_cleans_up(race: Race) -> None:
    """Lose, clean up, and see whether the winner still has what it won."""
    contact = race.contact()
    lease = claimed(race, race.agents[0], contact)
    if lease is None:
        return
    if race.variant == "of a contact":
        _contact(race, contact, lease)
    else:
        _key(race, contact, lease)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _contact(race: Race, contact: Contact, lease: Lease) -> None:
    winner, losers = race.agents[0], race.agents[1:]
    for loser in losers:
        race.expect(f"{loser.id}'s claim of a held contact", loser.acquire(contact), *OWNED)
        # It believes that it was granted the next token and frees what it never had.
        freed = loser.release(contact, replace(lease, token=lease.token + 1))
        race.expect(f"{loser.id}'s release of what it never had", freed, *REFUSED)
        race.expect(f"{loser.id}'s second claim", loser.acquire(contact), *OWNED)
    race.window(LOST)
    race.expect(f"{winner.id}'s renewal", winner.renew(contact, lease), Lease)
    sent = winner.send(contact, race.message(contact, lease=lease))
    race.expect(f"{winner.id}'s send", sent, Sent)


def _key(race: Race, contact: Contact, lease: Lease) -> None:
    """The refused tries of a replica must not end the running one's claim of the key."""
    first = race.agents[0]
    twin = race.replica(first)
    message = race.message(contact, lease=lease)
    stop = first.pause_at("send.handed_over")
    sending = first.start(first.later.send(contact, message))
    stop.wait()
    for count in ("first", "second"):
        answer = twin.send(contact, message)
        race.expect(f"a replica's {count} try", answer, Code.SEND_IN_PROGRESS)
    race.window(LOST)
    stop.resume()
    race.expect(f"{first.id}'s send", sending.answer(), Sent)
    race.expect("a later retry", twin.send(contact, message), Sent)
