"""Race 2: a holder pauses past its lease, another agent takes over, the first resumes and sends.

Property: once a newer grant has returned, nothing sent under an older token leaves (spec: S3, S6,
S8, S10, L6, L7). Legal: ``grant 41 to A, A sends with 41, grant 42 to B``. Illegal: ``grant 41 to A,
grant 42 to B, A sends with 41 -> sent``.
Isolation: cooldown 0 and one message, so that neither cooldown nor key can stop the stale send.

The pause is aimed: before the call, inside it, and between the commit and the hand-over. A pause
inside a transaction holds the store's lock; then the takeover is told ``store_busy``, and the send,
which was first in the one order there is, may go out.
"""

from __future__ import annotations

from dataclasses import dataclass

from leaserace.harness.contract import (
    Answer,
    Capability,
    Code,
    Lease,
    Refused,
    Sent,
    Settings,
)
from leaserace.harness.scenario import (
    Actor,
    Contact,
    NotReached,
    Pending,
    Race,
    Stop,
    Variant,
    scenario,
)

OUTLIVED = "the pause outlived the lease"
SHORT = Settings(lease_s=0.15, cooldown_s=0.0)
LONGER = Settings(lease_s=0.3, cooldown_s=0.0, store_deadline_s=0.1)
"""Where the send must get past its checks before the lease ends."""
TRIES_MAX = 3
WELL_PAST_MS = 60


@scenario(
    number=2,
    title="a paused holder wakes up and sends",
    spec=("S3", "S6", "S8", "S10", "L6", "L7", "T"),
    expected="`stale_fencing_token`; nothing leaves",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=SHORT,
    variants=(
        Variant(name="before the call"),
        Variant(name="call under way"),
        Variant(
            name="between checks and record", points=frozenset({"send.checked"}), settings=LONGER
        ),
        Variant(
            name="between record and hand-over",
            points=frozenset({"send.recorded"}),
            settings=LONGER,
        ),
        Variant(name="nobody else came"),
        Variant(name="a stale renewal and release"),
    ),
    windows=(OUTLIVED,),
    masked_by="cooldown: the new holder's own mail would make the stale send `cooldown_active`",
    group="six",
)
def stale_token(race: Race) -> None:
    """Pause the holder, let its lease end, let another take over, resume it and look."""
    first, others = race.agents[0], race.agents[1:]
    match race.variant:
        case "nobody else came":
            _nobody_came(race, first)
        case "a stale renewal and release":
            _stale_renewal_and_release(race, first, others[0])
        case "before the call":
            _overtaken(race, "send.think")
        case "call under way":
            _overtaken(race, "send.invoked")
        case "between checks and record":
            _overtaken(race, "send.checked")
        case _:
            _overtaken(race, "send.recorded")


def _overtaken(race: Race, point: str) -> None:
    """The holder stands at `point` while the others take the contact over."""
    first, others = race.agents[0], race.agents[1:]
    paused = _paused_sender(race, first, point)
    if paused is None:
        return
    race.pass_store_time(paused.lease.expires_at_ms)
    race.window(OUTLIVED)
    claims = race.together(*(agent.later.acquire(paused.contact) for agent in others))
    taken_over = any(isinstance(claim, Lease) for claim in claims)
    store_held = all(isinstance(c, Refused) and c.code is Code.STORE_BUSY for c in claims)
    paused.stop.resume()
    answer = paused.sending.answer()
    if store_held:
        # The paused agent holds the store: its send comes first in the one order there is.
        race.expect(
            f"{first.id}'s send, ahead of every takeover",
            answer,
            Sent,
            Code.STALE_FENCING_TOKEN,
            Code.LEASE_EXPIRED,
        )
        return
    race.require("a takeover after the lease's end", wanted=True, observed=taken_over)
    race.expect(f"{first.id}'s send with an old token", answer, Code.STALE_FENCING_TOKEN)
    race.require("messages that left", wanted=0, observed=race.deliveries(paused.contact))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paused:
    """A holder whose send stands at a point."""

    contact: Contact
    lease: Lease
    sending: Pending
    stop: Stop


def _paused_sender(race: Race, first: Actor, point: str) -> _Paused | None:
    """Stop the holder's send at `point`; None if it was not even granted the contact.

    On a crowded machine a lease may end before the send gets there; then nothing was tested, and
    another contact is taken.
    """
    for attempt in range(TRIES_MAX):
        contact = race.contact()
        lease = first.acquire(contact)
        if not race.expect(f"{first.id}'s claim of a fresh contact", lease, Lease):
            return None
        lease = _leased(lease)
        stop = first.pause_at(point)
        sending = first.start(first.later.send(contact, race.message(contact, lease=lease)))
        try:
            stop.wait()
        except NotReached:
            sending.answer()
            if attempt + 1 == TRIES_MAX:
                raise
            continue
        return _Paused(contact=contact, lease=lease, sending=sending, stop=stop)
    raise AssertionError


def _nobody_came(race: Race, first: Actor) -> None:
    """Past the lease's end a send is refused even though no other agent wants the contact."""
    paused = _paused_sender(race, first, "send.think")
    if paused is None:
        return
    # Well past the end, so that it is over by every clock the judge may reckon with.
    race.pass_store_time(paused.lease.expires_at_ms + WELL_PAST_MS)
    race.window(OUTLIVED)
    paused.stop.resume()
    race.expect(f"{first.id}'s send after its lease", paused.sending.answer(), Code.LEASE_EXPIRED)
    race.require("messages that left", wanted=0, observed=race.deliveries(paused.contact))


def _stale_renewal_and_release(race: Race, first: Actor, second: Actor) -> None:
    """A former holder can neither revive its lease nor free its successor's (spec: L6, L7)."""
    contact = race.contact()
    lease = first.acquire(contact)
    if not race.expect(f"{first.id}'s claim of a fresh contact", lease, Lease):
        return
    lease = _leased(lease)
    race.pass_store_time(lease.expires_at_ms)
    race.window(OUTLIVED)
    refused = (Code.LEASE_EXPIRED, Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN)
    race.expect(f"{first.id}'s renewal after the end", first.renew(contact, lease), *refused)
    successor = second.acquire(contact)
    if not race.expect(f"{second.id}'s claim after the lease's end", successor, Lease):
        return
    race.expect(f"{first.id}'s renewal after {second.id}", first.renew(contact, lease), *refused)
    race.expect(f"{first.id}'s release of what it lost", first.release(contact, lease), *refused)
    # Had that release freed the successor's lease, this claim would be granted while it lives.
    first.acquire(contact)


def _leased(answer: Answer) -> Lease:
    assert isinstance(answer, Lease)
    return answer
