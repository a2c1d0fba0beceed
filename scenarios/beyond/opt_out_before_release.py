"""Race C3: an agent learns of an opt-out while it holds the lease, then lets the contact go.

Property: the opt-out stands on the shared list before any lease is released, so nobody writes in
between (spec: C3, C1, S4). Legal: ``A suppress -> noted, A send -> suppressed, A release, B acquire, B
send -> suppressed``. Illegal: the entry is kept until the agent is done, and somebody writes first.
Isolation: cooldown 0, live leases and right tokens: only the list can refuse.

Twin caught: `without_suppression_before_release`, by `suppression.wins`. Public reports: B96, B97, B98.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Noted, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, released

IN_BETWEEN = "somebody wrote between the opt-out and the release"


@scenario(
    number=31,
    title="an opt-out is learnt of while the lease is held",
    spec=("C3", "C1", "S4"),
    expected="`suppressed` at once, for the holder, its replicas and the next agent",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(Variant(name="by the holder"), Variant(name="by its replica")),
    windows=(IN_BETWEEN,),
    masked_by="nobody who wants to write before the agent is done",
    group="beyond",
    quick=True,
)
def opt_out_before_release(race: Race) -> None:
    """Note the opt-out, try to send before the release, hand the contact on, try again."""
    first, others = race.agents[0], race.agents[1:]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    sender = first if race.variant == "by the holder" else race.replica(first)
    race.expect(f"{first.id}'s opt-out entry", first.suppress(contact), Noted)
    answer = sender.send(contact, race.message(contact, lease=lease))
    race.window(IN_BETWEEN)
    race.expect("a send before the release", answer, Code.SUPPRESSED)
    released(race, first, contact, lease)
    for agent in others:
        taken = claimed(race, agent, contact, when="after the release")
        if taken is None:
            return
        answer = agent.send(contact, race.message(contact, lease=taken))
        race.expect(f"{agent.id}'s send after the release", answer, Code.SUPPRESSED)
        released(race, agent, contact, taken)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))
