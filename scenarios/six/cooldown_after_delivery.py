"""Race 5: a delivery sets a cooldown, the first agent releases, a second acquires and sends.

Property: the cooldown belongs to the contact and binds every agent; a release does not clear it
(spec: C2, S5, S9). Legal: ``A sends, A releases, B acquires, B sends -> cooldown_active``. Illegal:
B's mail leaves.
Isolation: B holds a live lease, the right token and a fresh key, so only the cooldown can refuse.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Lease, Released, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

HANDED_ON = "another agent held the lease inside the cooldown"


@scenario(
    number=5,
    title="a second agent writes inside the first one's cooldown",
    spec=("C2", "S5", "S9", "T"),
    expected="its send is `cooldown_active`",
    needs={Capability.LEASE, Capability.SEND, Capability.COOLDOWN},
    settings=Settings(lease_s=60.0, cooldown_s=60.0),
    variants=(Variant(name="handed on", rounds=2), Variant(name="in another spelling")),
    windows=(HANDED_ON,),
    masked_by="a lease that is still held would refuse the second agent before the cooldown is asked",
    group="six",
)
def cooldown_after_delivery(race: Race) -> None:
    """One agent writes and hands the contact on; each further agent is told to wait."""
    first, others = race.agents[0], race.agents[1:]
    contact = race.contact("{user}@example.com", "{User}@Example.COM")
    spelling = 1 if race.variant == "in another spelling" else 0
    lease = first.acquire(contact)
    if not race.expect(f"{first.id}'s claim of a fresh contact", lease, Lease):
        return
    assert isinstance(lease, Lease)
    sent = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s send", sent, Sent)
    race.expect(f"{first.id}'s release", first.release(contact, lease), Released)
    for agent in (*others, first):
        taken = agent.acquire(contact, spelling)
        if not race.expect(f"{agent.id}'s claim after the release", taken, Lease):
            return
        assert isinstance(taken, Lease)
        race.window(HANDED_ON)
        message = race.message(contact, lease=taken, spelling=spelling)
        answer = agent.send(contact, message)
        race.expect(f"{agent.id}'s send inside the cooldown", answer, Code.COOLDOWN_ACTIVE)
        race.expect(f"{agent.id}'s release", agent.release(contact, taken), Released)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))
