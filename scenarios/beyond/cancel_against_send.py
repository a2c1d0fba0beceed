"""Race X17: a message is sent and cancelled at the same time.

Property: one of the two wins, and the answer is true: `cancelled` means that nothing of this key is ever
delivered, neither by the send that is under way nor by a later one; any other state means that the
cancellation came too late (spec: X17, S8). Legal: ``A send k recorded, B cancel k -> cancelled, A send
k -> send_cancelled``. Illegal: ``B cancel k -> cancelled``, and the mail arrives; or "sent" is written
over "cancelled".
Isolation: cooldown 0, live leases, right tokens, so that nothing else can stop the message.

Twins caught: `without_true_cancel`, by `cancels.truthful`; `without_lasting_cancel`, by
`cancels.truthful`. Public reports: B102.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Answer,
    Capability,
    Code,
    Found,
    Message,
    Refused,
    SendState,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

MET = "a send and a cancellation met"
HELD = {
    "recorded": "send.recorded",
    "retried afterwards": "send.recorded",
    "handed over": "send.handed_over",
}
CANCELLED = str(SendState.CANCELLED)


@scenario(
    number=52,
    title="a message is sent and cancelled at once",
    spec=("X17", "S8", "K6"),
    expected="one wins, and the answer to the cancellation is true",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY, Capability.CANCEL},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="before the send"),
        Variant(name="at once", rounds=5),
        Variant(name="recorded", points=frozenset({"send.recorded"})),
        Variant(name="retried afterwards", points=frozenset({"send.recorded"})),
        Variant(name="handed over", points=frozenset({"send.handed_over"})),
    ),
    windows=(MET,),
    masked_by="cancellations that come when all is over",
    group="beyond",
    quick=True,
)
def cancel_against_send(race: Race) -> None:
    """Send as one agent, cancel as another; see who won and what arrived."""
    first, second = race.agents[0], race.agents[1]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    if race.variant == "at once":
        sent, told = race.together(
            first.later.send(contact, message), second.later.cancel(contact, message)
        )
        race.window(MET)
    elif race.variant in HELD:
        hold = first.hold_at(HELD[race.variant])
        pending = first.start(first.later.send(contact, message))
        hold.wait()
        race.window(MET)
        told = second.cancel(contact, message)
        hold.resume()
        sent = pending.answer()
    else:
        told = second.cancel(contact, message)
        race.window(MET)
        sent = first.send(contact, message)
    if race.variant == "retried afterwards":
        sent = first.send(contact, message)
    _judged(race, contact, message, sent, told)


def _judged(race: Race, contact: Contact, message: Message, sent: Answer, told: Answer) -> None:
    """The two answers and what arrived have to agree."""
    if isinstance(told, Refused) and told.code is Code.STORE_BUSY:
        return  # nothing happened, and nothing was said about the message
    if not race.expect("the cancellation", told, Found):
        return
    won = isinstance(told, Found) and told.state is SendState.CANCELLED
    if race.variant != "at once":
        wanted = race.variant != "handed over"
        race.require("a cancellation that wins", wanted=wanted, observed=won)
    race.expect("the send", sent, Code.SEND_CANCELLED if won else Sent)
    found = (
        race.agents[1].lookup(contact, message) if Capability.LOOKUP in race.capabilities else None
    )
    if isinstance(found, Found):
        state = CANCELLED if won else str(SendState.DELIVERED)
        race.require("what a look-up says", wanted=state, observed=str(found.state))
    race.require("messages that arrived", wanted=0 if won else 1, observed=race.deliveries(contact))
