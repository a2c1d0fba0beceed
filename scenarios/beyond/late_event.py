"""Race X16, and C7: an event is told late, or told again, after a newer one about the same person.

Property: an older event never undoes a newer one on the list, whichever way the two point (spec: C7,
X16, X20). Legal: ``opt-out at 1, cleared at 2, a bounce of 1 is told at 3, send -> sent``; ``opt-out
at 1, complaint at 3, a clearing of 2 is told at 4, send -> suppressed``. Illegal: the late bounce
suppresses again; the late clearing takes the complaint away.
Isolation: cooldown 0, a live lease, a fresh key: only the list can refuse the send.

The event's own time is told as ``event_at_ms``; a mailbox whose `suppress` does not take one is not put
through the window.

Twins caught: `without_event_order`, by `scenario.expected`, and by `suppression.wins` where a complaint
is undone; `without_suppression_before_release`, by `suppression.wins`. Public reports: B70, B100, B101.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaserace.harness.contract import Answer, Capability, Code, NoReply, Noted, Sent, Settings
from leaserace.harness.scenario import Call, Contact, Race, Variant, scenario

from .steps import claimed

LATE = "an older event was told after a newer one"


@scenario(
    number=23,
    title="an event is told after a newer one about the same person",
    spec=("C7", "X16", "X20"),
    expected="the newer one stands: sent once it was cleared, `suppressed` after a complaint",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="clearing"),
        Variant(name="bounce"),
        Variant(name="the opt-out told again"),
    ),
    windows=(LATE,),
    masked_by="a cooldown or an expired lease would refuse the send for another reason",
    group="beyond",
)
def late_event(race: Race) -> None:
    """Suppress; clear, or complain; tell of an older event; send."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    noted = first.suppress(contact, "opt-out")
    if not race.expect(f"{first.id}'s opt-out entry", noted, Noted):
        return
    assert isinstance(noted, Noted)
    race.pass_store_time(noted.at_ms + 2)
    clearing = race.variant == "clearing"
    if clearing:
        race.expect("a newer complaint", first.suppress(contact, "complaint"), Noted)
    else:
        race.expect("a person's clearing", first.unsuppress(contact, "person-01"), Noted)
    if isinstance(_told_late(race, contact, noted.at_ms), NoReply):
        return
    race.window(LATE)
    lease = claimed(race, second, contact)
    if lease is None:
        return
    answer = second.send(contact, race.message(contact, lease=lease))
    wanted = Code.SUPPRESSED if clearing else Sent
    race.expect(f"{second.id}'s send after the late event", answer, wanted)
    race.require(
        "messages that arrived", wanted=int(not clearing), observed=race.deliveries(contact)
    )


def _told_late(race: Race, contact: Contact, opted_out_ms: int) -> Answer:
    """Another agent tells of an event that lies before the newest one."""
    second = race.agents[1]
    what: Mapping[str, Any]
    match race.variant:
        case "clearing":
            f, what = "unsuppress", {"person": "person-01", "event_at_ms": opted_out_ms + 1}
        case "bounce":
            f, what = "suppress", {"reason": "bounce", "event_at_ms": opted_out_ms}
        case _:
            f, what = "suppress", {"reason": "opt-out", "event_at_ms": opted_out_ms}
    args = {"address": contact.address, **what}
    return Call(actor=second, f=f, contact=contact.name, args=args).start().answer()
