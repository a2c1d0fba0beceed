"""Race X10: a failure after the effect, and one before it, meet the same key again.

Property: an error after the hand-over never frees the key, however late and by whomever it is tried
again; proof that nothing was taken does (spec: K10, S8, S9). Legal: ``send k -> send_status_unknown,
later send k -> send_status_unknown``; ``send k -> refused by the receiving side, send k -> sent``.
Illegal: the second mail of an unknown send.
Isolation: cooldown 0; the retry comes under a new lease and long after every deadline, so that only
the stored outcome can stop it.

Twins caught: `without_key_after_failure`, `without_unknown_state` and `without_key_before_delivery`,
all by `sends.once`; `without_retry_after_refusal`, by `scenario.expected`;
`without_refusal_by_receiver`, by `sends.arrived`. Public reports: B44, B45, B46, B76, B77, B108.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Capability,
    Code,
    Lease,
    Message,
    NoReply,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, handed_on, store_now_ms

FAILED = "the same key came after a failure"
UNKNOWN = (Code.SEND_STATUS_UNKNOWN, NoReply)
PAST_DEADLINES_MS = 1000


@scenario(
    number=17,
    title="a key is tried again after a failure",
    spec=("X10", "K10", "S8", "S9"),
    expected="unknown stays unknown; a sure refusal may be tried again",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0, transport_timeout_s=0.3, store_deadline_s=0.15),
    variants=(Variant(name="after the effect"), Variant(name="before the effect")),
    windows=(FAILED,),
    masked_by="a cooldown; a transport that always answers",
    group="beyond",
)
def failure_keeps_the_key(race: Race) -> None:
    """Fail, then try the same key again: later, under a new lease, by another agent."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    after = race.variant == "after the effect"
    race.transport("silent" if after else "refuse")
    answer = first.send(contact, message)
    race.transport("accept")
    if after:
        race.expect(f"{first.id}'s send that was not answered", answer, *UNKNOWN)
        _unknown(race, contact, lease, message)
    else:
        race.expect(f"{first.id}'s send that was refused", answer, Code.INVALID_MESSAGE, *UNKNOWN)
        race.window(FAILED)
        race.expect("a retry of what was refused", first.send(contact, message), Sent)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _unknown(race: Race, contact: Contact, lease: Lease, message: Message) -> None:
    """Past every deadline, under a new lease of another agent, the outcome is still unknown."""
    first, second = race.agents[0], race.agents[1]
    race.pass_store_time(store_now_ms(race, lease) + PAST_DEADLINES_MS)
    race.window(FAILED)
    retry = first.send(contact, message)
    race.expect(f"{first.id}'s late retry", retry, Sent, Code.SEND_STATUS_UNKNOWN)
    taken = handed_on(race, contact, first, lease, second)
    if taken is None:
        return
    retry = second.send(contact, message)
    race.expect(f"{second.id}'s retry", retry, Sent, Code.SEND_STATUS_UNKNOWN)
