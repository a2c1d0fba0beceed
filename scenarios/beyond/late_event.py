"""Race X16: a bounce that happened before a person cleared the contact is told of afterwards.

Property: an older event never undoes a newer one on the list (spec: C7, X16). Legal: ``opt-out at 1,
cleared at 2, a bounce of 1 is told at 3, send -> sent``. Illegal: the late bounce suppresses again.
Isolation: cooldown 0, a live lease, a fresh key: only the list can refuse the send.

The event's own time is told as ``event_at_ms``; a mailbox whose `suppress` does not take one is not put
through the window.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Lease, NoReply, Noted, Sent, Settings
from leaserace.harness.scenario import Call, Race, Variant, scenario

LATE = "an older event was told after a newer one"


@scenario(
    number=16,
    title="a late bounce is told after a person cleared the contact",
    spec=("C7", "X16"),
    expected="the send goes out: the older event undoes nothing",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(Variant(name="bounce"),),
    windows=(LATE,),
    masked_by="a cooldown or an expired lease would refuse the send for another reason",
    group="beyond",
)
def late_event(race: Race) -> None:
    """Suppress, clear, tell of an older bounce, send."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    noted = first.suppress(contact, "opt-out")
    if not race.expect(f"{first.id}'s opt-out entry", noted, Noted):
        return
    assert isinstance(noted, Noted)
    race.pass_store_time(noted.at_ms + 1)
    race.expect("a person's clearing", first.unsuppress(contact, "person-01"), Noted)
    args = {"address": contact.address, "reason": "bounce", "event_at_ms": noted.at_ms}
    late = Call(actor=second, f="suppress", contact=contact.name, args=args).start().answer()
    if isinstance(late, NoReply):
        return
    race.window(LATE)
    lease = second.acquire(contact)
    if not race.expect(f"{second.id}'s claim", lease, Lease):
        return
    assert isinstance(lease, Lease)
    answer = second.send(contact, race.message(contact, lease=lease))
    race.expect(f"{second.id}'s send after the late bounce", answer, Sent)
