"""Race O3: a scheduled run does its work again when the window of its key has closed.

Property: after its window a key stands for a new request, so a run that comes later sends again; a table
of what was sent has no window, and stops it (spec: O3, K5, K2, O1). Legal: ``send k -> sent, a day
later send k -> sent``, and with a table no second send at all. Illegal: the mailbox forgets a key
inside its window; or it says "sent" and nothing has arrived, so that the table is wrong for ever.
Isolation: cooldown 0: only the key and the table can stop the second run.

Twin caught: `without_delivery`, by `sends.arrived`. Public reports: B48, B49.
"""

from __future__ import annotations

from leaserace.harness.contract import Capability, Settings
from leaserace.harness.scenario import Race, Variant, scenario

from .own_layers import follow_up, task

CAME_LATE = "a run came after the window"
WANTED = {"the key alone": 2, "with a sent-table": 1}
ERRAND_S = 20.0


@scenario(
    number=42,
    title="a scheduled run comes after the window",
    spec=("O3", "K5", "K2", "O1"),
    expected="sent again by the key alone; one message with a sent-table",
    needs={Capability.LEASE, Capability.SEND, Capability.IDEMPOTENCY},
    settings=Settings(lease_s=60.0, cooldown_s=0.0, key_window_s=0.4),
    variants=tuple(Variant(name=name) for name in WANTED),
    windows=(CAME_LATE,),
    masked_by="a cooldown longer than the window",
    group="beyond",
)
def scheduled_after_window(race: Race) -> None:
    """Let an agent do its errand, and again when the window has closed."""
    contact = race.contact()
    errand = task(race, contact, "daily-after-window", table=race.variant == "with a sent-table")
    race.engage(race.agents[0], follow_up, errand, ERRAND_S).wait()
    race.window(CAME_LATE)
    wanted = WANTED[race.variant]
    race.require("messages that arrived", wanted=wanted, observed=race.deliveries(contact))
