"""Race S7, two mechanisms refuse one send: the stronger one is told.

Property: when several refusals hold, the answer carries the strongest: suppressed, stale token, lease
expired, not holder, cooldown (spec: S7, C1, C2). Legal: ``suppressed and stale -> suppressed``.
Illegal: the weaker is told, and an agent that waits for the cooldown to end writes to somebody who
opted out; or nothing is, because each check leaves it to the other.
Isolation: exactly two refusals hold, each made by hand, and nothing is sent but what sets a cooldown.

Twins caught: `without_suppression_at_send`, `without_suppression_before_release`,
`without_fencing_check` and `without_expiry_check`, all by `scenario.expected`: nothing leaves, since the
other refusal still holds. Public reports: B96.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import (
    Capability,
    Code,
    Lease,
    Noted,
    Refused,
    Sent,
    Settings,
)
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, handed_on

BOTH = "two refusals of one send held at one time"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0)
TRIES_MAX = 3
LIST = frozenset({Capability.SUPPRESS})
COOLDOWN = frozenset({Capability.COOLDOWN})
WELL_PAST_MS = 60
PAIRS: dict[str, tuple[Code, Code]] = {
    "list and stale token": (Code.SUPPRESSED, Code.STALE_FENCING_TOKEN),
    "list and expired lease": (Code.SUPPRESSED, Code.LEASE_EXPIRED),
    "list and cooldown": (Code.SUPPRESSED, Code.COOLDOWN_ACTIVE),
    "stale token and cooldown": (Code.STALE_FENCING_TOKEN, Code.COOLDOWN_ACTIVE),
    "expired lease and cooldown": (Code.LEASE_EXPIRED, Code.COOLDOWN_ACTIVE),
}


@scenario(
    number=35,
    title="two mechanisms refuse one send",
    spec=("S7", "C1", "C2", "S3", "S4", "S5"),
    expected="the stronger refusal is told; nothing leaves",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=PLAIN,
    variants=tuple(
        Variant(
            name=name,
            needs=(LIST if Code.SUPPRESSED in pair else frozenset())
            | (COOLDOWN if Code.COOLDOWN_ACTIVE in pair else frozenset()),
            settings=replace(
                PLAIN,
                cooldown_s=60.0 if Code.COOLDOWN_ACTIVE in pair else 0.0,
                lease_s=0.4 if Code.LEASE_EXPIRED in pair else 60.0,
            ),
        )
        for name, pair in PAIRS.items()
    ),
    windows=(BOTH,),
    masked_by="each refusal hides whether the other is made at all",
    group="beyond",
)
def clash_of_refusals(race: Race) -> None:
    """Make both refusals hold, send, and look which one is told."""
    for _ in range(TRIES_MAX):
        contact = race.contact()
        lease = claimed(race, race.agents[0], contact)
        if lease is None:
            return
        if _make(race, contact, lease, PAIRS[race.variant]):
            _told(race, contact, lease, PAIRS[race.variant])
            return


def _told(race: Race, contact: Contact, lease: Lease, pair: tuple[Code, Code]) -> None:
    """The stronger of the two is told, and both are named where reasons are."""
    first = race.agents[0]
    race.window(BOTH)
    answer = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s send that two things refuse", answer, pair[0])
    if isinstance(answer, Refused) and answer.reasons:
        named = all(code in answer.reasons for code in pair)
        race.require("both among the reasons", wanted=True, observed=named)
    arrived = race.deliveries(contact)
    race.require(
        "messages that arrived", wanted=int(Code.COOLDOWN_ACTIVE in pair), observed=arrived
    )


def _make(race: Race, contact: Contact, lease: Lease, pair: tuple[Code, Code]) -> bool:
    """Bring both about: the cooldown while the lease lives, then its end, then the list.

    False if the lease ended before the send that sets the cooldown, as it may on a crowded machine:
    then nothing was tested.
    """
    first, second = race.agents[0], race.agents[1]
    if Code.COOLDOWN_ACTIVE in pair:
        sent = first.send(contact, race.message(contact, lease=lease))
        if isinstance(sent, Refused) and sent.code is Code.LEASE_EXPIRED:
            return False
        race.expect(f"{first.id}'s send that sets a cooldown", sent, Sent)
    if Code.LEASE_EXPIRED in pair:
        race.pass_store_time(lease.expires_at_ms + WELL_PAST_MS)
    if Code.STALE_FENCING_TOKEN in pair:
        handed_on(race, contact, first, lease, second)
    if Code.SUPPRESSED in pair:
        race.expect(f"{second.id}'s opt-out entry", second.suppress(contact), Noted)
    return True
