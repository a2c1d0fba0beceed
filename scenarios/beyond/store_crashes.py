"""Race: the store crashes and comes back while agents work.

Property: what was acknowledged is still there (the lease, the completed key, the list entry), tokens go
on where they were, and what was under way happened as a whole or not at all (spec: L4, K2, C1, S6).
Legal: ``grant 41, the store crashes, the holder renews, release, grant 42``. Illegal: ``grant 41, the
store crashes, grant 1``; or ``send k -> sent, the store crashes, send k -> sent``, twice in the mailbox.
Isolation: cooldown 0; no agent crashes, so nothing is lost but what the store itself had not kept.

Twin caught: `without_durable_store`, by `tokens.rise` or `suppression.wins`. Public reports: B4, B10.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Answer,
    Capability,
    Code,
    Lease,
    NoReply,
    Noted,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, handed_on, released

CRASHED = "the store crashed"


@scenario(
    number=54,
    title="the store crashes and comes back",
    spec=("L4", "L9", "K2", "C1", "S6"),
    expected="nothing acknowledged is lost; tokens go on rising",
    needs={Capability.CRASH_STORE, Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=Settings(lease_s=60.0, cooldown_s=0.0),
    variants=(
        Variant(name="between calls", needs=frozenset({Capability.IDEMPOTENCY})),
        Variant(name="list entry", needs=frozenset({Capability.SUPPRESS})),
        Variant(name="in a claim", points=frozenset({"acquire.granted"})),
        Variant(
            name="in a send",
            needs=frozenset({Capability.IDEMPOTENCY}),
            points=frozenset({"send.dispatching"}),
        ),
    ),
    windows=(CRASHED,),
    masked_by="stores that never crash",
    group="beyond",
)
def store_crashes(race: Race) -> None:
    """Crash the store, then ask for everything again."""
    contact = race.contact()
    {
        "between calls": _between_calls,
        "list entry": _list_entry,
        "in a claim": _in_a_claim,
        "in a send": _in_a_send,
    }[race.variant](race, contact)


def _crash(race: Race) -> None:
    race.crash_store()
    race.window(CRASHED)


def _between_calls(race: Race, contact: Contact) -> None:
    """Lease, key and counter are as they were."""
    first, second = race.agents[0], race.agents[1]
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    race.expect(f"{first.id}'s send", first.send(contact, message), Sent)
    _crash(race)
    race.expect(f"{second.id}'s claim", second.acquire(contact), Code.CONTACT_OWNED)
    race.expect(f"{first.id}'s retry", first.send(contact, message), Sent)
    race.expect(f"{first.id}'s renewal", first.renew(contact, lease), Lease)
    newer = handed_on(race, contact, first, lease, second)
    if newer is not None:
        race.require("a token above the first", wanted=True, observed=newer.token > lease.token)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _list_entry(race: Race, contact: Contact) -> None:
    """An opt-out that was noted binds everybody."""
    first, second = race.agents[0], race.agents[1]
    race.expect(f"{second.id}'s opt-out", second.suppress(contact), Noted)
    _crash(race)
    lease = claimed(race, first, contact, when="of an unwilling contact")
    if lease is not None:
        answer = first.send(contact, race.message(contact, lease=lease))
        race.expect(f"{first.id}'s send", answer, Code.SUPPRESSED)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))


def _in_a_claim(race: Race, contact: Contact) -> None:
    """The claim was written and not yet kept: it counts as a whole or not at all."""
    first, second = race.agents[0], race.agents[1]
    earlier = claimed(race, first, contact)
    if earlier is None:
        return
    released(race, first, contact, earlier)
    hold = first.hold_at("acquire.granted")
    claiming = first.start(first.later.acquire(contact))
    hold.wait()
    _crash(race)
    hold.resume()
    told = claiming.answer()
    race.expect(f"{first.id}'s claim in the crash", told, Lease, NoReply, Code.STORE_BUSY)
    wanted = (Code.CONTACT_OWNED,) if isinstance(told, Lease) else (Lease,)
    newer: Answer = second.acquire(contact)
    race.expect(f"{second.id}'s claim after it", newer, *wanted)
    for lease in (told, newer):
        if isinstance(lease, Lease):
            higher = lease.token > earlier.token
            race.require("a token above the first", wanted=True, observed=higher)


def _in_a_send(race: Race, contact: Contact) -> None:
    """The message is about to be handed over; whatever is kept, it leaves once."""
    first, second = race.agents[0], race.agents[1]
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    hold = first.hold_at("send.dispatching")
    sending = first.start(first.later.send(contact, message))
    hold.wait()
    _crash(race)
    race.expect(f"{second.id}'s claim", second.acquire(contact), Code.CONTACT_OWNED)
    hold.resume()
    race.expect(f"{first.id}'s send", sending.answer(), Sent, Code.SEND_STATUS_UNKNOWN, NoReply)
    race.expect(f"{first.id}'s retry", first.send(contact, message), Sent, Code.SEND_STATUS_UNKNOWN)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))
