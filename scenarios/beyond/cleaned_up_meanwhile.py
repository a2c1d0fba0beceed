"""Races X9, X10 and X11: old rows are cleaned up while what they stand for still matters.

Property: clean-up removes nothing that a later answer depends on, and takes part in no race: token
counters, the list and sends of unknown outcome stay for ever, a completed key for its whole window, and a
contact that is claimed while the clean-up runs keeps its lease (spec: L4, K5, K10, C1). Legal: ``grant
41, its end, clean-up, grant 42``. Illegal: ``grant 41, its end, clean-up, grant 1``; or ``send k ->
sent, clean-up, send k -> sent``, twice in the mailbox.
Isolation: rows are kept for no longer than they must be, cooldown 0.

Twins caught: `without_kept_counters`, by `tokens.rise`; `without_kept_keys`, by `sends.once`;
`without_kept_unknown`, by `scenario.expected`; `without_kept_list`, by `suppression.wins`;
`without_atomic_clean_up`, by `leases.one_live`. Public reports: B4, B10, B33.
"""

from __future__ import annotations

from leaserace.harness.contract import (
    Capability,
    Cleaned,
    Code,
    Lease,
    Noted,
    Refused,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Actor, Contact, Race, Variant, scenario

from .steps import claimed, store_now_ms

CLEANED = "old rows were removed"
MEANWHILE = "a contact was claimed while old rows were removed"
SHORT = Settings(lease_s=0.3, cooldown_s=0.0, keep_rows_s=0.0)
KEYED = frozenset({Capability.SEND, Capability.IDEMPOTENCY})


@scenario(
    number=53,
    title="old rows are cleaned up while they still matter",
    spec=("X9", "X10", "X11", "L4", "K5", "K10", "C1"),
    expected="nothing that a later answer depends on is gone",
    needs={Capability.CLEAN_UP, Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=Settings(lease_s=60.0, cooldown_s=0.0, keep_rows_s=0.0),
    variants=(
        Variant(name="token counter", settings=SHORT, windows=(CLEANED,)),
        Variant(name="completed key", needs=KEYED, windows=(CLEANED,)),
        Variant(
            name="unknown outcome",
            needs=KEYED,
            settings=Settings(
                lease_s=60.0,
                cooldown_s=0.0,
                key_window_s=0.3,
                transport_timeout_s=0.4,
                keep_rows_s=0.0,
            ),
            windows=(CLEANED,),
        ),
        Variant(name="list entry", needs=frozenset({Capability.SUPPRESS}), windows=(CLEANED,)),
        Variant(
            name="claimed meanwhile",
            points=frozenset({"clean_up.read"}),
            settings=Settings(lease_s=1.0, cooldown_s=0.0, keep_rows_s=0.0),
            windows=(MEANWHILE,),
        ),
    ),
    masked_by="rows that are kept for days",
    group="beyond",
)
def cleaned_up_meanwhile(race: Race) -> None:
    """Bring something to its end, clean up, and see whether it still counts."""
    contact = race.contact()
    lease = claimed(race, race.agents[0], contact)
    if lease is not None:
        _VARIANTS[race.variant](race, contact, lease)


def _cleaned(race: Race, agent: Actor) -> None:
    race.expect(f"{agent.id}'s clean-up", agent.clean_up(), Cleaned)
    race.window(CLEANED)


def _counter(race: Race, contact: Contact, lease: Lease) -> None:
    """The lease ends and its row goes; the counter stays."""
    first, second = race.agents[0], race.agents[1]
    race.pass_store_time(lease.expires_at_ms)
    _cleaned(race, second)
    newer = claimed(race, second, contact, when="after the clean-up")
    if newer is None:
        return
    race.require("a token above the first", wanted=True, observed=newer.token > lease.token)
    answer = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s draft from its first lease", answer, Code.STALE_FENCING_TOKEN)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))


def _completed_key(race: Race, contact: Contact, lease: Lease) -> None:
    """A completed send stays for its whole window."""
    first, second = race.agents[0], race.agents[1]
    message = race.message(contact, lease=lease)
    race.expect(f"{first.id}'s send", first.send(contact, message), Sent)
    _cleaned(race, second)
    race.expect(f"{first.id}'s retry after the clean-up", first.send(contact, message), Sent)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _unknown_outcome(race: Race, contact: Contact, lease: Lease) -> None:
    """What may have arrived is never sent again, however old its record is."""
    first, second = race.agents[0], race.agents[1]
    message = race.message(contact, lease=lease)
    race.transport("silent")
    answer = first.send(contact, message)
    race.transport("accept")
    race.expect(f"{first.id}'s send", answer, Code.SEND_STATUS_UNKNOWN)
    race.pass_store_time(store_now_ms(race, lease) + 1_500)
    _cleaned(race, second)
    again = first.send(contact, message)
    race.expect(f"{first.id}'s retry after the clean-up", again, Code.SEND_STATUS_UNKNOWN)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _list_entry(race: Race, contact: Contact, lease: Lease) -> None:
    """A suppression never expires by itself."""
    first, second = race.agents[0], race.agents[1]
    race.expect(f"{second.id}'s opt-out", second.suppress(contact), Noted)
    _cleaned(race, second)
    answer = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s send after the clean-up", answer, Code.SUPPRESSED)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))


def _claimed_meanwhile(race: Race, contact: Contact, lease: Lease) -> None:
    """The clean-up has read the old lease when the contact is claimed anew."""
    first, second = race.agents[0], race.agents[1]
    race.pass_store_time(lease.expires_at_ms)
    hold = second.hold_at("clean_up.read")
    cleaning = second.start(second.later.clean_up())
    hold.wait()
    race.window(MEANWHILE)
    newer = first.acquire(contact)
    hold.resume()
    race.expect(f"{second.id}'s clean-up", cleaning.answer(), Cleaned)
    if isinstance(newer, Refused) and newer.code is Code.STORE_BUSY:
        newer = first.acquire(contact)
    if race.expect(f"{first.id}'s claim meanwhile", newer, Lease):
        race.expect(f"{second.id}'s claim", second.acquire(contact), Code.CONTACT_OWNED)


_VARIANTS = {
    "token counter": _counter,
    "completed key": _completed_key,
    "unknown outcome": _unknown_outcome,
    "list entry": _list_entry,
    "claimed meanwhile": _claimed_meanwhile,
}
