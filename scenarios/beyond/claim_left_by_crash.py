"""Race X9: an agent crashes and leaves a claim behind.

Property: what a dead agent claimed ends by itself, a lease by its expiry and a send that was never
handed over by its deadline; results that are complete stay for their whole window (spec: L3, S8, S9,
K5). Legal: ``send k authorised, crash, send k -> send_in_progress, later send k -> sent``. Illegal:
nobody can ever write again; or the message of another, completed key is sent again with it.
Isolation: cooldown 0; the crashed try had not been handed over, so a second try is right here.

Twins caught: `without_window_for_retry`, by `sends.once`; `without_fencing_check`, by
`tokens.stale_never_sends`; `without_end_of_claims`, by `scenario.expected`. Public reports: B33, B41, B42, B64.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Sent, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed, retried_until_told, store_now_ms

LEFT = "a crashed agent's claim was still there"


@scenario(
    number=16,
    title="a crash leaves a claim behind",
    spec=("X9", "L3", "S8", "S9", "K5"),
    expected="the claim ends by itself; completed results stay",
    needs={Capability.LEASE, Capability.FENCING, Capability.SEND},
    settings=Settings(lease_s=0.3, cooldown_s=0.0),
    variants=(
        Variant(name="of a contact"),
        Variant(
            name="of a key",
            needs=frozenset({Capability.IDEMPOTENCY}),
            points=frozenset({"send.recorded"}),
            settings=Settings(
                lease_s=60.0,
                cooldown_s=0.0,
                key_window_s=60.0,
                transport_timeout_s=0.4,
                store_deadline_s=0.15,
            ),
        ),
    ),
    windows=(LEFT,),
    masked_by="agents that never crash",
    group="beyond",
)
def claim_left_by_crash(race: Race) -> None:
    """Crash with a claim, and see when and for whom it ends."""
    contact = race.contact()
    if race.variant == "of a contact":
        _contact(race, contact)
    else:
        _key(race, contact)


def _contact(race: Race, contact: Contact) -> None:
    """The next agent is granted the contact after the end; the dead one's token is over."""
    first, second = race.agents[0], race.agents[1]
    lease = claimed(race, first, contact)
    if lease is None:
        return
    first.kill()
    race.window(LEFT)
    race.pass_store_time(lease.expires_at_ms)
    first.restart()
    taken = claimed(race, second, contact, when="after the dead agent's lease")
    if taken is None:
        return
    race.require("a token above the dead agent's", wanted=True, observed=taken.token > lease.token)
    answer = first.send(contact, race.message(contact, lease=lease))
    race.expect(f"{first.id}'s send with its old token", answer, Code.STALE_FENCING_TOKEN)
    race.require("messages that left", wanted=0, observed=race.deliveries(contact))


def _key(race: Race, contact: Contact) -> None:
    """A try that was never handed over may run again; a completed key may not."""
    first = race.agents[0]
    lease = claimed(race, first, contact)
    if lease is None:
        return
    done = race.message(contact, lease=lease)
    left = race.message(contact, lease=lease)
    race.expect(f"{first.id}'s completed send", first.send(contact, done), Sent)
    crash = first.kill_at("send.recorded")
    first.start(first.later.send(contact, left))
    crash.wait()
    first.restart()
    race.window(LEFT)
    answer = retried_until_told(race, first, contact, left, store_now_ms(race, lease))
    race.expect(f"{first.id}'s retry of what was never handed over", answer, Sent)
    replayed = first.send(contact, done)
    race.expect("a retry of the completed send", replayed, Sent)
    race.require("messages that arrived", wanted=2, observed=race.deliveries(contact))
