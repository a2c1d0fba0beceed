"""Race C5: messages of several agents to one person are counted on one timeline.

Property: a grant's and a renewal's answer carry how many messages the contact got, from every agent
and in every spelling (spec: C5, I1). Legal: ``A sends, B sends, C acquire -> load 2, renew -> load
2``. Illegal: each agent sees its own messages only, or the count goes with the lease.
Isolation: cooldown 0, so that nothing keeps the messages from being sent.

Twins caught: `without_cooldown_after_release`, by `scenario.expected`; `without_case_folding`, by
`contacts.one_key`; `without_shared_load`, by `leases.load_counted`. Public reports: B65, B66.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Lease, Noted, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, released

COUNTED = "a renewal told of messages of other agents"


@scenario(
    number=34,
    title="messages of several agents are counted together",
    spec=("C5", "I1"),
    expected="the renewal's answer carries the load of all agents",
    needs={Capability.LEASE, Capability.SEND, Capability.CONTACT_LOAD},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="one spelling"),
        Variant(name="in other spellings"),
        Variant(name="by other channels"),
    ),
    windows=(COUNTED,),
    masked_by="agents that each keep their own count",
    group="beyond",
)
def contact_load(race: Race) -> None:
    """Each agent in turn claims, is told the load, sends and releases."""
    contact = race.contact("{user}@example.com", "{User}@Example.COM")
    mixed = race.variant == "in other spellings"
    for count, agent in enumerate(race.agents):
        spelling = count % 2 if mixed else 0
        lease = claimed(race, agent, contact, spelling, "of a free contact")
        if lease is None:
            return
        if race.variant == "by other channels" and count % 2:
            noted = agent.note_contact(contact, "telephone")
            race.expect(f"{agent.id}'s call by telephone", noted, Noted)
        else:
            sent = agent.send(contact, race.message(contact, lease=lease, spelling=spelling))
            race.expect(f"{agent.id}'s send", sent, Sent)
        renewed = agent.renew(contact, lease, spelling)
        if not race.expect(f"{agent.id}'s renewal", renewed, Lease):
            return
        assert isinstance(renewed, Lease)
        race.require("the load that is told", wanted=count + 1, observed=renewed.contact_load)
        released(race, agent, contact, lease, spelling)
    race.window(COUNTED)
