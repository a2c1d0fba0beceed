"""Race R, `store_busy`: an opt-out comes while the store is held by somebody else.

Property: who is told that the store was busy was told the truth, nothing happened; who is told that
the opt-out is noted can rely on it (spec: R, C3, C1). Legal: ``A suppress -> store_busy, A send ->
sent``; ``A suppress -> noted, A send -> suppressed``. Illegal: noted, and the mail leaves.
Isolation: cooldown 0, a live lease and the right token: only the list can refuse.

Twin caught: `without_busy_answer`, by `suppression.wins`. Public reports: B74, B110.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Code, Noted, Sent, Settings
from leaserace.harness.scenario import Contact, Race, Variant, scenario

from .steps import claimed

HELD = "an opt-out came while another agent held the store"


@scenario(
    number=60,
    title="an opt-out meets a busy store",
    spec=("R", "C3", "C1"),
    expected="`store_busy` and nothing happened, or noted and `suppressed`",
    needs={Capability.LEASE, Capability.SEND, Capability.SUPPRESS},
    settings=Settings(lease_s=60.0, cooldown_s=0.0, store_deadline_s=0.1),
    variants=(Variant(name="held by a claim", points=frozenset({"acquire.read"})),),
    windows=(HELD,),
    masked_by="a store that is never busy",
    group="beyond",
)
def busy_store(race: Race) -> None:
    """Stop an agent inside its transaction, opt out meanwhile, and see what the answer was worth."""
    first, second = race.agents[0], race.agents[1]
    contact, other = race.contact(), race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    stop = second.pause_at("acquire.read")
    claim = second.later.acquire(other).start()
    stop.wait()
    race.window(HELD)
    answer = first.suppress(contact)
    stop.resume()
    claim.answer()
    race.expect(f"{first.id}'s opt-out entry", answer, Noted, Code.STORE_BUSY)
    told = first.send(contact, race.message(contact, lease=lease))
    noted = isinstance(answer, Noted)
    race.expect(f"{first.id}'s send", told, Code.SUPPRESSED if noted else Sent)
    _again(race, contact)
    race.require("messages that left", wanted=int(not noted), observed=race.deliveries(contact))


def _again(race: Race, contact: Contact) -> None:
    """Once the store is free the opt-out is noted."""
    answer = race.agents[1].suppress(contact)
    race.expect(f"{race.agents[1].id}'s opt-out entry once the store is free", answer, Noted)
