"""Race X12: the renewal stops, fails or hangs, and the holder goes on to its next send.

Property: a holder whose lease is over is told at its next act, by the renewal or by the send; it may
go on only under a new lease (spec: L6, L8, S3, A1). Legal: ``renew -> lease_expired, send ->
lease_expired, acquire -> token 2, send with 2 -> sent``. Illegal: the send under the lease that was
not renewed leaves.
Isolation: cooldown 0, fresh keys; in two variants nobody else wants the contact, so that the token is
not stale and only the end of the lease can refuse.

Twins caught: `without_expiry_check`, by `leases.live_at_send`; `without_renewal_limit`, by
`leases.renewal_holds`; `without_fencing_check`, by `tokens.stale_never_sends`.
Public reports: B5, B6, B8, B9, B12, B13, B14.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Lease, Sent, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

OVER = "a holder went on to send after its lease had ended"
ENDED = (Code.LEASE_EXPIRED, Code.NOT_HOLDER, Code.STALE_FENCING_TOKEN)
WELL_PAST_MS = 60
"""So that the lease is over by every clock the judge may reckon with."""


@scenario(
    number=19,
    title="a renewal stops, fails or hangs",
    spec=("X12", "L6", "L8", "S3"),
    expected="the holder is told at its next act; nothing leaves under the old lease",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=Settings(lease_s=0.4, cooldown_s=0.0),
    variants=(
        Variant(name="stopped"),
        Variant(name="failed"),
        Variant(name="hung while another took over"),
    ),
    windows=(OVER,),
    masked_by="a takeover by another agent: then the token is stale, whatever the expiry says",
    group="beyond",
)
def renewal_failed(race: Race) -> None:
    """Let the lease end, act on, then begin again properly."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    hung = race.variant == "hung while another took over"
    if hung:
        _hang(race, contact, lease)
    else:
        race.pass_store_time(lease.expires_at_ms + WELL_PAST_MS)
    if race.variant == "failed":
        race.expect(f"{first.id}'s renewal", first.renew(contact, lease), *ENDED)
    race.window(OVER)
    answer = first.send(contact, race.message(contact, lease=lease))
    told = Code.STALE_FENCING_TOKEN if hung else Code.LEASE_EXPIRED
    race.expect(f"{first.id}'s send under the old lease", answer, told)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))
    if not hung:
        _again(race, contact, lease)


def _hang(race: Race, contact: Contact, lease: Lease) -> None:
    """The renewal is under way when the lease ends and another agent takes the contact over."""
    first, second = race.agents[0], race.agents[1]
    stop = first.pause_at("renew.invoked")
    renewing = first.start(first.later.renew(contact, lease))
    stop.wait()
    race.pass_store_time(lease.expires_at_ms)
    claimed(race, second, contact, when="after the lease's end")
    stop.resume()
    race.expect(f"{first.id}'s renewal that hung", renewing.answer(), *ENDED)


def _again(race: Race, contact: Contact, lease: Lease) -> None:
    """A new lease, then the send: the way out that is left (spec: R)."""
    first = race.agents[0]
    again = claimed(race, first, contact, when="after its lease's end")
    if again is None:
        return
    race.require("a token above the old one", wanted=True, observed=again.token > lease.token)
    answer = first.send(contact, race.message(contact, lease=again))
    race.expect(f"{first.id}'s send under the new lease", answer, Sent, Code.LEASE_EXPIRED)
