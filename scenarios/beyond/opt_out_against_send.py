"""Race X17: a send is called off while it is under way.

Property: one of the two wins, and both answers are true: a send that was called off in time does not
arrive, one that was acknowledged does, and what was refused never left (spec: S4, S8, C1). Legal:
``send invoked, suppress -> noted, send -> suppressed`` with nothing delivered, or ``send -> sent``
with one message. Illegal: the send is answered `suppressed` and the mail arrives.
Isolation: cooldown 0, a live lease, the right token: nothing else could refuse the send. The contract
has no call that cancels one message; the opt-out is what calls a send off.

Twins caught: `without_suppression_at_send` and `without_atomic_send`, both by `suppression.wins`.
Public reports: B96, B97, B102.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Answer,
    Capability,
    Code,
    Message,
    Noted,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

MEANWHILE = "the opt-out was written while the send was under way"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0, store_deadline_s=1.0)
POINTS = {"before its checks": "send.normalised", "already handed over": "send.handed_over"}


@scenario(
    number=24,
    title="a send is called off while it is under way",
    spec=("X17", "S4", "S8", "C1"),
    expected="one wins, and the answer is true",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS},
    settings=PLAIN,
    variants=(
        Variant(name="at once", rounds=5),
        Variant(
            name="before its checks",
            points=frozenset({"send.normalised"}),
            windows=(MEANWHILE,),
        ),
        Variant(
            name="already handed over",
            points=frozenset({"send.handed_over"}),
            windows=(MEANWHILE,),
        ),
    ),
    masked_by="an opt-out that comes well before or well after the send",
    group="beyond",
    quick=True,
)
def opt_out_against_send(race: Race) -> None:
    """Send and opt out at one time; compare the answer with what arrived."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    if race.variant == "at once":
        sent, noted = race.together(
            first.later.send(contact, message), second.later.suppress(contact)
        )
        race.expect(f"{first.id}'s send", sent, Sent, Code.SUPPRESSED)
    else:
        sent, noted = _meanwhile(race, contact, message)
        wanted = Sent if race.variant == "already handed over" else Code.SUPPRESSED
        race.expect(f"{first.id}'s send that was overtaken", sent, wanted)
    race.expect(f"{second.id}'s opt-out entry", noted, Noted)
    later = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s next send", later, Code.SUPPRESSED)
    arrived = race.deliveries(contact)
    race.require("messages that arrived", wanted=int(isinstance(sent, Sent)), observed=arrived)


def _meanwhile(race: Race, contact: Contact, message: Message) -> tuple[Answer, Answer]:
    """The opt-out comes while the send stands at its point."""
    first, second = race.agents[0], race.agents[1]
    stop = first.pause_at(POINTS[race.variant])
    sending = first.start(first.later.send(contact, message))
    stop.wait()
    noted = second.suppress(contact)
    race.window(MEANWHILE)
    stop.resume()
    return sending.answer(), noted
