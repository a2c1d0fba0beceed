"""Race K9, an agent's habit makes its keys, and the key is all there is.

Property: a mailbox runs what comes under another key, or after the window, and nothing else; so each of
the known ways a key goes wrong doubles mail where no other layer stands by (spec: K9, K2, K4, K5, O1).
Legal: ``send k@12:00:00 -> reply lost, look k@12:00:01 up -> absent, send k@12:00:01 -> sent``. Illegal:
the mailbox guesses that two keys mean one send; or it sends what another payload's key stands for.
Isolation: cooldown 0, one agent and its own live lease. What doubles is the agent's own doing: no rule
blames the mailbox, and `layers_in_turn` shows what stops it.

Twin caught: `without_fingerprint`, by `keys.payload_bound`. Public reports: B48, B49, B53, B57, B58, B61, B77, B78, B80.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .own_layers import follow_up, task

WENT_WRONG = "an agent's errand ended under a key gone wrong"
PLAIN = Settings(lease_s=60.0, cooldown_s=0.0)
LOOKED_UP = frozenset({Capability.LOOKUP})
HABITS = {
    "time of the call": "time-in-key",
    "fresh UUID": "uuid-per-call",
    "written by the model": "model-writes-key",
    "window too short": "daily-after-window",
    "one key for many": "one-key-for-many",
}
LOST = frozenset({"time of the call", "fresh UUID", "written by the model"})
"""Variants that need a lost reply; the others are trouble enough."""
ERRAND_S = 20.0


@scenario(
    number=40,
    title="a key goes wrong, and there is nothing else",
    spec=("K9", "K2", "K4", "K5", "O1"),
    expected="each key stands for itself: the message arrives twice",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=PLAIN,
    variants=tuple(
        Variant(
            name=name,
            needs=LOOKED_UP if name in LOST else frozenset(),
            settings=Settings(lease_s=60.0, cooldown_s=0.0, key_window_s=0.4)
            if name == "window too short"
            else PLAIN,
        )
        for name in HABITS
    ),
    windows=(WENT_WRONG,),
    masked_by="a cooldown or a sent-table, which hide that the key joined nothing",
    group="beyond",
)
def bad_key_alone(race: Race) -> None:
    """Let an agent with the habit do one errand; where the habit needs it, a reply is lost."""
    first = race.agents[0]
    contact = race.contact()
    habit = HABITS[race.variant]
    errand = task(race, contact, habit, loses=race.variant in LOST)
    race.engage(first, follow_up, errand, ERRAND_S).wait()
    race.window(WENT_WRONG)
    race.require("messages that arrived", wanted=2, observed=race.deliveries(contact))
