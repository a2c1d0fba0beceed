"""Race X15: the retry comes at either edge of the key's window.

Property: inside the window, to its end, a retry gets the original answer; after it the key stands for
a new request (spec: K2, K5). Legal: ``send k, window - 1 later send k -> replay, window + 1 later
send k -> sent anew``. Illegal: the key is forgotten inside the window the policy states.
Isolation: cooldown 0 and a live lease, so that only the key can stop a second mail.

Twin caught: `without_window_for_retry`, by `keys.replay_is_original`. Public reports: B42, B48, B49.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Lease, Sent, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .steps import claimed, store_now_ms

INSIDE = "the retry ended inside the window"
OUTSIDE = "the retry began after the window"
SHARE = 0.5
"""How far into its window the key is when the early retry comes; a crowded machine needs the rest."""
TRIES_MAX = 3


@scenario(
    number=22,
    title="a retry comes at either edge of the key's window",
    spec=("X15", "K2", "K5"),
    expected="a replay inside the window; a new request after it",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0, key_window_s=0.6),
    variants=(
        Variant(name="inside", windows=(INSIDE,)),
        Variant(name="after", windows=(OUTSIDE,)),
    ),
    masked_by="a cooldown; retries that come at once",
    group="beyond",
)
def key_window(race: Race) -> None:
    """Complete a send, let its window pass in part or in full, and try again."""
    for _ in range(TRIES_MAX):
        if race.variant == "after" or _inside(race):
            break
    if race.variant == "after":
        _after(race)


def _inside(race: Race) -> bool:
    """False if the retry came too late for the window, on a crowded machine: nothing was tested."""
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return True
    message = race.message(contact, lease=lease)
    # The window opens at the completion, so it can't end before this.
    begun_ms = store_now_ms(race, lease)
    window_ms = race.settings.key_window_s * 1000
    original = first.send(contact, message)
    race.expect(f"{first.id}'s send", original, Sent)
    race.pass_store_time(begun_ms + round(window_ms * SHARE))
    retry = race.agents[1].send(contact, message)
    asked = first.renew(contact, lease)
    if not isinstance(asked, Lease) or store_now_ms(race, asked) >= begun_ms + window_ms:
        return False
    race.window(INSIDE)
    race.expect("a retry inside the window", retry, Sent)
    if isinstance(original, Sent) and isinstance(retry, Sent):
        same = retry.message_id == original.message_id
        race.require("the original message id", wanted=True, observed=same)
    race.require("messages that arrived", wanted=1, observed=race.deliveries(contact))
    return True


def _after(race: Race) -> None:
    first = race.agents[0]
    contact = race.contact()
    lease = claimed(race, first, contact)
    if lease is None:
        return
    message = race.message(contact, lease=lease)
    race.expect(f"{first.id}'s send", first.send(contact, message), Sent)
    renewed = first.renew(contact, lease)
    if not race.expect(f"{first.id}'s renewal", renewed, Lease):
        return
    assert isinstance(renewed, Lease)
    # The send had ended by then, so the window that it opened ends by this.
    race.pass_store_time(store_now_ms(race, renewed) + round(race.settings.key_window_s * 1000))
    race.window(OUTSIDE)
    again = first.send(contact, message)
    race.expect("the same key after its window", again, Sent)
    if isinstance(again, Sent):
        race.require("an answer that is a replay", wanted=False, observed=again.replay)
    race.require("messages that arrived", wanted=2, observed=race.deliveries(contact))
