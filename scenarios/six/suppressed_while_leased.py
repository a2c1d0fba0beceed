"""Race 4: the recipient goes on the suppression list while an agent holds the lease.

Property: suppression is read at the send, not at the claim, and beats a live lease (spec: C1, S4,
S8). Legal: ``grant to A, suppress by B, A sends -> suppressed``. Illegal: A's mail leaves.
Isolation: cooldown 0, long lease, right token: nothing else could refuse the send.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Lease, Noted, Settings
from leaserace.harness.scenario import Race, Variant, scenario

LIVE = "the contact was suppressed while the lease was live"


@scenario(
    number=4,
    title="the recipient is suppressed during an active lease",
    spec=("C1", "S4", "S7", "S8", "T"),
    expected="next send `suppressed` although the lease lives",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="by another agent", rounds=2),
        Variant(name="in another spelling", rounds=2),
        Variant(name="between record and hand-over", points=frozenset({"send.recorded"})),
    ),
    windows=(LIVE,),
    masked_by="an expired lease or a cooldown would refuse the send for another reason",
    group="six",
)
def suppressed_while_leased(race: Race) -> None:
    """Suppress the contact under a live lease; the holder's send is refused, its lease lives on."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact("{user}@example.com", "{User}@EXAMPLE.com")
    lease = first.acquire(contact)
    if not race.expect(f"{first.id}'s claim of a fresh contact", lease, Lease):
        return
    assert isinstance(lease, Lease)
    message = race.message(contact, lease=lease)
    spelling = 1 if race.variant == "in another spelling" else 0
    if race.variant == "between record and hand-over":
        stop = first.pause_at("send.recorded")
        sending = first.start(first.later.send(contact, message))
        stop.wait()
        suppressed = second.suppress(contact, "opt-out", spelling)
        stop.resume()
        answer = sending.answer()
    else:
        suppressed = second.suppress(contact, "opt-out", spelling)
        answer = first.send(contact, message)
    race.expect(f"{second.id}'s opt-out entry", suppressed, Noted)
    race.expect(f"{first.id}'s send under a live lease", answer, Code.SUPPRESSED)
    if race.expect("the lease itself", first.renew(contact, lease), Lease):
        race.window(LIVE)
    retry = first.send(contact, race.message(contact, lease=lease))
    race.expect("a new message under a new key", retry, Code.SUPPRESSED)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))
