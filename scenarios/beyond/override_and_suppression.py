"""Race C4, suppression against override: a person overrides for somebody who is on the list.

Property: an override skips the cooldown and nothing else; the list beats it, in whichever order the
two came (spec: C1, C4, S4, S7). Legal: ``suppress, override, send -> suppressed``. Illegal: the mail
leaves.
Isolation: a live lease, the right token, fresh keys; the cooldown is off in two variants, since one
that runs would use the override up before the second look at the list.

Twin caught: `without_suppression_over_override`, by `suppression.wins`. Public reports: B96, B101.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Capability, Code, Noted, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed

BOTH = "an override and a suppression held at one time"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0)


@scenario(
    number=33,
    title="a person overrides for somebody who is on the list",
    spec=("C1", "C4", "S4", "S7"),
    expected="`suppressed`; nothing leaves",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS, Capability.OVERRIDE},
    settings=PLAIN,
    variants=(
        Variant(name="listed, then overridden"),
        Variant(name="overridden, then listed"),
        Variant(
            name="inside a cooldown",
            needs=frozenset({Capability.COOLDOWN}),
            settings=replace(PLAIN, cooldown_s=60.0),
        ),
    ),
    windows=(BOTH,),
    masked_by="a cooldown, for which the override is used up before the second look",
    group="beyond",
)
def override_and_suppression(race: Race) -> None:
    """List and override one person, in either order, and send."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    cooling = race.variant == "inside a cooldown"
    if cooling:
        sent = first.send(contact, race.message(contact, lease=lease))
        race.expect(f"{first.id}'s send that sets a cooldown", sent, Sent)
    changes = [second.later.suppress(contact), second.later.override(contact, "person-01", "reply")]
    if race.variant == "overridden, then listed":
        changes.reverse()
    for change in changes:
        race.expect(f"{second.id}'s {change.f}", change.start().answer(), Noted)
    race.window(BOTH)
    for agent in (first, race.replica(first)):
        answer = agent.send(contact, race.message(contact, lease=lease))
        race.expect(f"{first.id}'s send", answer, Code.SUPPRESSED)
    race.require("messages that arrived", wanted=int(cooling), observed=race.deliveries(contact))
