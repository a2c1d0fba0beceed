"""Race K9, a new key on every try: the time of the call, a fresh UUID, or a new run id.

Property: such a key joins no tries, so the next layer has to: the cooldown binds the retry like any
other message (spec: K9, O1, O2, S5, C2). Legal: ``send k@12:00:00 -> reply lost, send k@12:00:07 ->
cooldown_active``. Illegal: the same text arrives a second time.
Isolation: the first lease is released and the retry comes under a live lease of its own: neither
lease nor fence nor key can stop it.

Twins caught: `without_cooldown_after_release`, by `scenario.expected`, and `without_shared_cooldown`
(another agent has the new run), by `scenario.expected`. Public reports: B49, B56, B57, B58, B60, B61.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Capability, Code, NoReply, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, handed_on, store_now_ms

FRESH = "the retry came under a new key"


@scenario(
    number=29,
    title="every try has a new key",
    spec=("K9", "O1", "O2", "S5", "C2"),
    expected="the cooldown stops what the key can't: `cooldown_active`",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY, Capability.COOLDOWN},
    settings=Settings(lease_s=60.0, cooldown_s=60.0),
    variants=(
        Variant(name="time of the call"),
        Variant(name="fresh UUID"),
        Variant(name="new run id"),
    ),
    windows=(FRESH,),
    masked_by="a lease that is still held by another would refuse the retry",
    group="beyond",
)
def fresh_key_per_call(race: Race) -> None:
    """Lose the reply, start over as a new run does, and send the same text under a new key."""
    first = race.agents[0]
    again = race.agents[1] if race.variant == "new run id" else first
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact)
    began = replace(message, token=lease.token, key=_key(race, store_now_ms(race, lease)))
    first.lose_next_reply()
    race.expect(f"{first.id}'s first try", first.send(contact, began), NoReply)
    taken = handed_on(race, contact, first, lease, again)
    if taken is None:
        return
    race.window(FRESH)
    for _ in range(2):
        key = _key(race, store_now_ms(race, taken))
        retry = replace(message, token=taken.token, key=key)
        race.expect("a retry under a new key", again.send(contact, retry), Code.COOLDOWN_ACTIVE)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))


def _key(race: Race, now_ms: int) -> str:
    """A key as such an agent makes it; the draw keeps two calls of one instant apart."""
    draw = race.rng.getrandbits(64)
    match race.variant:
        case "time of the call":
            return f"followup-{now_ms}.{draw % 1_000_000:06d}"
        case "fresh UUID":
            return f"{draw:016x}-{race.round}"
        case _:
            return f"run-{draw:08x}:send"
